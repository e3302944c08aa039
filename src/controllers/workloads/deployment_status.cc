// A Deployment's status: counts, and whether it is available, progressing, stuck.
#include <algorithm>
#include <limits>

#include "base/format.h"
#include "controllers/framework/counts.h"
#include "controllers/workloads/deployment_state.h"

namespace controllers::workloads {

using api::Json;

namespace {

constexpr std::string_view kProgressing = "Progressing";
constexpr std::string_view kDone = "NewReplicaSetAvailable";
constexpr std::string_view kTimedOut = "ProgressDeadlineExceeded";

const Json& find_condition(const Json& conditions, std::string_view type) {
  static const Json none;
  for (const Json& one : conditions.items())
    if (one["type"].as_string() == type) return one;
  return none;
}

void drop_condition(Json& conditions, std::string_view type) {
  for (std::size_t i = 0; i < conditions.size(); ++i)
    if (conditions[i]["type"].as_string() == type) return conditions.erase_at(i);
}

void set_condition(Json& conditions, base::Time at, std::string_view type, std::string_view status,
                   std::string_view reason, std::string message) {
  const Json before = find_condition(conditions, type);
  if (before["status"].as_string() == status && before["reason"].as_string() == reason &&
      before["message"].as_string() == message)
    return;
  const std::string now = base::format_rfc3339(at);
  const bool same = before["status"].as_string() == status;
  drop_condition(conditions, type);
  conditions.push_back(Json::object({{"type", type},
                                     {"status", status},
                                     {"lastUpdateTime", now},
                                     {"lastTransitionTime", same ? before["lastTransitionTime"] : Json(now)},
                                     {"reason", reason},
                                     {"message", std::move(message)}}));
}

Json counts(const Rollout& at, const RolloutDraft& draft) {
  Json status = at.deployment["status"].is_object() ? at.deployment["status"] : Json::object();
  std::int64_t replicas = 0, ready = 0, available = 0, terminating = 0;
  for (const Json* set : at.sets) {
    const Json& seen = (*set)["status"];
    replicas += seen["replicas"].as_int();
    ready += seen["readyReplicas"].as_int();
    available += seen["availableReplicas"].as_int();
    terminating += seen["terminatingReplicas"].as_int();
  }
  status.set("observedGeneration", at.deployment["metadata"]["generation"]);
  set_count(status, "replicas", replicas);
  set_count(status, "updatedReplicas", at.newest ? (*at.newest)["status"]["replicas"].as_int() : 0);
  set_count(status, "readyReplicas", ready);
  set_count(status, "availableReplicas", available);
  set_count(status, "unavailableReplicas", std::max<std::int64_t>(0, total(at) - available));
  status.set("terminatingReplicas", fit_count(terminating));
  if (draft.collisions.as_int() > 0) status.set("collisionCount", draft.collisions);
  return status;
}

}  // namespace

bool is_complete(const Rollout& at, const RolloutDraft& draft) {
  const Json status = counts(at, draft);
  return status["updatedReplicas"].as_int() == at.replicas && status["replicas"].as_int() == at.replicas &&
         status["availableReplicas"].as_int() == at.replicas;
}

void record_pause(const Rollout& at, RolloutDraft& draft) {
  const Json& deadline = at.deployment["spec"]["progressDeadlineSeconds"];
  if (deadline.is_null() || deadline.as_int() == std::numeric_limits<std::int32_t>::max()) return;
  const Json& before = find_condition(draft.conditions, kProgressing);
  if (before["reason"].as_string() == kTimedOut) return;
  const bool paused = at.deployment["spec"]["paused"].as_bool();
  const bool was_paused = before["reason"].as_string() == "DeploymentPaused";
  if (paused && !was_paused)
    set_condition(draft.conditions, at.turn.now, kProgressing, "Unknown", "DeploymentPaused", "Deployment is paused");
  if (!paused && was_paused)
    set_condition(draft.conditions, at.turn.now, kProgressing, "Unknown", "DeploymentResumed", "Deployment is resumed");
}

namespace {

void record_availability(const Rollout& at, const Json& status, RolloutDraft& draft) {
  if (status["availableReplicas"].as_int() >= at.replicas - at.bounds.unavailable)
    set_condition(draft.conditions, at.turn.now, "Available", "True", "MinimumReplicasAvailable",
                  "Deployment has minimum availability.");
  else
    set_condition(draft.conditions, at.turn.now, "Available", "False", "MinimumReplicasUnavailable",
                  "Deployment does not have minimum availability.");
}

void record_deadline(const Rollout& at, RolloutDraft& draft) {
  const Json now = find_condition(draft.conditions, kProgressing);
  if (now.is_null() || now["reason"].as_string() == kTimedOut || now["reason"].as_string() == kDone) return;
  const base::Time ends =
      time_in(now["lastUpdateTime"]) + base::seconds(at.deployment["spec"]["progressDeadlineSeconds"].as_int() + 1);
  if (ends > at.turn.now) return draft.plan.requeue_after(ends - at.turn.now);
  const std::string name(at.newest ? api::name_of(*at.newest) : api::name_of(at.deployment));
  set_condition(draft.conditions, at.turn.now, kProgressing, "False", kTimedOut,
                base::format("{} \"{}\" has timed out progressing.", at.newest ? "ReplicaSet" : "Deployment", name));
}

void record_progress(const Rollout& at, const Json& status, RolloutDraft& draft) {
  const Json before = find_condition(draft.conditions, kProgressing);
  if (!draft.made.empty())
    return set_condition(draft.conditions, at.turn.now, kProgressing, "True", "NewReplicaSetCreated",
                         base::format("Created new replica set \"{}\"", draft.made));
  const std::string name(at.newest ? api::name_of(*at.newest) : api::name_of(at.deployment));
  const std::string_view what = at.newest ? "ReplicaSet" : "Deployment";
  if (at.newest && before.is_null())
    set_condition(draft.conditions, at.turn.now, kProgressing, "True", "FoundNewReplicaSet",
                  base::format("Found new replica set \"{}\"", name));
  // A finished rollout stays finished while pods come and go.
  if (before["reason"].as_string() == kDone && status["replicas"].as_int() == status["updatedReplicas"].as_int())
    return;
  if (is_complete(at, draft) && draft.patches.empty())
    return set_condition(draft.conditions, at.turn.now, kProgressing, "True", kDone,
                         base::format("{} \"{}\" has successfully progressed.", what, name));
  const Json& seen = at.deployment["status"];
  const auto count = [](const Json& of, const char* field) { return of[field].as_int(); };
  const bool moves = count(status, "updatedReplicas") > count(seen, "updatedReplicas") ||
                     count(status, "replicas") - count(status, "updatedReplicas") <
                         count(seen, "replicas") - count(seen, "updatedReplicas") ||
                     count(status, "readyReplicas") > count(seen, "readyReplicas") ||
                     count(status, "availableReplicas") > count(seen, "availableReplicas");
  if (!moves) return record_deadline(at, draft);
  const Json last = find_condition(draft.conditions, kProgressing);
  drop_condition(draft.conditions, kProgressing);
  set_condition(draft.conditions, at.turn.now, kProgressing, "True", "ReplicaSetUpdated",
                base::format("{} \"{}\" is progressing.", what, name));
  if (last["status"].as_string() == "True")
    draft.conditions.edit(draft.conditions.size() - 1).set("lastTransitionTime", last["lastTransitionTime"]);
}

// The newest set's trouble first.
void record_replica_failure(const Rollout& at, RolloutDraft& draft) {
  const Json* failure = nullptr;
  if (at.newest && !condition_of((*at.newest)["status"], "ReplicaFailure").is_null())
    failure = &condition_of((*at.newest)["status"], "ReplicaFailure");
  for (const Json* set : at.old)
    if (const Json& one = condition_of((*set)["status"], "ReplicaFailure"); !failure && !one.is_null()) failure = &one;
  if (!failure) return drop_condition(draft.conditions, "ReplicaFailure");
  set_condition(draft.conditions, at.turn.now, "ReplicaFailure", (*failure)["status"].as_string(),
                (*failure)["reason"].as_string(), (*failure)["message"].str());
}

}  // namespace

void write_status(const Rollout& at, RolloutDraft& draft) {
  Json status = counts(at, draft);
  const Json& deadline = at.deployment["spec"]["progressDeadlineSeconds"];
  const bool has_deadline = !deadline.is_null() && deadline.as_int() != std::numeric_limits<std::int32_t>::max();
  record_availability(at, status, draft);
  if (!has_deadline)
    drop_condition(draft.conditions, kProgressing);
  else if (!at.deployment["spec"]["paused"].as_bool() && !api::is_deleting(at.deployment))
    record_progress(at, status, draft);
  record_replica_failure(at, draft);
  status.erase("conditions");
  if (!draft.conditions.empty()) status.set("conditions", draft.conditions);
  if (draft.writes_itself) return;  // the write of the revision wakes us, and brings the version to write upon
  draft.plan.begin_stage();
  workloads::write_status(draft.plan, kDeployments, at.deployment, std::move(status), at.turn);
}

}  // namespace controllers::workloads
