// Nodes from the spec, and those that wait for each other or for nobody.
#include "controllers/jobflow/flow.h"

#include <algorithm>
#include <set>

#include "api/resource.h"
#include "base/format.h"

namespace controllers::jobflow {

using api::Json;

namespace {

bool is_empty_probe(const Json& probe) {
  return probe["httpGetList"].empty() && probe["tcpSocketList"].empty() && probe["taskStatusList"].empty();
}

// Takes away those whose targets are all taken away; what is left waits in a circle, or for one that does.
void mark_impossible(std::vector<Node>& nodes) {
  std::map<std::string, Node*> left;
  for (Node& node : nodes) left[node.name] = &node;
  for (Node& node : nodes)
    for (const std::string& target : node.targets)
      if (!left.contains(target))
        node.impossible = base::format("flow {} waits for {}, which is no flow", node.name, target);
  for (bool moved = true; moved;) {
    moved = false;
    for (auto it = left.begin(); it != left.end();) {
      const Node& node = *it->second;
      const bool free = node.impossible.empty() &&
                        std::ranges::none_of(node.targets, [&](const std::string& one) { return left.contains(one); });
      moved = moved || free;
      it = free ? left.erase(it) : std::next(it);
    }
  }
  for (auto& [name, node] : left)
    if (node->impossible.empty())
      node->impossible = base::format("flow {} waits for flows that can never complete before it", name);
}

}  // namespace

std::vector<Node> read_nodes(const Json& flow) {
  std::vector<Node> nodes;
  std::map<std::string, std::size_t> places;
  for (const Json& one : flow["spec"]["flows"].items()) {
    Node node{.name = one["name"].str()};
    node.job = base::format("{}-{}", api::name_of(flow), node.name);
    const Json& before = one["dependsOn"];
    for (const Json& target : before["targets"].items()) node.targets.push_back(target.str());
    if (!is_empty_probe(before["probe"])) node.probe = before["probe"];
    node.patch = one["patch"]["jobSpec"];
    const auto [place, is_new] = places.emplace(node.name, nodes.size());
    if (is_new)
      nodes.push_back(std::move(node));
    else
      nodes[place->second] = std::move(node);
  }
  mark_impossible(nodes);
  return nodes;
}

Keys template_keys(const Json& flow) {
  Keys keys;
  for (const Json& one : flow["spec"]["flows"].items())
    keys.push_back(base::format("{}/{}", api::namespace_of(flow), one["name"].as_string()));
  return keys;
}

Keys job_keys(const Json& flow) {
  Keys keys;
  for (const Json& one : flow["spec"]["flows"].items())
    keys.push_back(base::format("{}/{}-{}", api::namespace_of(flow), api::name_of(flow), one["name"].as_string()));
  return keys;
}

}  // namespace controllers::jobflow
