// HyperNodes from the ports that a UFM server (NVIDIA's Unified Fabric Manager) knows: which node hangs on which leaf.
#include <algorithm>
#include <numeric>
#include <set>

#include "api/schema/names.h"
#include "base/format.h"
#include "controllers/hypernode/discovery.h"

namespace controllers::hypernode {

using api::Json;

namespace {

// Groups of leaves that share a node: a forest over the leaves, each root a group.
class Groups {
 public:
  explicit Groups(std::size_t leaves) : parent_(leaves) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t root(std::size_t leaf) {
    while (parent_[leaf] != leaf) leaf = parent_[leaf] = parent_[parent_[leaf]];
    return leaf;
  }
  // The first in order stays the root.
  void join(std::size_t a, std::size_t b) {
    a = root(a), b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

using NodesOfLeaf = std::map<std::string, std::set<std::string>>;

std::vector<Found> found_in(const NodesOfLeaf& leaves) {
  Groups groups(leaves.size());
  std::map<std::string_view, std::size_t> first_leaf;  // of each node
  std::size_t index = 0;
  for (const auto& [leaf, nodes] : leaves) {
    for (const std::string& node : nodes)
      if (const auto [slot, is_new] = first_leaf.emplace(node, index); !is_new) groups.join(slot->second, index);
    ++index;
  }
  std::map<std::size_t, std::set<std::string>> members;  // by root, in the order of the first leaf
  index = 0;
  for (const auto& [leaf, nodes] : leaves) members[groups.root(index++)].insert(nodes.begin(), nodes.end());
  std::vector<Found> found;
  Found spine{.name = "spine-hn", .tier = 2};
  for (const auto& [root, nodes] : members) {
    found.push_back({.name = base::format("leaf-hn-{}", found.size()), .members = {nodes.begin(), nodes.end()}});
    spine.members.push_back(found.back().name);
  }
  std::ranges::sort(spine.members);
  if (!found.empty()) found.push_back(std::move(spine));
  return found;
}

}  // namespace

base::Result<std::vector<Found>> discover_by_ports(std::string_view answer, std::size_t& unusable) {
  TRY(const Json ports, api::parse_json(answer));
  if (!ports.is_array()) return base::make_error(base::Code::kInvalid, "the answer is not a list of ports");
  NodesOfLeaf leaves;
  unusable = 0;
  for (const Json& port : ports.items()) {
    if (!port.is_object()) {
      ++unusable;
      continue;
    }
    if (port["description"].as_string().find("Computer") == std::string_view::npos) continue;
    const std::string node = port["system_name"].str(), leaf = port["peer_node_name"].str();
    // A member that no node can be named by would make the server refuse the whole HyperNode.
    if (leaf.empty() || !api::is_dns_subdomain(node)) {
      ++unusable;
      continue;
    }
    leaves[leaf].insert(node);
  }
  return found_in(leaves);
}

}  // namespace controllers::hypernode
