// JobFlows: the flows and what they depend on form a directed acyclic graph (webhooks.md 11).
#include <map>
#include <set>

#include "admission/rules/rules.h"
#include "api/flow_graph.h"
#include "api/meta/resource.h"
#include "api/path_names.h"
#include "base/format.h"

namespace admission {

namespace {

// The names of the flow's Jobs and of their pods, where the template is there already.
std::string check_job_names(const AdmissionRequest& request, const ObjectReader& objects) {
  const Json& flows = request.object["spec"]["flows"];
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const std::string name = flows[i]["name"].str();
    Json job = Json::object(
        {{"metadata", Json::object({{"name", base::format("{}-{}", api::name_of(request.object), name)}})}});
    const Json& metadata = request.object["metadata"];
    if (api::can_be_a_name(name))
      if (const auto found = objects.find(api::resources::kJobTemplates, metadata["namespace"].as_string(), name)) {
        job.set("spec", (*found)["spec"]);
        if (flows[i]["patch"]["jobSpec"].is_object()) job.set("spec", Json::object());  // who knows what it becomes
        if (job["spec"].is_object()) default_job_spec(job.edit("spec"), "volcano");
      }
    if (std::string problem = check_made_names(job); !problem.empty())
      return base::format("spec.flows[{}]:{}", i, problem);
  }
  return {};
}

}  // namespace

AdmissionAnswer check_jobflow(const AdmissionRequest& request, const ObjectReader& objects) {
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
  // Flows that were stored before the rule was there can still lose their finalizers.
  if (request.operation == api::Operation::kUpdate && request.object["spec"] == request.old_object["spec"]) return {};
  std::string problem = check_job_names(request, objects);
  return problem.empty() ? AdmissionAnswer{} : refuse(std::move(problem));
}

}  // namespace admission
