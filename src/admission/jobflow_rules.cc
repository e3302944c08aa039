// JobFlows: the flows and what they depend on form a directed acyclic graph (webhooks.md 11).
#include <map>
#include <set>

#include "admission/rules.h"
#include "api/flow_graph.h"
#include "base/format.h"

namespace admission {

AdmissionAnswer check_jobflow(const AdmissionRequest& request) {
  if (request.operation != api::Operation::kCreate && request.operation != api::Operation::kUpdate)
    return refuse("expect operation to be 'CREATE' or 'UPDATE'");
  std::map<std::string, std::set<std::string>> waits_for;  // of two flows with one name the last one counts
  for (const Json& flow : request.object["spec"]["flows"].items()) {
    std::set<std::string> targets;
    for (const Json& target : flow["dependsOn"]["targets"].items()) targets.insert(target.str());
    waits_for[flow["name"].str()] = std::move(targets);
  }
  std::vector<api::FlowNode> nodes;
  for (const auto& [flow, targets] : waits_for) nodes.push_back({flow, {targets.begin(), targets.end()}});
  const std::vector<api::FlowStanding> standings = api::standings_of(nodes);
  for (const api::FlowStanding& one : standings)
    if (one.unknown_target) return refuse("jobflow Flow is not DAG: vertex is not defined: " + *one.unknown_target);
  for (const api::FlowStanding& one : standings)
    if (!one.can_start) return refuse("jobflow Flow is not DAG");
  return {};
}

}  // namespace admission
