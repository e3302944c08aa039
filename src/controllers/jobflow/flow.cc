// Nodes from the spec, and those that wait for each other or for nobody.
#include "controllers/jobflow/flow.h"

#include "api/flow_graph.h"
#include "api/meta/resource.h"
#include "base/format.h"

namespace controllers::jobflow {

using api::Json;

namespace {

bool is_empty_probe(const Json& probe) {
  return probe["httpGetList"].empty() && probe["tcpSocketList"].empty() && probe["taskStatusList"].empty();
}

void mark_impossible(std::vector<Node>& nodes) {
  std::vector<api::FlowNode> graph;
  for (const Node& node : nodes) graph.push_back({node.name, node.targets});
  const std::vector<api::FlowStanding> standings = api::standings_of(graph);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::optional<std::string>& unknown = standings[i].unknown_target;
    if (standings[i].can_start) continue;
    nodes[i].impossible =
        unknown ? base::format("flow {} waits for {}, which is not a flow", nodes[i].name, *unknown)
                : base::format("flow {} waits for flows that can never complete before it", nodes[i].name);
  }
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
