// Which pods does each selector choose, and on which nodes do they run?
//
// A matcher is a conjunction of pod selectors. Counts per node are kept only for matchers that some shape uses, and
// follow every placement, in and outside of a cycle. One that nobody uses any more is given back, and its id used
// again.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/json/by_identity.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/symbols.h"
#include "scheduler/model/pods/label_sets.h"
#include "scheduler/model/pods/matcher.h"
#include "scheduler/model/pods/matcher_lists.h"
#include "scheduler/model/pods/owned_terms.h"
#include "scheduler/model/pods/shape.h"

namespace scheduler {

class PodAffinity final : public MatcherSource {
 public:
  explicit PodAffinity(Symbols& symbols) : symbols_(symbols) {}

  // Holds until the next give_back_matchers(), or as long as somebody uses it.
  MatcherId matcher_for(std::vector<PodSelector> all_of) override;
  // From the first to the second, matchers that are made choose no label sets; then all of these are looked through
  // once. A pod has hundreds of terms, and each may choose every pod.
  void gather_matchers() { gathers_ = true; }
  void sign_gathered();
  // Somebody keeps it (1), or no longer (-1).
  void use_matcher(MatcherId id, std::int32_t users);
  // So many may have no users; give_back_matchers() ends them. Between cycles.
  bool has_many_unused_matchers() const {
    return maybe_unused_.size() >= kUnusedMax || lists_.maybe_unused() >= kUnusedMax;
  }
  void give_back_matchers();
  // Holds until the next call, or as long as a pod uses it.
  LabelSetId label_set_for(Symbol ns, Labels labels);
  // As above, of a pod's `metadata.labels`.
  LabelSetId label_set_for(Symbol ns, const api::Json& labels);
  // A pod has these labels (1), or no longer (-1).
  void use_labels(LabelSetId id, std::int32_t pods) { label_sets_.use(id, pods); }
  void set_namespace_labels(Symbol ns, Labels labels);

  const Matcher& matcher(MatcherId id) const { return matchers_[id.index]; }
  const LabelSet& label_set(LabelSetId id) const { return label_sets_[id]; }
  // The matchers that choose these labels, ascending. Equal lists have equal signatures.
  const std::vector<std::uint32_t>& matchers_of(LabelSetId id) const { return lists_[label_sets_[id].signature]; }
  bool matches(MatcherId matcher, LabelSetId labels) const;
  // Terms owned by placed pods that select these labels.
  std::vector<const OwnedTerm*> terms_selecting(LabelSetId labels) const { return owned_.of(matchers_of(labels)); }
  // Grows when the first pod with a term is placed, or its last one goes.
  std::uint64_t ownership_changes() const { return owned_.changes(); }

  // A pod of that shape and labels is seen on the node (sign 1) or no longer (-1).
  void place(const Shape& shape, LabelSetId labels, NodeId node, bool terminating, std::int64_t sign);

  // Matchers made since the last call, in order; the model counts the pods that are already placed for them.
  std::vector<MatcherId> take_new_matchers() { return std::exchange(new_matchers_, {}); }
  // Counts one placed pod for one matcher.
  void count(MatcherId matcher, NodeId node, bool terminating, std::int64_t sign);
  // Their returns() tell that what is kept by ids of label sets holds no longer.
  const LabelSets& label_sets() const { return label_sets_; }
  // Grows when ids of matchers or signatures may come to mean others: what is kept by them holds no longer.
  std::uint32_t matcher_returns() const { return matcher_returns_; }
  std::size_t matcher_count() const { return by_text_.size(); }
  const NamespaceLabels& namespaces() const { return namespaces_; }

 private:
  static constexpr std::size_t kUnusedMax = 1024;
  // From now on these matchers choose the label set.
  void sign(LabelSetId id, std::vector<std::uint32_t> matchers);
  void end_matchers(const std::vector<std::uint32_t>& ended);

  Symbols& symbols_;
  std::vector<Matcher> matchers_;
  std::vector<const std::string*> texts_;  // by matcher: its text in by_text_; null: given back
  std::unordered_map<std::string, MatcherId> by_text_;
  std::vector<std::uint32_t> free_matchers_, maybe_unused_;
  std::uint32_t matcher_returns_ = 0;
  std::vector<MatcherId> new_matchers_;
  bool gathers_ = false;
  std::vector<std::uint32_t> gathered_;
  LabelSets label_sets_;
  api::ByIdentity<std::pair<Symbol, LabelSetId>> recent_label_sets_;
  MatcherLists lists_;
  OwnedTerms owned_;
  NamespaceLabels namespaces_;
  // By a label that the matcher requires; 0 for those that require none by value.
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> matchers_by_label_;
};

// The same of all matchers that the terms of a shape name.
void use_matchers(PodAffinity& pods, const Shape& shape, std::int32_t users);

}  // namespace scheduler
