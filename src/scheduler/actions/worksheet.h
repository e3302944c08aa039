// The part of one job that is left to place: its parts in their order, each with its waiting tasks in theirs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "scheduler/session/queue_heap.h"

namespace scheduler {

using PartHeap = LiveHeap<std::uint32_t, std::function<bool(std::uint32_t, std::uint32_t)>>;

// Can be copied, to try something and forget it.
struct Worksheet {
  PartHeap parts;
  std::map<std::uint32_t, TaskHeap> tasks;  // by part; none is empty while its part is in the heap

  bool empty() const { return parts.empty(); }
  // The parts in the order in which they would be taken, without taking them.
  std::vector<std::uint32_t> ordered_parts() const;
};

// `accept` says which of the job's tasks count. Parts that bring a policy to its minimum of subgroups come first.
Worksheet make_worksheet(Session& session, JobId job, const std::function<bool(TaskId)>& accept);

}  // namespace scheduler
