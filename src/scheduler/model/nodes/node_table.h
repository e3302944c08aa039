// The offers of each node, and what is left of them. One column per fact.
//
// A node id is a row. Rows of vanished nodes are reused once nothing refers to them. Row order is the order of
// insertion and the stated order in which ties between nodes are broken.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/resource.h"
#include "scheduler/model/core/selector.h"
#include "scheduler/model/nodes/node_group.h"
#include "scheduler/model/nodes/node_set.h"

namespace scheduler {

struct ImageOnNode {
  Symbol name;
  std::int64_t bytes = 0;
  bool operator==(const ImageOnNode&) const = default;
};

// The facts of a Node object that decisions read.
struct NodeFacts {
  std::string name;
  Request allocatable;
  Request capacity;
  Labels labels;
  std::vector<Taint> taints;
  bool unschedulable = false;
  std::vector<ImageOnNode> images;
};

struct NodeRow {
  std::string name;
  bool known = false;  // a Node object exists; otherwise a placeholder for the pods that name it
  Request allocatable;
  Request capacity;
  Labels labels;
  std::uint32_t taint_set = 0;
  bool unschedulable = false;
  std::vector<ImageOnNode> images;
  std::vector<TaskId> tasks;  // not terminated, in no order
};

using Column = std::vector<std::int64_t>;

class NodeTable {
 public:
  explicit NodeTable(Symbols& symbols) : symbols_(symbols) { taint_sets_.push_back({}); }

  std::size_t size() const { return rows_.size(); }
  const NodeRow& operator[](NodeId node) const { return rows_[node.index]; }
  NodeRow& row(NodeId node) { return rows_[node.index]; }
  NodeId find(std::string_view name) const;
  // The row of that name, made as a placeholder when there is none.
  NodeId find_or_add(std::string_view name);
  // Replaces what is known about the row's node. Sums over its tasks stay.
  void set_facts(NodeId node, NodeFacts facts);
  bool has_same_facts(NodeId node, const NodeFacts& facts) const;
  void forget_facts(NodeId node);  // the Node object is gone
  void forget_dimension(Dim dim);  // no node and no pod counts in it any more
  void remove_if_unused(NodeId node);

  // Nodes with a Node object.
  const NodeSet& known() const { return known_; }
  std::size_t known_count() const { return known_count_; }
  const NodeSet& unschedulable() const { return unschedulable_; }

  // Columns by dimension; a dimension that no node and no pod has named yet has an empty column.
  const Column& idle(Dim d) const { return column(idle_, d); }
  const Column& used(Dim d) const { return column(used_, d); }
  const Column& releasing(Dim d) const { return column(releasing_, d); }
  const Column& pipelined(Dim d) const { return column(pipelined_, d); }
  const Column& allocatable(Dim d) const { return column(allocatable_, d); }
  std::int64_t future_idle(Dim d, std::uint32_t n) const {
    return d < idle_.size() ? idle_[d][n] + releasing_[d][n] - pipelined_[d][n] : 0;
  }
  // The requests of the pods that filters see, counting at least 100m and 200Mi for containers that ask for nothing.
  const Column& nonzero_cpu() const { return nonzero_cpu_; }
  const Column& nonzero_memory() const { return nonzero_memory_; }
  const Column& seen_cpu() const { return seen_cpu_; }
  const Column& seen_memory() const { return seen_memory_; }
  const Column& seen_pods() const { return seen_pods_; }

  // False while nothing is being released or promised: then the future is what is idle now.
  bool future_differs() const { return future_count_ != 0; }

  // Adds (sign 1) or takes away (sign -1) a request in the columns that `effects` name (status.h).
  void account(NodeId node, const Request& request, std::uint8_t effects, std::int64_t sign);
  void account_seen(NodeId node, std::int64_t cpu, std::int64_t memory, std::int64_t real_cpu, std::int64_t real_memory,
                    std::int64_t sign);

  // Taints are shared: few distinct lists exist.
  const std::vector<std::vector<Taint>>& taint_sets() const { return taint_sets_; }
  const NodeSet& nodes_with_taints(std::uint32_t taint_set) const { return taint_set_nodes_[taint_set]; }
  const NodeGroup& nodes_with(Symbol key, Symbol value) const;
  const NodeSet& nodes_with_key(Symbol key) const;
  NodeSet nodes_matching(const Requirement& requirement) const;
  NodeSet nodes_matching(const NodeTerm& term) const;

  // Grows whenever labels, taints, allocatable or existence of any node change.
  std::uint64_t static_generation() const { return static_generation_; }
  // Tells whether these facts are the same, also in another process.
  std::uint64_t facts_digest() const;
  // How many nodes hold an image, and its size.
  struct ImageState {
    std::int64_t bytes = 0;
    std::int64_t nodes = 0;
  };
  const ImageState* image(Symbol name) const;

  // Sum of allocatable over known nodes; sum of used.
  const Sums& total() const { return total_; }
  std::int64_t total_used(Dim d) const { return d < total_used_.size() ? total_used_[d] : 0; }
  std::uint64_t columns_hash() const;

 private:
  using Columns = std::vector<Column>;

  const Column& column(const Columns& columns, Dim d) const { return d < columns.size() ? columns[d] : zeros_; }
  void ensure_dim(Dim d);
  void ensure_rows(std::size_t count);
  void index_labels(NodeId node, bool add);
  void count_images(const NodeRow& row, std::int64_t sign);
  std::uint32_t intern_taints(const std::vector<Taint>& taints);

  Symbols& symbols_;
  std::vector<NodeRow> rows_;
  std::vector<std::uint32_t> free_;
  std::map<std::string, NodeId, std::less<>> by_name_;
  NodeSet known_;
  NodeSet unschedulable_;
  std::size_t known_count_ = 0;
  std::int64_t future_count_ = 0;  // pods counted as releasing or pipelined
  Columns idle_, used_, releasing_, pipelined_, allocatable_;
  Column nonzero_cpu_, nonzero_memory_, seen_cpu_, seen_memory_, seen_pods_, zeros_;
  std::vector<std::vector<Taint>> taint_sets_;
  std::vector<NodeSet> taint_set_nodes_ = {NodeSet()};
  std::unordered_map<std::uint64_t, NodeGroup> by_label_;  // (key, value)
  std::unordered_map<std::uint32_t, NodeSet> by_key_;
  std::unordered_map<std::uint32_t, ImageState> images_;
  NodeSet none_;
  NodeGroup no_group_;
  std::uint64_t static_generation_ = 1;
  mutable std::uint64_t digest_ = 0, digest_generation_ = 0;
  Sums total_;
  Column total_used_;  // by dimension
};

}  // namespace scheduler
