// Nodes that are over and whose pod is still there, by the strategy.
#include "pipelines/argo/pod_gc.h"

#include <algorithm>
#include <string>

#include "base/time.h"

namespace pipelines::argo {

using api::Json;

namespace {

constexpr std::string_view kStrategies[] = {"OnPodCompletion", "OnPodSuccess", "OnWorkflowCompletion",
                                            "OnWorkflowSuccess"};
constexpr base::Duration kDelay = base::seconds(5);  // Argo's own

base::Duration delay_of(const Json& spec) {
  return base::parse_go_duration(spec["deleteDelayDuration"].as_string()).value_or(kDelay);
}

}  // namespace

void check_pod_gc(const Json& spec, const std::string& path, api::FieldErrors& errors) {
  if (spec.has("strategy")) errors.one_of(api::in(path, "strategy"), spec["strategy"].as_string(), kStrategies);
  const Json& delay = spec["deleteDelayDuration"];
  if (!delay.is_null() && !base::parse_go_duration(delay.as_string()))
    errors.invalid(api::in(path, "deleteDelayDuration"), delay, "is not a length of time, such as 30s");
}

void collect_pods(const WorkflowLook& look, WorkflowDecision& decision) {
  const Json& spec = look.workflow["spec"]["podGC"];
  const std::string_view strategy = spec["strategy"].as_string();
  if (strategy.empty()) return;
  const Json& finished = decision.status["finishedAt"];
  const bool is_of_workflow = strategy.starts_with("OnWorkflow");
  const bool wants_success = strategy.ends_with("Success");
  if (is_of_workflow && finished.as_string().empty()) return;
  if (is_of_workflow && wants_success && decision.status["phase"].as_string() != "Succeeded") return;
  for (const auto& [id, node] : decision.nodes) {
    if (node.type != "Pod" || !node.is_over() || look.pod(id) == nullptr) continue;
    if (!is_of_workflow && wants_success && node.phase != Phase::kSucceeded) continue;
    const base::Time end =
        is_of_workflow ? base::parse_rfc3339(finished.as_string()).value_or(look.now) : node.finished;
    const base::Time due = end + delay_of(spec);
    if (look.now >= due)
      decision.ended_pods.push_back(id);
    else
      decision.look_again = decision.look_again ? std::min(*decision.look_again, due - look.now) : due - look.now;
  }
}

}  // namespace pipelines::argo
