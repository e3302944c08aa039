// A conjunction of pod selectors, and the pods that it chooses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduler/model/core/selector.h"
#include "scheduler/model/core/symbols.h"
#include "scheduler/model/pods/label_sets.h"
#include "scheduler/model/pods/node_counts.h"
#include "scheduler/model/pods/shape.h"

namespace scheduler {

// By the symbol of the namespace's name.
using NamespaceLabels = std::map<std::uint32_t, Labels>;

struct Matcher {
  std::vector<PodSelector> all_of;
  NodeCounts pods;         // chosen pods per node
  NodeCounts terminating;  // of them, those being deleted
  std::uint32_t uses = 0;  // terms of shapes, and who else keeps it

  bool selects(const LabelSet& set, const NamespaceLabels& namespaces, const Symbols& symbols) const;
  // Some selector looks at the labels of namespaces.
  bool reads_namespaces() const;
  // The LabelSets::label_key() of a label that it requires; 0: it requires none by value.
  std::uint64_t required_label() const;
};

// Equal conjunctions, equal texts.
std::string text_of(const std::vector<PodSelector>& all_of);

}  // namespace scheduler
