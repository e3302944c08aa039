// PodGroups: the namespace's queue, and whether the queue takes them (webhooks.md 8).
#include "admission/rules/names.h"
#include "admission/rules/rules.h"
#include "admission/rules/vocabulary.h"
#include "api/meta/resource.h"
#include "base/format.h"

namespace admission {

AdmissionAnswer default_podgroup(const AdmissionRequest& request, const ObjectReader& objects) {
  if (request.operation != api::Operation::kCreate)
    return refuse(base::format("invalid operation `{}`, expect operation to be `CREATE`", word(request.operation)));
  if (request.object["spec"]["queue"].as_string() != "default") return {};
  const std::string ns = request.ns.empty() ? std::string(api::namespace_of(request.object)) : request.ns;
  const auto space = objects.find(api::resources::kNamespaces, "", ns);
  if (!space) return {};
  const Json* queue = (*space)["metadata"]["annotations"].find(kNamespaceQueue);
  if (!queue) return {};
  Json group = request.object;
  group.edit("spec").set("queue", *queue);
  return changed(std::move(group));
}

namespace {

// Why the queue takes no group; empty: it takes them.
std::string problem_of_queue(const std::string& name, const ObjectReader& objects) {
  const auto queue = objects.find(api::resources::kQueues, "", name);
  if (!queue) return "unable to find queue: " + queue_not_found(name);
  const std::string state = (*queue)["status"]["state"].str();
  // COMPAT(empty-queue-state)
  if (state.empty() || state == "Open") return {};
  return base::format("can only submit PodGroup to queue with state `Open`, queue `{}` status is `{}`.", name, state);
}

// A group that is there already may name another queue that is open.
AdmissionAnswer check_move(const AdmissionRequest& request, const ObjectReader& objects) {
  const std::string name = request.object["spec"]["queue"].str();
  if (name.empty() || name == request.old_object["spec"]["queue"].as_string()) return {};
  const std::string problem = problem_of_queue(name, objects);
  return problem.empty() ? AdmissionAnswer{} : refuse(problem);
}

}  // namespace

AdmissionAnswer check_podgroup(const AdmissionRequest& request, const ObjectReader& objects) {
  if (request.operation == api::Operation::kUpdate) return check_move(request, objects);
  if (request.operation != api::Operation::kCreate)
    return refuse(base::format("unsupported operation {}", word(request.operation)));
  const Json& spec = request.object["spec"];
  std::vector<std::string> problems;
  if (const std::string name = spec["queue"].str(); !name.empty()) {
    if (std::string problem = problem_of_queue(name, objects); !problem.empty()) problems.push_back(std::move(problem));
  }
  constexpr std::string_view kTiers =
      "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously.";
  std::string topology;
  if (has_both_tiers(spec["networkTopology"])) topology = kTiers;
  for (const Json& policy : spec["subGroupPolicy"].items()) {
    if (!has_both_tiers(policy["networkTopology"])) continue;
    if (!topology.empty()) topology += ' ';
    topology += base::format("in subGroupPolicy '{}': {}", policy["name"].as_string(), kTiers);
    break;
  }
  if (!topology.empty()) problems.push_back(std::move(topology));
  return problems.empty() ? AdmissionAnswer{} : refuse(join(problems, "; "));
}

}  // namespace admission
