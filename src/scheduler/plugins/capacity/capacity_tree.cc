// The limits and deserved shares of queues, and their places in the tree.
#include "scheduler/plugins/capacity/capacity_tree.h"

#include <algorithm>
#include <limits>

namespace scheduler {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::max();
constexpr double kUnlimitedScalar = static_cast<double>(std::numeric_limits<std::int64_t>::max());

}  // namespace

void CapacityTree::build(const Model& model, const QueueReserve& reserve) {
  const Resource total(model.nodes.total());
  queues_.assign(model.queue_count(), CapacityQueue{});
  ready = true;
  root = model.find_queue("root");
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    const Queue& queue = model.queue(QueueId{q});
    if (!queue.in_use || (!hierarchical && queue.jobs == 0)) continue;
    CapacityQueue& own = queues_[q];
    own.active = true;
    own.capability = queue.capability;
    own.has_capability = queue.has_capability;
    own.guarantee = queue.guarantee;
    own.deserved = queue.deserved;
    own.leaves = {queue.id};
  }
  if (!hierarchical) {
    build_flat(model, total);
  } else if (!root.is_set() || !link(model)) {
    ready = false;
    return;
  } else {
    set_root(model, total);
    sum_guarantees(root);
    set_children(root);
  }
  for (std::uint32_t q = 0; q < queues_.size(); ++q) {
    if (!queues_[q].active) continue;
    queues_[q].inqueue = queues_[q].elastic = Resource();
    for (const QueueId leaf : queues_[q].leaves) {
      queues_[q].inqueue += reserve.of(leaf).inqueue;
      queues_[q].elastic += reserve.of(leaf).elastic;
    }
  }
}

void CapacityTree::build_flat(const Model& model, const Resource& total) {
  Resource guaranteed;
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    if (model.queue(QueueId{q}).in_use) guaranteed += model.queue(QueueId{q}).guarantee;
  }
  for (CapacityQueue& own : queues_) {
    if (!own.active) continue;
    own.real_capability = Resource::exceeded_part(total, guaranteed) + own.guarantee;
    if (own.has_capability) {
      for (const Dim d : {kCpu, kMemory}) {
        if (own.capability.get(d) <= 0) own.capability.set(d, kUnlimited);
      }
      own.real_capability.lower_to(own.capability, Missing::kInfinity);
    }
    own.deserved.lower_to(own.real_capability, Missing::kInfinity);
    own.deserved = Resource::max(own.deserved, own.guarantee);
  }
}

// Admission takes five, unless told otherwise; each queue keeps all that are above it.
constexpr std::size_t kLevelsMax = 1000;

bool CapacityTree::link(const Model& model) {
  for (std::uint32_t q = 0; q < queues_.size(); ++q) {
    if (!queues_[q].active || QueueId{q} == root) continue;
    const std::string& name = model.queue(QueueId{q}).parent;
    const QueueId parent = name.empty() ? root : model.find_queue(name);
    if (!parent.is_set()) return false;
    queues_[q].parent = parent;
    queues_[parent.index].children.push_back(QueueId{q});
  }
  for (std::uint32_t q = 0; q < queues_.size(); ++q) {
    CapacityQueue& own = queues_[q];
    if (!own.active) continue;
    for (QueueId at = own.parent; at.is_set(); at = queues_[at.index].parent) {
      own.ancestors.push_back(at);
      if (own.ancestors.size() > std::min(queues_.size(), kLevelsMax)) return false;  // a cycle, or as good as one
    }
    if (QueueId{q} != root && own.ancestors.back() != root) return false;
    std::reverse(own.ancestors.begin(), own.ancestors.end());
    if (!own.is_leaf() && model.queue(QueueId{q}).jobs > 0) return false;
  }
  for (CapacityQueue& own : queues_) {
    if (own.active && !own.is_leaf()) own.leaves.clear();
  }
  for (std::uint32_t q = 0; q < queues_.size(); ++q) {
    if (!queues_[q].active || !queues_[q].is_leaf()) continue;
    for (const QueueId ancestor : queues_[q].ancestors) queues_[ancestor.index].leaves.push_back(QueueId{q});
  }
  return true;
}

void CapacityTree::set_root(const Model&, const Resource& total) {
  CapacityQueue& own = queues_[root.index];
  // An unset value is not a limit. DIFFERS(root-capability): docs/compat says why.
  for (const Dim d : {kCpu, kMemory}) {
    if (own.capability.get(d) <= 0) own.capability.set(d, kUnlimited);
  }
  for (Dim d = 2; d < total.size(); ++d) {
    if (total.has(d) && !own.capability.has(d)) own.capability.set(d, kUnlimitedScalar);
  }
  // A guarantee is withheld from the siblings' part of the cluster, so the sums below begin with what there is.
  // DIFFERS(guarantee-in-tree): docs/compat says why.
  own.real_capability = total;
  own.real_capability.lower_to(own.capability, Missing::kInfinity);
}

// A queue withholds from its siblings at least what the queues below it are guaranteed.
void CapacityTree::sum_guarantees(QueueId parent) {
  CapacityQueue& own = queues_[parent.index];
  Resource below;
  for (const QueueId id : own.children) {
    sum_guarantees(id);
    below += queues_[id.index].withheld;
  }
  own.withheld = Resource::max(own.guarantee, below);
}

void CapacityTree::set_children(QueueId parent) {
  Resource guaranteed, deserved, withheld;
  for (const QueueId id : queues_[parent.index].children) {
    CapacityQueue& child = queues_[id.index];
    child.deserved = Resource::max(child.deserved, child.guarantee);
    guaranteed += child.guarantee;
    deserved += child.deserved;
    withheld += child.withheld;
  }
  CapacityQueue& own = queues_[parent.index];
  if (parent == root) {
    own.guarantee = guaranteed;
    own.deserved = deserved;
  }
  for (const QueueId id : std::vector<QueueId>(own.children)) {
    CapacityQueue& child = queues_[id.index];
    for (Dim d = 0; d < own.capability.size(); ++d) {
      const bool inherits = d < 2 ? child.capability.get(d) <= 0 : own.capability.has(d) && !child.capability.has(d);
      if (inherits) child.capability.set(d, own.capability.get(d));
    }
    child.real_capability = Resource::exceeded_part(own.real_capability, withheld) + child.withheld;
    child.real_capability.lower_to(child.capability, Missing::kInfinity);
    set_children(id);
  }
}

Resource CapacityTree::allocated(const Model& model, QueueId id) const {
  Resource out;
  for (const QueueId leaf : queues_[id.index].leaves) {
    const Queue& queue = model.queue(leaf);
    out += Resource(queue.allocated);
    out += Resource(queue.pipelined);
  }
  return out;
}

double CapacityTree::share(const Model& model, QueueId id) const {
  const Resource& deserved = queues_[id.index].deserved;
  const std::vector<Dim> names = deserved.names();
  if (deserved.is_empty()) return 1;
  const Resource used = allocated(model, id);
  double most = 0;
  for (const Dim d : names) most = std::max(most, share_of(used.get(d), deserved.get(d)));
  return most;
}

std::size_t CapacityTree::common_depth(QueueId a, QueueId b) const {
  const auto& left = queues_[a.index].ancestors;
  const auto& right = queues_[b.index].ancestors;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < std::min(left.size(), right.size()) && left[i] == right[i]; ++i) depth = i;
  return depth;
}

QueueId CapacityTree::ancestor_below(QueueId id, std::size_t depth) const {
  const auto& ancestors = queues_[id.index].ancestors;
  return depth + 1 < ancestors.size() ? ancestors[depth + 1] : id;
}

}  // namespace scheduler
