// Which pods does each selector choose, and on which nodes do they run?
//
// A matcher is a conjunction of pod selectors. Counts per node are kept only for matchers that some shape uses, and
// follow every placement, in and outside of a cycle.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/json/by_identity.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/symbols.h"
#include "scheduler/model/pods/label_sets.h"
#include "scheduler/model/pods/shape.h"

namespace scheduler {

// Small counts per node, sorted by node; zero entries are dropped.
class NodeCounts {
 public:
  struct Entry {
    std::uint32_t node;
    std::int64_t count;
  };
  void add(std::uint32_t node, std::int64_t amount);
  std::int64_t get(std::uint32_t node) const;
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

 private:
  std::vector<Entry> entries_;
};

// What existing pods that carry a term say about pods which the term's matcher selects.
struct OwnedTerm {
  MatcherId matcher;
  Symbol topology_key;
  NodeCounts required_apart;  // pods with this term as required anti-affinity, per node
  NodeCounts preferred;       // sum of signed weights of pods preferring it, per node
};

struct Matcher {
  std::vector<PodSelector> all_of;
  NodeCounts pods;         // chosen pods per node
  NodeCounts terminating;  // of them, those being deleted
};

class PodAffinity final : public MatcherSource {
 public:
  explicit PodAffinity(Symbols& symbols) : symbols_(symbols) { signature_of({}); }

  MatcherId matcher_for(std::vector<PodSelector> all_of) override;
  // Holds until the next call, or as long as a pod uses it.
  LabelSetId label_set_for(Symbol ns, Labels labels);
  // As above, of a pod's `metadata.labels`.
  LabelSetId label_set_for(Symbol ns, const api::Json& labels);
  // A pod has these labels (1), or no longer (-1).
  void use_labels(LabelSetId id, std::int32_t pods) { label_sets_.use(id, pods); }
  void set_namespace_labels(Symbol ns, Labels labels);

  const Matcher& matcher(MatcherId id) const { return matchers_[id.index]; }
  const LabelSet& label_set(LabelSetId id) const { return label_sets_[id]; }
  // Those that choose these labels, ascending. Equal lists have equal signatures.
  const std::vector<std::uint32_t>& matchers_of(LabelSetId id) const { return *lists_[label_sets_[id].signature]; }
  bool matches(MatcherId matcher, LabelSetId labels) const;
  // Terms owned by placed pods that select these labels.
  std::vector<const OwnedTerm*> terms_selecting(LabelSetId labels) const;
  // Grows when the first pod with a term is placed, or its last one goes.
  std::uint64_t ownership_changes() const { return ownership_changes_; }

  // A pod of that shape and labels is seen on the node (sign 1) or no longer (-1).
  void place(const Shape& shape, LabelSetId labels, NodeId node, bool terminating, std::int64_t sign);

  // Matchers made since the last call, in order; the model counts the pods that are already placed for them.
  std::vector<MatcherId> take_new_matchers() { return std::exchange(new_matchers_, {}); }
  // Counts one placed pod for one matcher.
  void count(MatcherId matcher, NodeId node, bool terminating, std::int64_t sign);
  // Ids of label sets are below this.
  std::size_t label_set_capacity() const { return label_sets_.capacity(); }
  // Grows when ids of label sets may come to mean other labels: what is kept by them holds no longer.
  std::uint32_t label_set_returns() const { return label_sets_.returns(); }
  const std::map<std::uint32_t, Labels>& namespaces() const { return namespaces_; }  // labels by the name's symbol

 private:
  bool selects(const PodSelector& selector, const LabelSet& set) const;
  bool selects_all(const Matcher& matcher, const LabelSet& set) const;
  std::uint32_t signature_of(std::vector<std::uint32_t> matchers);
  OwnedTerm& owned(MatcherId matcher, Symbol key);
  static std::uint64_t index_label(const Matcher& matcher);

  Symbols& symbols_;
  std::vector<Matcher> matchers_;
  std::unordered_map<std::string, MatcherId> by_text_;
  std::vector<MatcherId> new_matchers_;
  LabelSets label_sets_;
  api::ByIdentity<std::pair<Symbol, LabelSetId>> recent_label_sets_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> signatures_;  // a list of matchers, and its number
  std::vector<const std::vector<std::uint32_t>*> lists_;            // the lists, by their numbers
  std::map<std::uint32_t, Labels> namespaces_;
  std::vector<OwnedTerm> owned_;
  std::vector<std::vector<std::uint32_t>> owned_of_matcher_;
  std::uint64_t ownership_changes_ = 1;
  // By a label that the matcher requires; 0 for those that require none by value.
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> matchers_by_label_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> owned_by_term_;
};

}  // namespace scheduler
