// Which nodes have one value of a label? Most values, such as host names, belong to a single node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "scheduler/model/nodes/node_set.h"

namespace scheduler {

// Nodes listed one by one while they are few, so that a value per node does not cost a bit per node and value.
class NodeGroup {
 public:
  bool empty() const { return few_.empty() && many_.empty(); }
  void add(std::uint32_t n) {
    if (is_listed() && few_.size() < kFewMax) {
      if (std::find(few_.begin(), few_.end(), n) == few_.end()) few_.push_back(n);
      return;
    }
    for (const std::uint32_t one : std::exchange(few_, {})) set(one);
    set(n);
  }
  void remove(std::uint32_t n) {
    std::erase(few_, n);
    if (many_.has(n)) many_.remove(n);
  }

  friend NodeSet& operator|=(NodeSet& nodes, const NodeGroup& group) {
    if (!group.is_listed()) return nodes |= group.many_;
    for (const std::uint32_t n : group.few_) {
      if (n / 64 >= nodes.words().size()) nodes.resize(std::size_t{n} + 1);
      nodes.add(n);
    }
    return nodes;
  }
  friend NodeSet& operator&=(NodeSet& nodes, const NodeGroup& group) {
    if (!group.is_listed()) return nodes &= group.many_;
    NodeSet both(nodes.words().size() * 64);
    for (const std::uint32_t n : group.few_) {
      if (nodes.has(n)) both.add(n);
    }
    return nodes = std::move(both);
  }

 private:
  static constexpr std::size_t kFewMax = 8;

  bool is_listed() const { return many_.words().empty(); }
  void set(std::uint32_t n) {
    if (n / 64 >= many_.words().size()) many_.resize(std::size_t{n} + 1);
    many_.add(n);
  }

  std::vector<std::uint32_t> few_;  // in no order; empty where the others are used
  NodeSet many_;                    // without words: the list is used
};

}  // namespace scheduler
