// Which labels do pods carry, in which namespaces, and who of them carries a certain label?
#include "scheduler/model/pods/label_sets.h"

#include <algorithm>

namespace scheduler {

std::uint32_t LabelSets::hash_of(Symbol ns, const Labels& labels) {
  const auto mix = [](std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E37'79B9'7F4A'7C15u;
    return hash ^ hash >> 32;
  };
  std::uint64_t hash = mix(0, ns.index);
  for (const auto& [key, value] : labels) hash = mix(hash, label_key(key, value));
  return static_cast<std::uint32_t>(hash);
}

std::size_t LabelSets::position(const Labels& labels, std::uint64_t label) {
  // In the order of their keys, as in labels_from().
  const auto at = std::lower_bound(labels.begin(), labels.end(), label, [](const auto& one, std::uint64_t wanted) {
    return label_key(one.first, one.second) < wanted;
  });
  return static_cast<std::size_t>(at - labels.begin());
}

LabelSetId LabelSets::find(Symbol ns, const Labels& labels) const {
  return table_.find(hash_of(ns, labels), [&](LabelSetId id) {
    const LabelSet& set = rows_[id.index].set;
    return set.ns == ns && set.labels == labels;
  });
}

LabelSetId LabelSets::add(Symbol ns, Labels labels) {
  LabelSetId id{static_cast<std::uint32_t>(rows_.size())};
  if (!free_.empty()) {
    id.index = free_.back();
    free_.pop_back();
  } else {
    rows_.emplace_back();
  }
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());  // each links the set once
  Row& row = rows_[id.index];
  row.set = {ns, 0, std::move(labels)};
  row.in_use = true;
  table_.insert(hash_of(ns, row.set.labels), id);
  if (is_linked_) link(id.index);
  mark_unused(id.index);
  return id;
}

void LabelSets::use(LabelSetId id, std::int32_t pods) {
  Row& row = rows_[id.index];
  row.pods += static_cast<std::uint32_t>(pods);
  if (row.pods == 0) mark_unused(id.index);
}

bool LabelSets::give_back(const std::function<void(const LabelSet&)>& ended) {
  bool some = false;
  for (const std::uint32_t index : maybe_unused_) {
    Row& row = rows_[index];
    row.is_listed = false;
    if (row.pods > 0) continue;
    some = true;
    if (ended) ended(row.set);
    table_.erase(hash_of(row.set.ns, row.set.labels), LabelSetId{index});
    if (is_linked_) unlink(index);
    row = Row{};
    free_.push_back(index);
  }
  maybe_unused_.clear();
  returns_ += some ? 1 : 0;
  return some;
}

void LabelSets::link(std::uint32_t index) {
  Row& row = rows_[index];
  row.neighbours = std::make_unique<Neighbours[]>(row.set.labels.size());
  for (std::size_t i = 0; i < row.set.labels.size(); ++i) {
    const std::uint64_t label = label_key(row.set.labels[i].first, row.set.labels[i].second);
    const auto [first, is_first] = first_with_.emplace(label, index);
    if (is_first) continue;
    Row& other = rows_[first->second];
    other.neighbours[position(other.set.labels, label)].before = index;
    row.neighbours[i].next = first->second;
    first->second = index;
  }
}

void LabelSets::unlink(std::uint32_t index) {
  const Row& row = rows_[index];
  for (std::size_t i = 0; i < row.set.labels.size(); ++i) {
    const std::uint64_t label = label_key(row.set.labels[i].first, row.set.labels[i].second);
    const auto [before, next] = row.neighbours[i];
    if (next != kNone) rows_[next].neighbours[position(rows_[next].set.labels, label)].before = before;
    if (before != kNone) {
      rows_[before].neighbours[position(rows_[before].set.labels, label)].next = next;
    } else if (next != kNone) {
      first_with_[label] = next;
    } else {
      first_with_.erase(label);
    }
  }
}

void LabelSets::mark_unused(std::uint32_t index) {
  Row& row = rows_[index];
  if (row.is_listed) return;
  row.is_listed = true;
  maybe_unused_.push_back(index);
}

}  // namespace scheduler
