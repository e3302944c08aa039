// Which pods does each selector choose, and on which nodes do they run?
#include "scheduler/model/pods/affinity.h"

#include <algorithm>

namespace scheduler {
namespace {

void append(std::string& out, std::uint32_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

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
  auto at = std::lower_bound(entries_.begin(), entries_.end(), node,
                             [](const Entry& e, std::uint32_t n) { return e.node < n; });
  if (at == entries_.end() || at->node != node) at = entries_.insert(at, {node, 0});
  at->count += amount;
  if (at->count == 0) entries_.erase(at);
}

std::int64_t NodeCounts::get(std::uint32_t node) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), node,
                             [](const Entry& e, std::uint32_t n) { return e.node < n; });
  return at != entries_.end() && at->node == node ? at->count : 0;
}

bool PodAffinity::selects(const PodSelector& selector, const LabelSet& set) const {
  bool in_scope = std::binary_search(selector.namespaces.begin(), selector.namespaces.end(), set.ns);
  if (!in_scope && selector.namespace_selector.present) {
    static const Labels kNone;
    auto found = namespaces_.find(set.ns.index);
    in_scope = selector.namespace_selector.matches(found == namespaces_.end() ? kNone : found->second, symbols_);
  }
  return in_scope && selector.labels.matches(set.labels, symbols_);
}

bool PodAffinity::selects_all(const Matcher& matcher, const LabelSet& set) const {
  return std::all_of(matcher.all_of.begin(), matcher.all_of.end(),
                     [&](const PodSelector& s) { return selects(s, set); });
}

std::uint32_t PodAffinity::signature_of(std::vector<std::uint32_t> matchers) {
  const bool is_reused = !free_lists_.empty();
  const std::uint32_t number = is_reused ? free_lists_.back() : static_cast<std::uint32_t>(lists_.size());
  const auto [found, added] = signatures_.emplace(std::move(matchers), number);
  if (!added) return found->second;
  if (is_reused)
    free_lists_.pop_back();
  else
    lists_.emplace_back();
  lists_[number] = {&found->first, 0};
  return number;
}

void PodAffinity::leave_signature(std::uint32_t signature) {
  if (signature != 0 && --lists_[signature].label_sets == 0) maybe_unused_lists_.push_back(signature);
}

void PodAffinity::sign(LabelSetId id, std::vector<std::uint32_t> matchers) {
  const std::uint32_t signature = signature_of(std::move(matchers));
  if (signature != 0) ++lists_[signature].label_sets;
  leave_signature(label_sets_[id].signature);
  label_sets_.set_signature(id, signature);
}

MatcherId PodAffinity::matcher_for(std::vector<PodSelector> all_of) {
  std::string text;
  for (const PodSelector& selector : all_of) {
    for (const Symbol ns : selector.namespaces) append(text, ns.index);
    append(text, 0xffff'fffd);
    append(text, selector.namespace_selector);
    append(text, selector.labels);
  }
  const auto known = by_text_.find(text);
  if (known != by_text_.end()) return known->second;
  MatcherId id{static_cast<std::uint32_t>(matchers_.size())};
  if (free_matchers_.empty()) {
    matchers_.emplace_back();
    texts_.emplace_back();
    owned_of_matcher_.emplace_back();
  } else {
    id.index = free_matchers_.back();
    free_matchers_.pop_back();
  }
  Matcher& matcher = matchers_[id.index];
  matcher.all_of = std::move(all_of);
  texts_[id.index] = &by_text_.emplace(std::move(text), id).first->first;
  maybe_unused_.push_back(id.index);
  const std::uint64_t label = index_label(matcher);
  matchers_by_label_[label].push_back(id.index);
  gathered_.push_back(id.index);
  if (!gathers_) sign_gathered();
  new_matchers_.push_back(id);
  return id;
}

template <class Visit>
void PodAffinity::for_each_candidate(std::uint64_t label, const Visit& visit) {
  if (label == 0)
    label_sets_.for_each(visit);
  else
    label_sets_.for_each_with(label, visit);
}

void PodAffinity::sign_gathered() {
  gathers_ = false;
  std::map<std::uint64_t, std::vector<std::uint32_t>> by_label;
  for (const std::uint32_t i : std::exchange(gathered_, {})) by_label[index_label(matchers_[i])].push_back(i);
  std::map<std::uint32_t, std::vector<std::uint32_t>> chosen;  // by the label set
  for (const auto& [label, matchers] : by_label) {
    for_each_candidate(label, [&, &fresh = matchers](LabelSetId set) {
      for (const std::uint32_t i : fresh)
        if (selects_all(matchers_[i], label_sets_[set])) chosen[set.index].push_back(i);
    });
  }
  for (auto& [set, fresh] : chosen) {
    std::vector<std::uint32_t> all = matchers_of(LabelSetId{set});
    all.insert(all.end(), fresh.begin(), fresh.end());
    std::sort(all.begin(), all.end());
    sign(LabelSetId{set}, std::move(all));
  }
}

LabelSetId PodAffinity::label_set_for(Symbol ns, const api::Json& labels) {
  const auto* known = recent_label_sets_.find(labels);
  if (known != nullptr && known->first == ns) return known->second;
  const LabelSetId id = label_set_for(ns, labels_from(labels, symbols_));
  if (labels.is_object()) recent_label_sets_.keep(labels, {ns, id});
  return id;
}

LabelSetId PodAffinity::label_set_for(Symbol ns, Labels labels) {
  if (const LabelSetId known = label_sets_.find(ns, labels); known.is_set()) return known;
  if (label_sets_.has_many_unused()) {
    const auto leave = [this](const LabelSet& ended) { leave_signature(ended.signature); };
    if (label_sets_.give_back(leave)) recent_label_sets_ = {};
    end_signatures();
  }
  const LabelSetId id = label_sets_.add(ns, std::move(labels));
  const LabelSet& set = label_sets_[id];
  std::vector<std::uint32_t> matchers;
  const auto consider = [&](std::uint64_t label) {
    auto listed = matchers_by_label_.find(label);
    if (listed == matchers_by_label_.end()) return;
    for (const std::uint32_t i : listed->second) {
      if (selects_all(matchers_[i], set)) matchers.push_back(i);
    }
  };
  consider(0);
  for (const auto& [key, value] : set.labels) consider(LabelSets::label_key(key, value));
  std::sort(matchers.begin(), matchers.end());
  sign(id, std::move(matchers));
  return id;
}

bool PodAffinity::matches(MatcherId matcher, LabelSetId labels) const {
  const auto& list = matchers_of(labels);
  return std::binary_search(list.begin(), list.end(), matcher.index);
}

std::vector<const OwnedTerm*> PodAffinity::terms_selecting(LabelSetId labels) const {
  std::vector<const OwnedTerm*> out;
  for (const std::uint32_t matcher : matchers_of(labels)) {
    for (const std::uint32_t term : owned_of_matcher_[matcher]) {
      if (!owned_[term].required_apart.empty() || !owned_[term].preferred.empty()) out.push_back(&owned_[term]);
    }
  }
  return out;
}

std::uint64_t PodAffinity::index_label(const Matcher& matcher) {
  for (const PodSelector& selector : matcher.all_of) {
    for (const Requirement& r : selector.labels.requirements) {
      if (r.op == Requirement::Op::kIn && r.values.size() == 1) return LabelSets::label_key(r.key, r.values[0]);
    }
  }
  return 0;
}

OwnedTerm& PodAffinity::owned(MatcherId matcher, Symbol key) {
  const auto [found, added] = owned_by_term_.try_emplace(std::pair{matcher.index, key.index});
  if (!added) return owned_[found->second];
  if (free_owned_.empty()) {
    found->second = static_cast<std::uint32_t>(owned_.size());
    owned_.emplace_back();
  } else {
    found->second = free_owned_.back();
    free_owned_.pop_back();
  }
  owned_of_matcher_[matcher.index].push_back(found->second);
  OwnedTerm& term = owned_[found->second];
  term = {matcher, key, {}, {}};
  return term;
}

void PodAffinity::count(MatcherId matcher, NodeId node, bool terminating, std::int64_t sign) {
  matchers_[matcher.index].pods.add(node.index, sign);
  if (terminating) matchers_[matcher.index].terminating.add(node.index, sign);
}

void PodAffinity::place(const Shape& shape, LabelSetId labels, NodeId node, bool terminating, std::int64_t sign) {
  for (const std::uint32_t matcher : matchers_of(labels)) count(MatcherId{matcher}, node, terminating, sign);
  const auto add = [&](NodeCounts& counts, std::int64_t amount) {
    const bool was_empty = counts.empty();
    counts.add(node.index, amount);
    if (was_empty != counts.empty()) ++ownership_changes_;
  };
  for (const PodTerm& term : shape.anti_affinity) add(owned(term.matcher, term.topology_key).required_apart, sign);
  for (const PodTerm& term : shape.preferred_pods) {
    add(owned(term.matcher, term.topology_key).preferred, sign * term.weight);
  }
}

void PodAffinity::set_namespace_labels(Symbol ns, Labels labels) {
  const auto [known, is_new] = namespaces_.try_emplace(ns.index);
  if (known->second == labels) return;
  known->second = std::move(labels);
  for (std::uint32_t i = 0; i < matchers_.size(); ++i) {
    const auto& all = matchers_[i].all_of;
    if (std::none_of(all.begin(), all.end(), [](const PodSelector& s) { return s.namespace_selector.present; }))
      continue;
    bool changed = false;
    label_sets_.for_each([&](LabelSetId set) {
      if (label_sets_[set].ns != ns) return;
      const bool chosen = selects_all(matchers_[i], label_sets_[set]);
      if (chosen == matches(MatcherId{i}, set)) return;
      changed = true;
      std::vector<std::uint32_t> matchers = matchers_of(set);
      if (chosen)
        matchers.insert(std::lower_bound(matchers.begin(), matchers.end(), i), i);
      else
        std::erase(matchers, i);
      sign(set, std::move(matchers));
    });
    if (!changed) continue;
    matchers_[i].pods = {};
    matchers_[i].terminating = {};
    new_matchers_.push_back(MatcherId{i});
  }
  end_signatures();
}

}  // namespace scheduler
