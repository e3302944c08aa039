// Which small integers stand for tasks, jobs, nodes, queues and interned texts inside the scheduler?
// Ids index columns of the model and mean nothing outside it.
#pragma once

#include <cstdint>

#include "base/ids.h"

namespace scheduler {

using TaskId = base::Id<struct TaskTag>;
using JobId = base::Id<struct JobTag>;
using NodeId = base::Id<struct NodeTag>;
using QueueId = base::Id<struct QueueTag>;
using ShapeId = base::Id<struct ShapeTag>;        // pods with equal specs, as far as decisions read them
using LabelSetId = base::Id<struct LabelSetTag>;  // one namespace and one set of labels
using MatcherId = base::Id<struct MatcherTag>;    // a selector over pods, with the namespaces it looks at
using Symbol = base::Id<struct SymbolTag>;        // an interned text
using DomainId = base::Id<struct DomainTag>;      // a HyperNode's place in the tree of domains

using Dim = std::uint32_t;  // a resource dimension
constexpr Dim kCpu = 0;     // in thousandths of a core
constexpr Dim kMemory = 1;  // in bytes
constexpr Dim kPods = 2;    // in whole pods; 3 is ephemeral-storage in bytes; all others: thousandths

}  // namespace scheduler
