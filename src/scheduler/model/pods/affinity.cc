// Which pods does each selector choose, and on which nodes do they run?
#include "scheduler/model/pods/affinity.h"

#include <algorithm>
#include <map>

namespace scheduler {

void PodAffinity::sign(LabelSetId id, std::vector<std::uint32_t> matchers) {
  const std::uint32_t signature = lists_.enter(std::move(matchers));
  lists_.leave(label_sets_[id].signature);
  label_sets_.set_signature(id, signature);
}

MatcherId PodAffinity::matcher_for(std::vector<PodSelector> all_of) {
  std::string text = text_of(all_of);
  const auto known = by_text_.find(text);
  if (known != by_text_.end()) return known->second;
  MatcherId id{static_cast<std::uint32_t>(matchers_.size())};
  if (free_matchers_.empty()) {
    matchers_.emplace_back();
    texts_.emplace_back();
  } else {
    id.index = free_matchers_.back();
    free_matchers_.pop_back();
  }
  Matcher& matcher = matchers_[id.index];
  matcher.all_of = std::move(all_of);
  texts_[id.index] = &by_text_.emplace(std::move(text), id).first->first;
  maybe_unused_.push_back(id.index);
  matchers_by_label_[matcher.required_label()].push_back(id.index);
  gathered_.push_back(id.index);
  if (!gathers_) sign_gathered();
  new_matchers_.push_back(id);
  return id;
}

void PodAffinity::sign_gathered() {
  gathers_ = false;
  std::map<std::uint64_t, std::vector<std::uint32_t>> by_label;
  for (const std::uint32_t i : std::exchange(gathered_, {})) by_label[matchers_[i].required_label()].push_back(i);
  std::map<std::uint32_t, std::vector<std::uint32_t>> chosen;  // by the label set
  for (const auto& [label, matchers] : by_label) {
    label_sets_.for_each_candidate(label, [&, &fresh = matchers](LabelSetId set) {
      for (const std::uint32_t i : fresh)
        if (matchers_[i].selects(label_sets_[set], namespaces_, symbols_)) chosen[set.index].push_back(i);
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
    const auto leave = [this](const LabelSet& ended) { lists_.leave(ended.signature); };
    if (label_sets_.give_back(leave)) recent_label_sets_ = {};
    matcher_returns_ += lists_.give_back();
  }
  const LabelSetId id = label_sets_.add(ns, std::move(labels));
  const LabelSet& set = label_sets_[id];
  std::vector<std::uint32_t> matchers;
  const auto consider = [&](std::uint64_t label) {
    auto listed = matchers_by_label_.find(label);
    if (listed == matchers_by_label_.end()) return;
    for (const std::uint32_t i : listed->second) {
      if (matchers_[i].selects(set, namespaces_, symbols_)) matchers.push_back(i);
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

void PodAffinity::count(MatcherId matcher, NodeId node, bool terminating, std::int64_t sign) {
  matchers_[matcher.index].pods.add(node.index, sign);
  if (terminating) matchers_[matcher.index].terminating.add(node.index, sign);
}

void PodAffinity::place(const Shape& shape, LabelSetId labels, NodeId node, bool terminating, std::int64_t sign) {
  for (const std::uint32_t matcher : matchers_of(labels)) count(MatcherId{matcher}, node, terminating, sign);
  owned_.place(shape, node, sign);
}

void PodAffinity::set_namespace_labels(Symbol ns, Labels labels) {
  const auto [known, is_new] = namespaces_.try_emplace(ns.index);
  if (known->second == labels) return;
  known->second = std::move(labels);
  for (std::uint32_t i = 0; i < matchers_.size(); ++i) {
    if (!matchers_[i].reads_namespaces()) continue;
    bool changed = false;
    label_sets_.for_each([&](LabelSetId set) {
      if (label_sets_[set].ns != ns) return;
      const bool chosen = matchers_[i].selects(label_sets_[set], namespaces_, symbols_);
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
  matcher_returns_ += lists_.give_back();
}

}  // namespace scheduler
