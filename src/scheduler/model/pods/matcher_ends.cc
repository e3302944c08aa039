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

void PodAffinity::use_matchers(const Shape& shape, std::int32_t users) {
  for (const auto* terms : {&shape.affinity, &shape.anti_affinity, &shape.preferred_pods}) {
    for (const PodTerm& term : *terms) use_matcher(term.matcher, users);
  }
  for (const SpreadConstraint& one : shape.spread) use_matcher(one.matcher, users);
}

void PodAffinity::give_back_matchers() {
  std::vector<std::uint32_t> ended = std::exchange(maybe_unused_, {});
  std::erase_if(ended, [&](std::uint32_t i) { return matchers_[i].uses > 0 || texts_[i] == nullptr; });
  std::sort(ended.begin(), ended.end());
  ended.erase(std::unique(ended.begin(), ended.end()), ended.end());
  if (!ended.empty()) end_matchers(ended);
  end_signatures();
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
  for (const std::uint32_t i : ended) labels.insert(index_label(matchers_[i]));
  for (const std::uint64_t label : labels) {
    const auto listed = matchers_by_label_.find(label);
    std::erase_if(listed->second, is_ended);
    if (listed->second.empty()) matchers_by_label_.erase(listed);
    if (label == 0)
      label_sets_.for_each(leave);
    else
      label_sets_.for_each_with(label, leave);
  }
  for (const std::uint32_t i : ended) {
    for (const std::uint32_t term : owned_of_matcher_[i]) {
      owned_by_term_.erase({i, owned_[term].topology_key.index});
      owned_[term] = {};
      free_owned_.push_back(term);
    }
    owned_of_matcher_[i].clear();
    by_text_.erase(by_text_.find(*texts_[i]));
    texts_[i] = nullptr;
    matchers_[i] = {};
    free_matchers_.push_back(i);
  }
  std::erase_if(new_matchers_, [&](MatcherId id) { return is_ended(id.index); });
  ++matcher_returns_;
}

void PodAffinity::end_signatures() {
  for (const std::uint32_t number : maybe_unused_lists_) {
    List& list = lists_[number];
    if (list.matchers == nullptr || list.label_sets > 0) continue;
    signatures_.erase(signatures_.find(*list.matchers));
    list = {};
    free_lists_.push_back(number);
    ++matcher_returns_;
  }
  maybe_unused_lists_.clear();
}

}  // namespace scheduler
