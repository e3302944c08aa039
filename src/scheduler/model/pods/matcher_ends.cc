// How is a matcher given back that nobody uses any more?
//
// No placed pod has a term with it, so that nothing is counted for its terms. Label sets that it chooses may be in use:
// their lists of matchers go on without it.
#include <algorithm>
#include <set>

#include "scheduler/model/pods/affinity.h"

namespace scheduler {

void PodAffinity::use_matcher(MatcherId id, std::int32_t users) {
  Matcher& matcher = matchers_[id.index];
  matcher.uses += static_cast<std::uint32_t>(users);
  if (matcher.uses == 0) maybe_unused_.push_back(id.index);
}

void PodAffinity::give_back_matchers() {
  std::vector<std::uint32_t> ended = std::exchange(maybe_unused_, {});
  std::erase_if(ended, [&](std::uint32_t i) { return matchers_[i].uses > 0 || texts_[i] == nullptr; });
  std::sort(ended.begin(), ended.end());
  ended.erase(std::unique(ended.begin(), ended.end()), ended.end());
  if (!ended.empty()) end_matchers(ended);
  matcher_returns_ += lists_.give_back();
}

void PodAffinity::end_matchers(const std::vector<std::uint32_t>& ended) {
  const auto is_ended = [&](std::uint32_t i) { return std::binary_search(ended.begin(), ended.end(), i); };
  const auto leave = [&](LabelSetId set) {
    const std::vector<std::uint32_t>& before = matchers_of(set);
    if (std::none_of(before.begin(), before.end(), is_ended)) return;
    std::vector<std::uint32_t> matchers = before;
    std::erase_if(matchers, is_ended);
    sign(set, std::move(matchers));
  };
  std::set<std::uint64_t> labels;  // each is looked through once
  for (const std::uint32_t i : ended) labels.insert(matchers_[i].required_label());
  for (const std::uint64_t label : labels) {
    const auto listed = matchers_by_label_.find(label);
    std::erase_if(listed->second, is_ended);
    if (listed->second.empty()) matchers_by_label_.erase(listed);
    label_sets_.for_each_candidate(label, leave);
  }
  for (const std::uint32_t i : ended) {
    owned_.forget(i);
    by_text_.erase(by_text_.find(*texts_[i]));
    texts_[i] = nullptr;
    matchers_[i] = {};
    free_matchers_.push_back(i);
  }
  std::erase_if(new_matchers_, [&](MatcherId id) { return is_ended(id.index); });
  ++matcher_returns_;
}

void use_matchers(PodAffinity& pods, const Shape& shape, std::int32_t users) {
  for (const auto* terms : {&shape.affinity, &shape.anti_affinity, &shape.preferred_pods}) {
    for (const PodTerm& term : *terms) pods.use_matcher(term.matcher, users);
  }
  for (const SpreadConstraint& one : shape.spread) pods.use_matcher(one.matcher, users);
}

}  // namespace scheduler
