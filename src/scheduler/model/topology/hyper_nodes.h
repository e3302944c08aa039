// Which parts does the network consist of, and which nodes does each part reach?
//
// HyperNode objects enter by name. From them and the nodes comes a tree of domains in depth-first order, made anew when
// either side changed; a domain is a HyperNode's place in it, and domain 0 is the root that holds everything. Domain
// ids mean nothing after the tree's generation has moved on; what must outlive it is kept as the HyperNode's name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/schema/pattern.h"
#include "scheduler/model/nodes/node_table.h"

namespace scheduler {

inline constexpr std::string_view kRootDomainName = "<cluster-top-hypernode>";
inline constexpr DomainId kRootDomain{0};

struct Domain {
  Symbol name;
  std::int64_t tier = 0;
  DomainId parent;                             // unset for the root
  std::uint32_t end = 0;                       // domains [id + 1, end) lie below
  std::uint32_t depth = 0;                     // of the root: 0
  std::vector<std::uint32_t> nodes;            // every node it reaches, ascending, each once
  mutable NodeSet node_set;                    // the same, made by DomainTree::set_of when asked for
  std::uint32_t word_begin = 0, word_end = 0;  // the words of a node set that its nodes lie in
};

class DomainTree {
 public:
  const Domain& operator[](DomainId id) const { return domains_[id.index]; }
  std::size_t size() const { return domains_.size(); }
  bool has_hyper_nodes() const { return domains_.size() > 1; }
  // Unset when there is no such HyperNode.
  DomainId find(Symbol name) const;
  // Ascending; the last one is the root's.
  const std::vector<std::int64_t>& tiers() const { return tiers_; }
  std::int64_t tier_of_name(Symbol tier_name, bool& known) const;
  // Domains that hold the node, the lowest tier first; the root last.
  const std::vector<DomainId>& domains_of(std::uint32_t node) const {
    return node < of_node_.size() ? of_node_[node] : nowhere_;
  }
  // The domain of the lowest tier of all that holds the node; unset when no domain of that tier does.
  DomainId leaf_of(std::uint32_t node) const { return node < leaf_.size() ? leaf_[node] : DomainId{}; }
  // The lowest domain that contains both; the other one where one is unset.
  DomainId common(DomainId a, DomainId b) const;
  bool contains(DomainId outer, DomainId inner) const {
    return outer.index <= inner.index && inner.index < domains_[outer.index].end;
  }
  const NodeSet& set_of(DomainId id) const;

 private:
  friend class HyperNodes;

  std::vector<Domain> domains_;
  std::vector<std::int64_t> tiers_;
  std::map<std::uint32_t, std::int64_t> tier_by_name_;
  std::unordered_map<std::uint32_t, DomainId> by_name_;
  std::vector<std::vector<DomainId>> of_node_;
  std::vector<DomainId> leaf_;
  std::vector<DomainId> nowhere_;
  std::size_t rows_ = 0;
};

class HyperNodes {
 public:
  HyperNodes(Symbols& symbols, const NodeTable& nodes) : symbols_(symbols), nodes_(nodes) {}

  // Both say whether anything changed.
  bool set(std::string_view name, const api::Json& object);
  bool remove(std::string_view name);
  // A node came, went or has other labels.
  void node_changed(NodeId node);

  // As of now. References hold until the next call after a change.
  const DomainTree& tree();
  // Grows with each new tree.
  std::uint64_t generation() {
    tree();
    return generation_;
  }
  // False while a member has two parents or HyperNodes contain one another: nothing is placed by topology then.
  bool is_ready() {
    tree();
    return problem_.empty();
  }
  // The fault of the tree, for people; empty when nothing is.
  const std::string& problem() {
    tree();
    return problem_;
  }
  bool empty() const { return by_name_.empty(); }
  // Each HyperNode's name and spec (JSON).
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [name, entry] : by_name_) visit(name, entry.text);
  }
  // Grows when a HyperNode comes, changes or goes.
  std::uint64_t object_changes() const { return object_changes_; }

 private:
  struct Member {
    enum class Kind : std::uint8_t { kNode, kNodePattern, kNodeLabels, kHyperNode };
    Kind kind = Kind::kNode;
    std::string name;  // of exact members
    std::optional<api::Pattern> pattern;
    LabelSelector labels;
    NodeSet matched;  // of patterns and labels: nodes chosen so far
    bool evaluated = false;
  };
  struct Entry {
    std::string text;  // of its spec
    std::int64_t tier = 0;
    Symbol tier_name;
    std::vector<Member> members;
    std::string parent;    // by the last tree
    std::size_t walk = 0;  // scratch of the search for circles
  };

  static std::vector<Member> members_from(const api::Json& spec, Symbols& symbols);
  bool matches(const Member& member, NodeId node) const;
  void refresh_matches();
  void find_parents();
  void build();
  void add_domains_below(const std::map<std::string, std::vector<std::string>>& children);
  void collect_nodes();
  void index_nodes();
  void own_nodes(const Entry& entry, std::vector<std::uint32_t>& out) const;

  Symbols& symbols_;
  const NodeTable& nodes_;
  std::map<std::string, Entry, std::less<>> by_name_;
  std::vector<NodeId> changed_nodes_;
  DomainTree tree_;
  std::string problem_;
  std::uint64_t generation_ = 0;
  std::uint64_t object_changes_ = 0;
  bool stale_ = true;
};

}  // namespace scheduler
