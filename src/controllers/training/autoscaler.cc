// The HorizontalPodAutoscaler of an elastic job that says what its workers follow (training.md 9).
#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "controllers/training/companions.h"
#include "controllers/training/framework.h"

namespace controllers::training {

using api::Json;

namespace {

Json autoscaler_for(const TrainingJob& job) {
  const Json& policy = job.spec()["elasticPolicy"];
  Json spec = Json::object({{"scaleTargetRef", Json::object({{"apiVersion", job.framework->resource.api_version()},
                                                             {"kind", job.framework->kind},
                                                             {"name", job.name}})}});
  spec.set("minReplicas", policy["minReplicas"]);
  spec.set("maxReplicas", policy["maxReplicas"]);
  spec.set("metrics", policy["metrics"]);
  return Json::object({{"apiVersion", kAutoscalers.api_version()},
                       {"kind", "HorizontalPodAutoscaler"},
                       {"metadata", owned_metadata(job, job.name)},
                       {"spec", std::move(spec)}});
}

// The server stores quantities in their canonical form.
bool are_equal_quantities(const Json& a, const Json& b) {
  const auto one = api::Quantity::from_json(a);
  return one && one == api::Quantity::from_json(b);
}

// Whether all that `wanted` says is in `have`, which may have defaults beside it.
bool holds(const Json& have, const Json& wanted) {
  if (wanted.is_object()) {
    for (const Json::Member& one : wanted.members()) {
      const bool is_quantity = one.name() == "value" || one.name() == "averageValue";
      if (is_quantity && are_equal_quantities(have[one.name()], one.value)) continue;
      if (!holds(have[one.name()], one.value)) return false;
    }
    return have.is_object();
  }
  if (!wanted.is_array()) return have == wanted;
  if (have.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!holds(have[i], wanted[i])) return false;
  return true;
}

}  // namespace

// COMPAT(training-autoscaler)
void keep_autoscaler(const Observed& seen, const Options& options, Output& out) {
  const TrainingJob& job = seen.reading->job;
  if (job.spec()["elasticPolicy"]["metrics"].empty()) return remove_autoscaler(seen, out);
  if (!options.autoscalers)
    return out.report_once(
        {"Warning", "FailedCreateHPA",
         "spec.elasticPolicy.metrics has no effect: this cluster serves no autoscaling/v2, so that nothing "
         "changes the number of workers; use kubectl scale"});
  const Json wanted = autoscaler_for(job);
  const Json* have = seen.autoscaler;
  if (!have) {
    Action& action = out.plan().create(kAutoscalers, wanted);
    action.stops_nothing = true;
    action.failure_reason = "FailedCreateHPA";
    action.failure_text = "Error creating: {}";
  } else if (!job.owns(*have)) {
    out.report_once(
        {"Warning", "FailedCreateHPA",
         base::format("HorizontalPodAutoscaler {} exists and does not belong to this job; delete it, or give the "
                      "job another name",
                      job.key(job.name))});
    out.plan().requeue_after(kStrangerPause);
  } else if (!api::is_deleting(*have) && !holds((*have)["spec"], wanted["spec"])) {
    Json patch = Json::array({Json::object({{"op", "replace"}, {"path", "/spec"}, {"value", wanted["spec"]}})});
    Action& action = out.plan().patch(kAutoscalers, *have, client::PatchType::kJson, std::move(patch));
    action.stops_nothing = true;
    action.failure_reason = "FailedUpdateHPA";
    action.failure_text = "Error updating: {}";
  }
}

void remove_autoscaler(const Observed& seen, Output& out) {
  const Json* have = seen.autoscaler;
  if (have && seen.reading->job.owns(*have) && !api::is_deleting(*have)) out.plan().remove(kAutoscalers, *have);
}

}  // namespace controllers::training
