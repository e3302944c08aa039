// The demands of placed pods on pods near them.
#include "scheduler/model/pods/owned_terms.h"

namespace scheduler {

OwnedTerm& OwnedTerms::term(MatcherId matcher, Symbol key) {
  const auto [found, added] = by_term_.try_emplace(std::pair{matcher.index, key.index});
  if (!added) return terms_[found->second];
  if (free_.empty()) {
    found->second = static_cast<std::uint32_t>(terms_.size());
    terms_.emplace_back();
  } else {
    found->second = free_.back();
    free_.pop_back();
  }
  if (of_matcher_.size() <= matcher.index) of_matcher_.resize(matcher.index + 1);
  of_matcher_[matcher.index].push_back(found->second);
  OwnedTerm& out = terms_[found->second];
  out = {matcher, key, {}, {}};
  return out;
}

void OwnedTerms::place(const Shape& shape, NodeId node, std::int64_t sign) {
  const auto add = [&](NodeCounts& counts, std::int64_t amount) {
    const bool was_empty = counts.empty();
    counts.add(node.index, amount);
    if (was_empty != counts.empty()) ++changes_;
  };
  for (const PodTerm& one : shape.anti_affinity) add(term(one.matcher, one.topology_key).required_apart, sign);
  for (const PodTerm& one : shape.preferred_pods) {
    add(term(one.matcher, one.topology_key).preferred, sign * one.weight);
  }
}

std::vector<const OwnedTerm*> OwnedTerms::of(const std::vector<std::uint32_t>& matchers) const {
  std::vector<const OwnedTerm*> out;
  for (const std::uint32_t matcher : matchers) {
    if (matcher >= of_matcher_.size()) continue;
    for (const std::uint32_t index : of_matcher_[matcher]) {
      if (!terms_[index].required_apart.empty() || !terms_[index].preferred.empty()) out.push_back(&terms_[index]);
    }
  }
  return out;
}

void OwnedTerms::forget(std::uint32_t matcher) {
  if (matcher >= of_matcher_.size()) return;
  for (const std::uint32_t index : of_matcher_[matcher]) {
    by_term_.erase({matcher, terms_[index].topology_key.index});
    terms_[index] = {};
    free_.push_back(index);
  }
  of_matcher_[matcher].clear();
}

}  // namespace scheduler
