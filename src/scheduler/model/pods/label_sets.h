// Which labels do pods carry, in which namespaces, and who of them carries a certain label?
//
// Equal labels of one namespace are one set with one id. A set that no pod has any more is given back, and its id used
// again: jobs come and go with labels of their own, for as long as the program runs. The carriers of a label are kept
// from the first question on; most clusters never ask.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/model/core/id_table.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/selector.h"

namespace scheduler {

struct LabelSet {
  Symbol ns;
  std::uint32_t signature = 0;  // which matchers choose it, by PodAffinity's number of their list
  Labels labels;
};

class LabelSets {
 public:
  static std::uint64_t label_key(Symbol key, Symbol value) {
    return (std::uint64_t{key.index} + 1) << 32 | value.index;
  }

  const LabelSet& operator[](LabelSetId id) const { return rows_[id.index].set; }
  void set_signature(LabelSetId id, std::uint32_t signature) { rows_[id.index].set.signature = signature; }
  // Ids are below this; those of sets that were given back have no labels and the signature 0.
  std::size_t capacity() const { return rows_.size(); }
  std::size_t size() const { return table_.size(); }

  // Unset when there is none.
  LabelSetId find(Symbol ns, const Labels& labels) const;
  // The id of labels that may be new. It stays until the next give_back() if no pod comes to have it.
  LabelSetId add(Symbol ns, Labels labels);
  // A pod has these labels (1), or no longer (-1).
  void use(LabelSetId id, std::int32_t pods);
  // So many may be without pods; give_back() ends them.
  bool has_many_unused() const { return maybe_unused_.size() >= kUnusedMax; }
  // `ended` is told of each. False: all are in use.
  bool give_back(const std::function<void(const LabelSet&)>& ended = {});
  // Grows when ids may come to mean other labels.
  std::uint32_t returns() const { return returns_; }

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].in_use) visit(LabelSetId{i});
    }
  }
  // Visits the sets that carry this label, by its label_key().
  template <class Visit>
  void for_each_with(std::uint64_t label, const Visit& visit) {
    if (!std::exchange(is_linked_, true)) for_each([&](LabelSetId id) { link(id.index); });
    const auto first = first_with_.find(label);
    if (first == first_with_.end()) return;
    for (std::uint32_t at = first->second; at != kNone;) {
      const std::uint32_t next = rows_[at].neighbours[position(rows_[at].set.labels, label)].next;
      visit(LabelSetId{at});
      at = next;
    }
  }
  // Visits the sets with this label, or all for 0.
  template <class Visit>
  void for_each_candidate(std::uint64_t label, const Visit& visit) {
    if (label == 0)
      for_each(visit);
    else
      for_each_with(label, visit);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  static constexpr std::size_t kUnusedMax = 256;
  // In the list of all sets that carry one label.
  struct Neighbours {
    std::uint32_t before = kNone;
    std::uint32_t next = kNone;
  };
  struct Row {
    LabelSet set;
    std::uint32_t pods = 0;
    bool in_use = false;
    bool is_listed = false;                    // in maybe_unused_
    std::unique_ptr<Neighbours[]> neighbours;  // of each label; null before the first question
  };

  static std::uint32_t hash_of(Symbol ns, const Labels& labels);
  static std::size_t position(const Labels& labels, std::uint64_t label);
  void link(std::uint32_t row);
  void unlink(std::uint32_t row);
  void mark_unused(std::uint32_t row);

  std::vector<Row> rows_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> maybe_unused_;
  std::uint32_t returns_ = 0;
  IdTable<LabelSetId> table_;
  bool is_linked_ = false;
  std::unordered_map<std::uint64_t, std::uint32_t> first_with_;
};

}  // namespace scheduler
