// The offers of each node, and what is left of them. One column per fact.
#include "scheduler/model/nodes/node_table.h"

#include <algorithm>

#include "base/check.h"
#include "scheduler/model/core/digest.h"
#include "scheduler/model/core/status.h"

namespace scheduler {
namespace {

std::uint64_t pair_key(Symbol key, Symbol value) { return std::uint64_t{key.index} << 32 | value.index; }

void mix(std::uint64_t& hash, std::int64_t value) {
  hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15ull;
  hash ^= hash >> 29;
}

}  // namespace

NodeId NodeTable::find(std::string_view name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? NodeId{} : found->second;
}

NodeId NodeTable::find_or_add(std::string_view name) {
  if (const NodeId found = find(name); found.is_set()) return found;
  NodeId node{static_cast<std::uint32_t>(rows_.size())};
  if (!free_.empty()) {
    node.index = free_.back();
    free_.pop_back();
  } else {
    rows_.emplace_back();
    ensure_rows(rows_.size());
  }
  rows_[node.index] = NodeRow{};
  rows_[node.index].name = name;
  by_name_.emplace(name, node);
  return node;
}

void NodeTable::ensure_rows(std::size_t count) {
  const std::size_t padded = (count + 63) / 64 * 64;
  if (zeros_.size() >= padded) return;
  const std::size_t grown = std::max(padded, zeros_.size() * 2);
  for (Columns* columns : {&idle_, &used_, &releasing_, &pipelined_, &allocatable_}) {
    for (Column& one : *columns) one.resize(grown);
  }
  for (Column* one : {&nonzero_cpu_, &nonzero_memory_, &seen_cpu_, &seen_memory_, &seen_pods_, &zeros_})
    one->resize(grown);
  known_.resize(grown);
  unschedulable_.resize(grown);
  none_.resize(grown);
  for (NodeSet& set : taint_set_nodes_) set.resize(grown);
  for (auto& [key, set] : by_key_) set.resize(grown);
}

void NodeTable::ensure_dim(Dim d) {
  if (d < idle_.size()) return;
  for (Columns* columns : {&idle_, &used_, &releasing_, &pipelined_, &allocatable_}) {
    columns->resize(d + 1);
    for (Column& one : *columns) one.resize(zeros_.size());
  }
  total_used_.resize(d + 1);
}

std::uint32_t NodeTable::intern_taints(const std::vector<Taint>& taints) {
  std::uint32_t unused = 0;  // of no node: taints may have a new value each time, as those of autoscalers have
  for (std::uint32_t i = 0; i < taint_sets_.size(); ++i) {
    if (taint_sets_[i] == taints) return i;
    if (i > 0 && taint_set_nodes_[i].empty()) unused = i;
  }
  if (unused > 0) {
    taint_sets_[unused] = taints;
    return unused;
  }
  taint_sets_.push_back(taints);
  taint_set_nodes_.emplace_back(zeros_.size());
  return static_cast<std::uint32_t>(taint_sets_.size() - 1);
}

void NodeTable::index_labels(NodeId node, bool add) {
  for (const auto& [key, value] : rows_[node.index].labels) {
    NodeGroup& pair = by_label_[pair_key(key, value)];
    NodeSet& any = by_key_[key.index];
    any.resize(zeros_.size());
    if (add) {
      pair.add(node.index);
      any.add(node.index);
    } else {
      pair.remove(node.index);
      any.remove(node.index);
      if (pair.empty()) by_label_.erase(pair_key(key, value));
    }
  }
}

void NodeTable::count_images(const NodeRow& row, std::int64_t sign) {
  for (const ImageOnNode& image : row.images) {
    ImageState& state = images_[image.name.index];
    state.nodes += sign;
    if (sign > 0) state.bytes = image.bytes;
    if (state.nodes == 0) images_.erase(image.name.index);
  }
}

void NodeTable::set_facts(NodeId node, NodeFacts facts) {
  forget_facts(node);
  NodeRow& row = rows_[node.index];
  row.known = true;
  row.allocatable = std::move(facts.allocatable);
  row.capacity = std::move(facts.capacity);
  row.labels = std::move(facts.labels);
  row.images = std::move(facts.images);
  row.unschedulable = facts.unschedulable;
  row.taint_set = intern_taints(facts.taints);
  known_.add(node.index);
  ++known_count_;
  if (row.unschedulable) unschedulable_.add(node.index);
  taint_set_nodes_[row.taint_set].add(node.index);
  index_labels(node, true);
  count_images(row, 1);
  for (const Part& part : row.allocatable.parts) {
    ensure_dim(part.dim);
    allocatable_[part.dim][node.index] = part.amount;
    idle_[part.dim][node.index] += part.amount;
  }
  total_.add(row.allocatable, 1);
  for (Dim d = 0; d < used_.size(); ++d) total_used_[d] += used_[d][node.index];
  ++static_generation_;
}

bool NodeTable::has_same_facts(NodeId node, const NodeFacts& facts) const {
  const NodeRow& row = rows_[node.index];
  return row.known && row.allocatable == facts.allocatable && row.capacity == facts.capacity &&
         row.labels == facts.labels && taint_sets_[row.taint_set] == facts.taints &&
         row.unschedulable == facts.unschedulable && row.images == facts.images;
}

void NodeTable::forget_facts(NodeId node) {
  NodeRow& row = rows_[node.index];
  if (!row.known) return;
  for (const Part& part : row.allocatable.parts) {
    allocatable_[part.dim][node.index] = 0;
    idle_[part.dim][node.index] -= part.amount;
  }
  total_.add(row.allocatable, -1);
  for (Dim d = 0; d < used_.size(); ++d) total_used_[d] -= used_[d][node.index];
  index_labels(node, false);
  count_images(row, -1);
  taint_set_nodes_[row.taint_set].remove(node.index);
  unschedulable_.remove(node.index);
  known_.remove(node.index);
  --known_count_;
  row.known = false;
  row.allocatable = row.capacity = Request{};
  row.labels.clear();
  row.images.clear();
  ++static_generation_;
}

std::uint64_t NodeTable::facts_digest() const {
  if (digest_generation_ == static_generation_) return digest_;
  digest_generation_ = static_generation_;
  digest_ = 0;
  const auto add = [&](Digest& out, Symbol text) { out.add(text.is_set() ? symbols_.text(text) : std::string_view()); };
  for (const NodeRow& row : rows_) {
    if (!row.known) continue;
    Digest out;
    out.add(row.name);
    out.add(std::uint64_t{row.unschedulable});
    // Symbols and dimensions have other numbers in another process: their order plays no part.
    std::uint64_t sum = 0;
    for (const Part& part : row.allocatable.parts)
      sum += (part.dim < kPods ? part.dim + 3u : 1u) * static_cast<std::uint64_t>(part.amount);
    for (const auto& [key, value] : row.labels) {
      Digest label;
      add(label, key);
      add(label, value);
      sum += label.value();
    }
    for (const Taint& taint : taint_sets_[row.taint_set]) {
      Digest one;
      add(one, taint.key);
      add(one, taint.value);
      one.add(static_cast<std::uint64_t>(taint.effect));
      sum += one.value();
    }
    out.add(sum);
    digest_ += out.value();
  }
  return digest_;
}

void NodeTable::forget_dimension(Dim dim) {
  if (dim >= idle_.size()) return;
  for (Columns* columns : {&idle_, &used_, &releasing_, &pipelined_, &allocatable_})
    std::fill((*columns)[dim].begin(), (*columns)[dim].end(), 0);
  total_used_[dim] = 0;
  total_.erase(dim);
  for (NodeRow& row : rows_) {
    row.allocatable.erase(dim);
    row.capacity.erase(dim);
  }
  ++static_generation_;
}

void NodeTable::remove_if_unused(NodeId node) {
  NodeRow& row = rows_[node.index];
  if (row.known || !row.tasks.empty()) return;
  by_name_.erase(row.name);
  row = NodeRow{};
  free_.push_back(node.index);
}

void NodeTable::account(NodeId node, const Request& request, std::uint8_t effects, std::int64_t sign) {
  const std::uint32_t n = node.index;
  if (effects & (kEffectReleasing | kEffectPipelined)) future_count_ += sign;
  for (const Part& part : request.parts) {
    if (part.dim >= idle_.size()) ensure_dim(part.dim);
    const std::int64_t amount = sign * part.amount;
    if (effects & kEffectUsed) {
      idle_[part.dim][n] -= amount;
      used_[part.dim][n] += amount;
      if (rows_[n].known) total_used_[part.dim] += amount;
    }
    if (effects & kEffectReleasing) releasing_[part.dim][n] += amount;
    if (effects & kEffectPipelined) pipelined_[part.dim][n] += amount;
  }
}

void NodeTable::account_seen(NodeId node, std::int64_t cpu, std::int64_t memory, std::int64_t real_cpu,
                             std::int64_t real_memory, std::int64_t sign) {
  nonzero_cpu_[node.index] += sign * cpu;
  nonzero_memory_[node.index] += sign * memory;
  seen_cpu_[node.index] += sign * real_cpu;
  seen_memory_[node.index] += sign * real_memory;
  seen_pods_[node.index] += sign;
}

const NodeGroup& NodeTable::nodes_with(Symbol key, Symbol value) const {
  auto found = by_label_.find(pair_key(key, value));
  return found == by_label_.end() ? no_group_ : found->second;
}

const NodeSet& NodeTable::nodes_with_key(Symbol key) const {
  auto found = by_key_.find(key.index);
  return found == by_key_.end() ? none_ : found->second;
}

NodeSet NodeTable::nodes_matching(const Requirement& requirement) const {
  using Op = Requirement::Op;
  NodeSet out(zeros_.size());
  switch (requirement.op) {
    case Op::kIn:
    case Op::kNotIn:
      for (const Symbol value : requirement.values) out |= nodes_with(requirement.key, value);
      break;
    case Op::kExists:
    case Op::kDoesNotExist: out |= nodes_with_key(requirement.key); break;
    case Op::kGt:
    case Op::kLt:
      nodes_with_key(requirement.key).for_each([&](std::uint32_t n) {
        if (requirement.matches(rows_[n].labels, symbols_)) out.add(n);
      });
      break;
    case Op::kNever: break;
  }
  if (requirement.op != Op::kNotIn && requirement.op != Op::kDoesNotExist) return out;
  NodeSet inverse = known_;
  return inverse.subtract(out);
}

NodeSet NodeTable::nodes_matching(const NodeTerm& term) const {
  if (term.is_empty()) return NodeSet(zeros_.size());
  NodeSet out = known_;
  for (const Requirement& requirement : term.expressions) out &= nodes_matching(requirement);
  for (const Requirement& field : term.fields) {
    NodeSet named(zeros_.size());
    for (const Symbol value : field.values) {
      if (const NodeId node = find(symbols_.text(value)); node.is_set()) named.add(node.index);
    }
    if (field.op == Requirement::Op::kIn)
      out &= named;
    else if (field.op == Requirement::Op::kNotIn)
      out.subtract(named);
    else
      out.clear();
  }
  return out;
}

const NodeTable::ImageState* NodeTable::image(Symbol name) const {
  auto found = images_.find(name.index);
  return found == images_.end() ? nullptr : &found->second;
}

std::uint64_t NodeTable::columns_hash() const {
  std::uint64_t hash = 0;
  for (const Columns* columns : {&idle_, &used_, &releasing_, &pipelined_, &allocatable_}) {
    for (const Column& one : *columns) {
      for (const std::int64_t value : one) mix(hash, value);
    }
  }
  for (const Column* one : {&nonzero_cpu_, &nonzero_memory_, &seen_cpu_, &seen_memory_, &seen_pods_}) {
    for (const std::int64_t value : *one) mix(hash, value);
  }
  return hash;
}

}  // namespace scheduler
