// A Deployment's status: counts, and whether it is available, progressing, stuck.
#include <algorithm>
#include <limits>

#include "base/format.h"
#include "controllers/framework/counts.h"
#include "controllers/workloads/deployment_look.h"

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

}  // namespace

Json Rollout::counts() const {
  Json status = deployment_["status"].is_object() ? deployment_["status"] : Json::object();
  std::int64_t replicas = 0, ready = 0, available = 0, terminating = 0;
  for (const Json* set : sets_) {
    const Json& seen = (*set)["status"];
    replicas += seen["replicas"].as_int();
    ready += seen["readyReplicas"].as_int();
    available += seen["availableReplicas"].as_int();
    terminating += seen["terminatingReplicas"].as_int();
  }
  status.set("observedGeneration", deployment_["metadata"]["generation"]);
  set_count(status, "replicas", replicas);
  set_count(status, "updatedReplicas", newest_ ? (*newest_)["status"]["replicas"].as_int() : 0);
  set_count(status, "readyReplicas", ready);
  set_count(status, "availableReplicas", available);
  set_count(status, "unavailableReplicas", std::max<std::int64_t>(0, total() - available));
  status.set("terminatingReplicas", fit_count(terminating));
  if (collisions_.as_int() > 0) status.set("collisionCount", collisions_);
  return status;
}

bool Rollout::is_complete() const {
  const Json status = counts();
  return status["updatedReplicas"].as_int() == replicas_ && status["replicas"].as_int() == replicas_ &&
         status["availableReplicas"].as_int() == replicas_;
}

void Rollout::note_pause() {
  const Json& deadline = deployment_["spec"]["progressDeadlineSeconds"];
  if (deadline.is_null() || deadline.as_int() == std::numeric_limits<std::int32_t>::max()) return;
  const Json& before = find_condition(conditions_, kProgressing);
  if (before["reason"].as_string() == kTimedOut) return;
  const bool paused = deployment_["spec"]["paused"].as_bool();
  const bool was_paused = before["reason"].as_string() == "DeploymentPaused";
  if (paused && !was_paused)
    set_condition(conditions_, turn_.now, kProgressing, "Unknown", "DeploymentPaused", "Deployment is paused");
  if (!paused && was_paused)
    set_condition(conditions_, turn_.now, kProgressing, "Unknown", "DeploymentResumed", "Deployment is resumed");
}

void Rollout::note_availability(const Json& status) {
  if (status["availableReplicas"].as_int() >= replicas_ - bounds_.unavailable)
    set_condition(conditions_, turn_.now, "Available", "True", "MinimumReplicasAvailable",
                  "Deployment has minimum availability.");
  else
    set_condition(conditions_, turn_.now, "Available", "False", "MinimumReplicasUnavailable",
                  "Deployment does not have minimum availability.");
}

void Rollout::note_progress(const Json& status) {
  const Json before = find_condition(conditions_, kProgressing);
  if (!made_.empty())
    return set_condition(conditions_, turn_.now, kProgressing, "True", "NewReplicaSetCreated",
                         base::format("Created new replica set \"{}\"", made_));
  const std::string name(newest_ ? api::name_of(*newest_) : api::name_of(deployment_));
  const std::string_view what = newest_ ? "ReplicaSet" : "Deployment";
  if (newest_ && before.is_null())
    set_condition(conditions_, turn_.now, kProgressing, "True", "FoundNewReplicaSet",
                  base::format("Found new replica set \"{}\"", name));
  // A finished rollout stays finished while pods come and go.
  if (before["reason"].as_string() == kDone && status["replicas"].as_int() == status["updatedReplicas"].as_int())
    return;
  if (is_complete() && patches_.empty())
    return set_condition(conditions_, turn_.now, kProgressing, "True", kDone,
                         base::format("{} \"{}\" has successfully progressed.", what, name));
  const Json& seen = deployment_["status"];
  const auto count = [](const Json& of, const char* field) { return of[field].as_int(); };
  const bool moves = count(status, "updatedReplicas") > count(seen, "updatedReplicas") ||
                     count(status, "replicas") - count(status, "updatedReplicas") <
                         count(seen, "replicas") - count(seen, "updatedReplicas") ||
                     count(status, "readyReplicas") > count(seen, "readyReplicas") ||
                     count(status, "availableReplicas") > count(seen, "availableReplicas");
  if (!moves) return note_deadline();
  const Json last = find_condition(conditions_, kProgressing);
  drop_condition(conditions_, kProgressing);
  set_condition(conditions_, turn_.now, kProgressing, "True", "ReplicaSetUpdated",
                base::format("{} \"{}\" is progressing.", what, name));
  if (last["status"].as_string() == "True")
    conditions_.edit(conditions_.size() - 1).set("lastTransitionTime", last["lastTransitionTime"]);
}

void Rollout::note_deadline() {
  const Json now = find_condition(conditions_, kProgressing);
  if (now.is_null() || now["reason"].as_string() == kTimedOut || now["reason"].as_string() == kDone) return;
  const base::Time ends =
      time_in(now["lastUpdateTime"]) + base::seconds(deployment_["spec"]["progressDeadlineSeconds"].as_int() + 1);
  if (ends > turn_.now) return plan_.requeue_after(ends - turn_.now);
  const std::string name(newest_ ? api::name_of(*newest_) : api::name_of(deployment_));
  set_condition(conditions_, turn_.now, kProgressing, "False", kTimedOut,
                base::format("{} \"{}\" has timed out progressing.", newest_ ? "ReplicaSet" : "Deployment", name));
}

// The newest set's trouble first.
void Rollout::note_replica_failure() {
  const Json* failure = nullptr;
  if (newest_ && !condition_of((*newest_)["status"], "ReplicaFailure").is_null())
    failure = &condition_of((*newest_)["status"], "ReplicaFailure");
  for (const Json* set : old_)
    if (const Json& one = condition_of((*set)["status"], "ReplicaFailure"); !failure && !one.is_null()) failure = &one;
  if (!failure) return drop_condition(conditions_, "ReplicaFailure");
  set_condition(conditions_, turn_.now, "ReplicaFailure", (*failure)["status"].as_string(),
                (*failure)["reason"].as_string(), (*failure)["message"].str());
}

void Rollout::say() {
  write_sets();
  Json status = counts();
  const Json& deadline = deployment_["spec"]["progressDeadlineSeconds"];
  const bool has_deadline = !deadline.is_null() && deadline.as_int() != std::numeric_limits<std::int32_t>::max();
  note_availability(status);
  if (!has_deadline)
    drop_condition(conditions_, kProgressing);
  else if (!deployment_["spec"]["paused"].as_bool() && !api::is_deleting(deployment_))
    note_progress(status);
  note_replica_failure();
  status.erase("conditions");
  if (!conditions_.empty()) status.set("conditions", conditions_);
  if (changes_itself_) return;  // the write of the revision wakes us, and brings the version to write upon
  plan_.begin_stage();
  write_status(plan_, kDeployments, deployment_, std::move(status), turn_);
}

}  // namespace controllers::workloads
