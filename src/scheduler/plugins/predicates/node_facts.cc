// Which nodes satisfy the parts of a pod's spec that only read facts of the node?
#include "scheduler/plugins/predicates/node_facts.h"

#include <algorithm>

namespace scheduler {

NodeSet nodes_matching_affinity(const Model& model, const Shape& shape) {
  NodeSet out = model.nodes.known();
  for (const auto& [key, value] : shape.node_selector) out &= model.nodes.nodes_with(key, value);
  if (!shape.has_required_terms) return out;
  NodeSet any = model.nodes.known();
  any.clear();
  for (const NodeTerm& term : shape.required_terms) any |= model.nodes.nodes_matching(term);
  return out &= any;
}

NodeSet nodes_with_tolerated_taints(const Model& model, const Shape& shape) {
  NodeSet out = model.nodes.known();
  const auto& sets = model.nodes.taint_sets();
  for (std::uint32_t i = 0; i < sets.size(); ++i) {
    const bool refused = std::any_of(sets[i].begin(), sets[i].end(), [&](const Taint& taint) {
      const bool hard = taint.effect == Taint::Effect::kNoSchedule || taint.effect == Taint::Effect::kNoExecute;
      return hard && !tolerates(shape.tolerations, taint);
    });
    if (refused) out.subtract(model.nodes.nodes_with_taints(i));
  }
  return out;
}

std::shared_ptr<const DomainColumn> DomainCache::get(const Model& model, Symbol key) {
  if (generation_ != model.nodes.static_generation()) {
    generation_ = model.nodes.static_generation();
    columns_.clear();
    no_domains_.reset();
  }
  const bool is_none = model.nodes.nodes_with_key(key).empty();
  std::shared_ptr<const DomainColumn>& slot = is_none ? no_domains_ : columns_[key];
  if (slot) return slot;
  auto made = std::make_shared<DomainColumn>();
  made->of_node.assign(model.nodes.known().words().size() * 64, DomainColumn::kNone);
  std::map<Symbol, std::uint32_t> known;
  model.nodes.nodes_with_key(key).for_each([&](std::uint32_t n) {
    const Symbol value = value_of(model.nodes[NodeId{n}].labels, key);
    const auto [found, added] = known.emplace(value, static_cast<std::uint32_t>(made->values.size()));
    if (added) made->values.push_back(value);
    made->of_node[n] = found->second;
  });
  slot = made;
  return slot;
}

void DomainBuilder::add_domain_of(std::uint32_t node) {
  const Symbol value = value_of(model_.nodes[NodeId{node}].labels, key_);
  if (!value.is_set() || members_.has(node)) return;
  auto at = std::lower_bound(values_.begin(), values_.end(), value);
  if (at != values_.end() && *at == value) return;
  values_.insert(at, value);
  members_ |= model_.nodes.nodes_with(key_, value);
}

}  // namespace scheduler
