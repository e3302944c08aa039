// Which parts does the network consist of, and which nodes does each part reach?
#include "scheduler/model/topology/hyper_nodes.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/format.h"

namespace scheduler {
namespace {

constexpr std::int64_t kTierMax = 1 << 30;  // keeps sums of tiers far from overflow

std::string two_parents(std::string_view child, std::string_view parent, std::string_view other) {
  return base::format("HyperNode {} already has a parent {}, and cannot set another parent {}", child, parent, other);
}

}  // namespace

DomainId DomainTree::find(Symbol name) const {
  auto found = by_name_.find(name.index);
  return found == by_name_.end() ? DomainId{} : found->second;
}

std::int64_t DomainTree::tier_of_name(Symbol tier_name, bool& known) const {
  auto found = tier_by_name_.find(tier_name.index);
  known = found != tier_by_name_.end();
  return known ? found->second : 0;
}

DomainId DomainTree::common(DomainId a, DomainId b) const {
  if (!a.is_set()) return b;
  if (!b.is_set()) return a;
  while (!contains(b, a)) b = domains_[b.index].parent;
  return b;
}

const NodeSet& DomainTree::set_of(DomainId id) const {
  const Domain& domain = domains_[id.index];
  if (domain.node_set.words().empty() && rows_ > 0) {
    domain.node_set.resize(rows_);
    for (const std::uint32_t node : domain.nodes) domain.node_set.add(node);
  }
  return domain.node_set;
}

std::vector<HyperNodes::Member> HyperNodes::members_from(const api::Json& spec, Symbols& symbols) {
  std::vector<Member> out;
  for (const api::Json& item : spec["members"].items()) {
    const api::Json& selector = item["selector"];
    const bool inner = item["type"].as_string() == "HyperNode";
    // Only exact names count among HyperNode members; where several selectors stand, their members are added up.
    if (selector["exactMatch"].is_object()) {
      Member member;
      member.kind = inner ? Member::Kind::kHyperNode : Member::Kind::kNode;
      member.name = selector["exactMatch"]["name"].str();
      if (!member.name.empty()) out.push_back(std::move(member));
    }
    if (inner) continue;
    if (selector["regexMatch"].is_object()) {
      Member member;
      member.kind = Member::Kind::kNodePattern;
      member.pattern = api::Pattern::small(selector["regexMatch"]["pattern"].as_string());
      if (member.pattern->is_valid()) out.push_back(std::move(member));
    }
    if (selector["labelMatch"].is_object()) {
      Member member;
      member.kind = Member::Kind::kNodeLabels;
      member.labels = label_selector_from(selector["labelMatch"], symbols);
      if (member.labels.present && !member.labels.is_empty()) out.push_back(std::move(member));
    }
  }
  return out;
}

bool HyperNodes::set(std::string_view name, const api::Json& object) {
  const api::Json& spec = object["spec"];
  std::string text = spec.dump();
  Entry& entry = by_name_[std::string(name)];
  if (!entry.text.empty() && entry.text == text) return false;
  entry.text = std::move(text);
  entry.tier = std::clamp<std::int64_t>(spec["tier"].as_int(), 0, kTierMax);
  entry.tier_name = spec["tierName"].as_string().empty() ? Symbol{} : symbols_.intern(spec["tierName"].as_string());
  entry.members = members_from(spec, symbols_);
  stale_ = true;
  ++object_changes_;
  return true;
}

bool HyperNodes::remove(std::string_view name) {
  auto found = by_name_.find(name);
  if (found == by_name_.end()) return false;
  by_name_.erase(found);
  stale_ = true;
  ++object_changes_;
  return true;
}

void HyperNodes::node_changed(NodeId node) {
  stale_ = true;
  if (!by_name_.empty()) changed_nodes_.push_back(node);
}

bool HyperNodes::matches(const Member& member, NodeId node) const {
  if (!nodes_.known().has(node.index)) return false;
  if (member.kind == Member::Kind::kNodePattern) return member.pattern->matches(nodes_[node].name);
  return member.labels.matches(nodes_[node].labels, symbols_);
}

void HyperNodes::refresh_matches() {
  for (auto& [name, entry] : by_name_) {
    for (Member& member : entry.members) {
      if (member.kind != Member::Kind::kNodePattern && member.kind != Member::Kind::kNodeLabels) continue;
      if (member.matched.words().size() < nodes_.known().words().size())
        member.matched.words().resize(nodes_.known().words().size());
      const auto judge = [&](NodeId node) {
        if (matches(member, node))
          member.matched.add(node.index);
        else
          member.matched.remove(node.index);
      };
      if (!member.evaluated) {
        member.matched.clear();
        nodes_.known().for_each([&](std::uint32_t n) { judge(NodeId{n}); });
        member.evaluated = true;
      } else {
        for (const NodeId node : changed_nodes_) judge(node);
      }
    }
  }
  changed_nodes_.clear();
}

// COMPAT(hypernode-conflict): the registry is not ready for as long as the objects contradict one another.
void HyperNodes::find_parents() {
  problem_.clear();
  for (auto& [name, entry] : by_name_) entry.parent.clear();
  std::map<std::string_view, std::string_view> awaited;  // children that are not there yet, and who lists them
  for (auto& [name, entry] : by_name_) {
    for (const Member& member : entry.members) {
      if (member.kind != Member::Kind::kHyperNode) continue;
      auto child = by_name_.find(member.name);
      if (child == by_name_.end()) {
        const auto first = awaited.emplace(member.name, name).first;
        if (first->second != name && problem_.empty()) problem_ = two_parents(member.name, first->second, name);
        continue;  // takes effect once it exists
      }
      if (child->first == name) {
        problem_ = base::format("HyperNode {} is part of a cyclic dependency", name);
      } else if (child->second.parent.empty()) {
        child->second.parent = name;
      } else if (child->second.parent != name && problem_.empty()) {
        problem_ = two_parents(member.name, child->second.parent, name);
      }
    }
  }
  std::size_t walk = 0;
  for (auto& [name, entry] : by_name_) entry.walk = 0;
  for (auto& [name, entry] : by_name_) {
    // Up until the top or an earlier walk; who meets its own steps goes in a circle, which is cut there.
    Entry* at = &entry;
    for (++walk; at->walk == 0 && !at->parent.empty(); at = &by_name_.find(at->parent)->second) at->walk = walk;
    if (at->walk != walk || at->parent.empty()) continue;
    problem_ = base::format("HyperNode {} is part of a cyclic dependency", at->parent);
    at->parent.clear();
  }
}

void HyperNodes::own_nodes(const Entry& entry, std::vector<std::uint32_t>& out) const {
  for (const Member& member : entry.members) {
    if (member.kind == Member::Kind::kNode) {
      const NodeId node = nodes_.find(member.name);
      if (node.is_set() && nodes_.known().has(node.index)) out.push_back(node.index);
    } else if (member.kind != Member::Kind::kHyperNode) {
      member.matched.for_each([&](std::uint32_t n) { out.push_back(n); });
    }
  }
}

// In depth-first order, children by name. The stack is our own: how deep the objects nest is the user's choice.
void HyperNodes::add_domains_below(const std::map<std::string, std::vector<std::string>>& children) {
  struct Step {
    const std::string* name;  // unset: all below `parent` are there
    DomainId parent;
  };
  std::vector<Step> stack;
  const auto push_children = [&](const std::string& of, DomainId parent) {
    stack.push_back({nullptr, parent});
    auto below = children.find(of);
    if (below == children.end()) return;
    for (std::size_t i = below->second.size(); i-- > 0;) stack.push_back({&below->second[i], parent});
  };
  push_children("", kRootDomain);
  while (!stack.empty()) {
    const Step step = stack.back();
    stack.pop_back();
    if (step.name == nullptr) {
      tree_.domains_[step.parent.index].end = static_cast<std::uint32_t>(tree_.domains_.size());
      continue;
    }
    const DomainId id{static_cast<std::uint32_t>(tree_.domains_.size())};
    const Entry& entry = by_name_.find(*step.name)->second;
    Domain& domain = tree_.domains_.emplace_back();
    domain.name = symbols_.intern(*step.name);
    domain.tier = entry.tier;
    domain.parent = step.parent;
    domain.depth = tree_.domains_[step.parent.index].depth + 1;
    own_nodes(entry, domain.nodes);
    tree_.by_name_.emplace(domain.name.index, id);
    push_children(*step.name, id);
  }
}

// From the leaves up: a domain reaches what lies below it and its own nodes.
void HyperNodes::collect_nodes() {
  for (std::size_t i = tree_.domains_.size(); i-- > 0;) {
    Domain& domain = tree_.domains_[i];
    std::sort(domain.nodes.begin(), domain.nodes.end());
    domain.nodes.erase(std::unique(domain.nodes.begin(), domain.nodes.end()), domain.nodes.end());
    if (!domain.nodes.empty()) {
      domain.word_begin = domain.nodes.front() / 64;
      domain.word_end = domain.nodes.back() / 64 + 1;
    }
    if (domain.parent.is_set() && domain.parent != kRootDomain) {
      auto& above = tree_.domains_[domain.parent.index].nodes;
      above.insert(above.end(), domain.nodes.begin(), domain.nodes.end());
    }
  }
}

void HyperNodes::index_nodes() {
  DomainTree& tree = tree_;
  tree.of_node_.assign(nodes_.size(), {});
  tree.leaf_.assign(nodes_.size(), DomainId{});
  for (std::uint32_t i = 0; i < tree.domains_.size(); ++i) {
    for (const std::uint32_t node : tree.domains_[i].nodes) tree.of_node_[node].push_back(DomainId{i});
  }
  for (std::uint32_t node = 0; node < tree.of_node_.size(); ++node) {
    auto& list = tree.of_node_[node];
    std::stable_sort(list.begin(), list.end(), [&](DomainId a, DomainId b) { return tree[a].tier < tree[b].tier; });
    if (!list.empty() && tree[list.front()].tier == tree.tiers_.front()) tree.leaf_[node] = list.front();
  }
}

void HyperNodes::build() {
  refresh_matches();
  find_parents();
  std::map<std::string, std::vector<std::string>> children;
  std::set<std::int64_t> tiers;
  tree_ = DomainTree{};
  for (const auto& [name, entry] : by_name_) {
    children[entry.parent].push_back(name);  // "" is the root
    tiers.insert(entry.tier);
    if (entry.tier_name.is_set()) tree_.tier_by_name_.emplace(entry.tier_name.index, entry.tier);
  }
  const std::int64_t top = tiers.empty() ? 1 : *tiers.rbegin() + 1;
  tiers.insert(top);
  tree_.tiers_.assign(tiers.begin(), tiers.end());
  tree_.rows_ = nodes_.known().words().size() * 64;
  Domain& root = tree_.domains_.emplace_back();
  root.name = symbols_.intern(kRootDomainName);
  root.tier = top;
  tree_.by_name_.emplace(root.name.index, kRootDomain);
  nodes_.known().for_each([&](std::uint32_t n) { root.nodes.push_back(n); });
  add_domains_below(children);
  collect_nodes();
  index_nodes();
}

const DomainTree& HyperNodes::tree() {
  // Node sets are as long as those of the table, also after it has grown for nodes that nobody announced.
  if (!stale_ && tree_.rows_ == nodes_.known().words().size() * 64) return tree_;
  stale_ = false;
  build();
  ++generation_;
  return tree_;
}

}  // namespace scheduler
