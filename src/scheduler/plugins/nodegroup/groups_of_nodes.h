// Which nodes stand together under a name of a group, and how much of each group do the pods of a queue use?
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

inline constexpr std::string_view kNodeGroupLabel = "volcano.sh/nodegroup-name";

class GroupsOfNodes {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit GroupsOfNodes(const Model& model) : model_(model) {}
  // Brings up to date which nodes are in which group. Groups keep their numbers while static_generation() of the nodes
  // stays.
  void follow_labels();
  std::size_t count() const { return names_.size(); }
  const std::string& name(std::uint32_t group) const { return model_.symbols.text(names_[group]); }
  const NodeSet& members(std::uint32_t group) const { return members_[group]; }
  const NodeSet& outside() const { return outside_; }  // nodes of no group
  std::uint32_t of(std::uint32_t node) const { return node < of_node_.size() ? of_node_[node] : kNone; }

  // The use of the group by pods of the queue, with the promises of this cycle. Valid until the next call.
  const Sums& used(QueueId queue, std::uint32_t group);

 private:
  struct Share {
    QueueId queue;
    Request sum;
  };
  struct Use {
    Symbol group;  // as the node was labelled then
    std::vector<Share> shares;
  };

  void follow_pods();
  void count_node(std::uint32_t node);
  static std::uint64_t key_of(QueueId queue, Symbol group) {
    return std::uint64_t{queue.index} << 32 | std::uint64_t{group.index};
  }

  const Model& model_;
  std::uint64_t generation_ = 0;
  std::vector<Symbol> names_;
  std::vector<NodeSet> members_;
  NodeSet outside_;
  std::vector<std::uint32_t> of_node_;

  std::vector<Use> use_of_node_;
  std::unordered_map<std::uint64_t, Sums> totals_;
  std::uint64_t touched_epoch_ = 0;
  std::size_t touched_position_ = 0;
};

}  // namespace scheduler
