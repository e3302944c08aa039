// Which pods does each selector choose, and on which nodes do they run?
#include "scheduler/model/affinity.h"

#include <algorithm>

namespace scheduler {
namespace {

void append(std::string& out, std::uint32_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append(std::string& out, const LabelSelector& selector) {
  append(out, selector.present ? 1 : 0);
  for (const Requirement& r : selector.requirements) {
    append(out, r.key.index);
    append(out, static_cast<std::uint32_t>(r.op));
    append(out, static_cast<std::uint32_t>(r.number));
    append(out, static_cast<std::uint32_t>(r.values.size()));
    for (const Symbol value : r.values) append(out, value.index);
  }
  append(out, 0xffff'fffe);
}

}  // namespace

void NodeCounts::add(std::uint32_t node, std::int64_t amount) {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), node, [](const Entry& e, std::uint32_t n) { return e.node < n; });
  if (at == entries_.end() || at->node != node) at = entries_.insert(at, {node, 0});
  at->count += amount;
  if (at->count == 0) entries_.erase(at);
}

std::int64_t NodeCounts::get(std::uint32_t node) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), node, [](const Entry& e, std::uint32_t n) { return e.node < n; });
  return at != entries_.end() && at->node == node ? at->count : 0;
}

bool PodAffinity::selects(const PodSelector& selector, const LabelSet& set) const {
  bool in_scope = std::binary_search(selector.namespaces.begin(), selector.namespaces.end(), set.ns);
  if (!in_scope && selector.namespace_selector.present) {
    auto found = namespaces_.find(set.ns.index);
    in_scope = selector.namespace_selector.matches(found == namespaces_.end() ? Labels{} : found->second, symbols_);
  }
  return in_scope && selector.labels.matches(set.labels, symbols_);
}

bool PodAffinity::selects_all(const Matcher& matcher, const LabelSet& set) const {
  return std::all_of(matcher.all_of.begin(), matcher.all_of.end(), [&](const PodSelector& s) { return selects(s, set); });
}

void PodAffinity::set_matchers(LabelSet& set, std::vector<std::uint32_t> matchers) {
  set.matchers = std::move(matchers);
  set.signature = signatures_.emplace(set.matchers, static_cast<std::uint32_t>(signatures_.size())).first->second;
}

MatcherId PodAffinity::matcher_for(std::vector<PodSelector> all_of) {
  std::string text;
  for (const PodSelector& selector : all_of) {
    for (const Symbol ns : selector.namespaces) append(text, ns.index);
    append(text, 0xffff'fffd);
    append(text, selector.namespace_selector);
    append(text, selector.labels);
  }
  const MatcherId id{static_cast<std::uint32_t>(matchers_.size())};
  auto [found, added] = by_text_.emplace(std::move(text), id);
  if (!added) return found->second;
  matchers_.push_back({std::move(all_of), {}, {}});
  for (LabelSet& set : label_sets_) {
    if (!selects_all(matchers_.back(), set)) continue;
    std::vector<std::uint32_t> matchers = set.matchers;
    matchers.push_back(id.index);
    set_matchers(set, std::move(matchers));
  }
  new_matchers_.push_back(id);
  return id;
}

LabelSetId PodAffinity::label_set_for(Symbol ns, Labels labels) {
  std::string text;
  append(text, ns.index);
  for (const auto& [key, value] : labels) append(text, key.index), append(text, value.index);
  const LabelSetId id{static_cast<std::uint32_t>(label_sets_.size())};
  auto [found, added] = label_set_by_text_.emplace(std::move(text), id);
  if (!added) return found->second;
  label_sets_.push_back({ns, std::move(labels), {}, 0});
  LabelSet& set = label_sets_.back();
  std::vector<std::uint32_t> matchers;
  for (std::uint32_t i = 0; i < matchers_.size(); ++i) {
    if (selects_all(matchers_[i], set)) matchers.push_back(i);
  }
  if (!matchers.empty()) set_matchers(set, std::move(matchers));
  return id;
}

bool PodAffinity::matches(MatcherId matcher, LabelSetId labels) const {
  const auto& list = label_sets_[labels.index].matchers;
  return std::binary_search(list.begin(), list.end(), matcher.index);
}

bool PodAffinity::is_selected(LabelSetId labels) const {
  if (owned_.empty() || label_sets_[labels.index].matchers.empty()) return false;
  return std::any_of(owned_.begin(), owned_.end(), [&](const OwnedTerm& term) {
    return (!term.required_apart.empty() || !term.preferred.empty()) && matches(term.matcher, labels);
  });
}

OwnedTerm& PodAffinity::owned(MatcherId matcher, Symbol key) {
  auto [found, added] = owned_by_term_.emplace(std::pair{matcher.index, key.index}, static_cast<std::uint32_t>(owned_.size()));
  if (added) owned_.push_back({matcher, key, {}, {}});
  return owned_[found->second];
}

void PodAffinity::count(MatcherId matcher, NodeId node, bool terminating, std::int64_t sign) {
  matchers_[matcher.index].pods.add(node.index, sign);
  if (terminating) matchers_[matcher.index].terminating.add(node.index, sign);
}

void PodAffinity::place(const Shape& shape, LabelSetId labels, NodeId node, bool terminating, std::int64_t sign) {
  for (const std::uint32_t matcher : label_sets_[labels.index].matchers) count(MatcherId{matcher}, node, terminating, sign);
  for (const PodTerm& term : shape.anti_affinity) owned(term.matcher, term.topology_key).required_apart.add(node.index, sign);
  for (const PodTerm& term : shape.preferred_pods) {
    owned(term.matcher, term.topology_key).preferred.add(node.index, sign * term.weight);
  }
}

void PodAffinity::set_namespace_labels(Symbol ns, Labels labels) {
  namespaces_[ns.index] = std::move(labels);
  for (std::uint32_t i = 0; i < matchers_.size(); ++i) {
    const auto& all = matchers_[i].all_of;
    if (std::none_of(all.begin(), all.end(), [](const PodSelector& s) { return s.namespace_selector.present; })) continue;
    matchers_[i].pods = {};
    matchers_[i].terminating = {};
    for (LabelSet& set : label_sets_) {
      std::vector<std::uint32_t> matchers = set.matchers;
      std::erase(matchers, i);
      if (selects_all(matchers_[i], set)) matchers.insert(std::lower_bound(matchers.begin(), matchers.end(), i), i);
      if (matchers != set.matchers) set_matchers(set, std::move(matchers));
    }
    new_matchers_.push_back(MatcherId{i});
  }
}

}  // namespace scheduler
