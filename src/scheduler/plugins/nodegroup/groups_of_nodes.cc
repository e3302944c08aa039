// Which nodes stand together under a name of a group, and how much of each group do the pods of a queue use?
#include "scheduler/plugins/nodegroup/groups_of_nodes.h"

#include <algorithm>
#include <utility>

namespace scheduler {

void GroupsOfNodes::follow_labels() {
  if (std::exchange(generation_, model_.nodes.static_generation()) == model_.nodes.static_generation()) return;
  const std::size_t size = model_.nodes.size();
  names_.clear();
  members_.clear();
  outside_ = NodeSet(size);
  of_node_.assign(size, kNone);
  const Symbol key = model_.symbols.find(kNodeGroupLabel);
  std::unordered_map<std::uint32_t, std::uint32_t> group_of;  // by the value's symbol
  model_.nodes.known().for_each([&](std::uint32_t n) {
    const Symbol value = key.is_set() ? value_of(model_.nodes[NodeId{n}].labels, key) : Symbol{};
    if (!value.is_set()) return outside_.add(n);
    const auto [at, is_new] = group_of.try_emplace(value.index, static_cast<std::uint32_t>(names_.size()));
    if (is_new) {
      names_.push_back(value);
      members_.emplace_back(size);
    }
    of_node_[n] = at->second;
    members_[at->second].add(n);
  });
}

const Sums& GroupsOfNodes::used(QueueId queue, std::uint32_t group) {
  follow_pods();
  return totals_[key_of(queue, names_[group])];
}

// Every change of what runs on a node, of whose it is, and of the node's labels touches the node.
void GroupsOfNodes::follow_pods() {
  const std::vector<std::uint32_t>& touched = model_.touched();
  if (touched_epoch_ != model_.touched_epoch()) {
    use_of_node_.assign(model_.nodes.size(), {});
    totals_.clear();
    for (std::uint32_t n = 0; n < model_.nodes.size(); ++n) count_node(n);
    touched_epoch_ = model_.touched_epoch();
    touched_position_ = touched.size();
  }
  if (use_of_node_.size() < model_.nodes.size()) use_of_node_.resize(model_.nodes.size());
  for (std::uint32_t last = NodeId::kNone; touched_position_ < touched.size(); ++touched_position_) {
    const std::uint32_t node = touched[touched_position_];
    if (std::exchange(last, node) != node) count_node(node);
  }
}

void GroupsOfNodes::count_node(std::uint32_t node) {
  Use& use = use_of_node_[node];
  for (const Share& one : use.shares) totals_[key_of(one.queue, use.group)].add(one.sum, -1);
  use.shares.clear();
  const Symbol key = model_.symbols.find(kNodeGroupLabel);
  use.group = key.is_set() ? value_of(model_.nodes[NodeId{node}].labels, key) : Symbol{};
  if (!use.group.is_set()) return;
  for (const TaskId id : model_.nodes[NodeId{node}].tasks) {
    const Task& task = model_.task(id);
    const QueueId queue = task.job.is_set() ? model_.job(task.job).queue : QueueId{};
    if (!queue.is_set() || !(is_allocated_like(task.status) || task.status == TaskStatus::kPipelined)) continue;
    auto share =
        std::find_if(use.shares.begin(), use.shares.end(), [&](const Share& one) { return one.queue == queue; });
    if (share == use.shares.end()) share = use.shares.insert(share, Share{queue, {}});
    share->sum.add(model_.shape_of(task).request);
  }
  for (const Share& one : use.shares) totals_[key_of(one.queue, use.group)].add(one.sum, 1);
}

}  // namespace scheduler
