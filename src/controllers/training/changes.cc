// Which changes of pods and jobs are looked at: what a look reads, and nothing else.
#include "controllers/training/changes.h"

#include <initializer_list>
#include <string>
#include <string_view>

#include "api/meta/resource.h"
#include "base/letters.h"
#include "controllers/training/job.h"
#include "controllers/training/pods.h"
#include "controllers/training/verdict.h"

namespace controllers::training {

using api::Json;

namespace {

bool are_equal(const Json& a, const Json& b, std::initializer_list<std::string_view> members) {
  for (const std::string_view member : members)
    if (a[member] != b[member]) return false;
  return true;
}

// A pod that has no phase yet is pending.
std::string_view phase_of(const Json& status) {
  const std::string_view phase = status["phase"].as_string();
  return phase.empty() ? "Pending" : phase;
}

// The pod's conditions do not count if it has statuses of containers.
bool have_equal_trouble(const Json& before, const Json& after) {
  if (!after["containerStatuses"].empty()) return true;
  const Json* a = trouble_of(before);
  const Json* b = trouble_of(after);
  return a && b ? *a == *b : a == b;
}

bool has_master(const Framework& framework, const Json& job) {
  for (const Json::Member& member : job["spec"][framework.replica_map].members()) {
    const std::string type = base::lower(member.name());
    if (type == "master" || type == "chief") return true;
  }
  return false;
}

bool has_restarted(const Json& status) {
  for (const char* list : {"containerStatuses", "initContainerStatuses"})
    for (const Json& one : status[list].items())
      if (one["restartCount"].as_int() > 0) return true;
  return false;
}

// The fields that limits, troubles and events are about stayed as they were.
bool is_healthy(const Json& status) {
  for (const Json& one : status["containerStatuses"].items()) {
    const Json& state = one["state"];
    if (state["waiting"].is_object() || state["terminated"]["exitCode"].as_int() != 0) return false;
  }
  return !has_restarted(status);
}

}  // namespace

bool may_be_owned(const Framework& framework, const Json& object) {
  const std::string_view kind = api::controller_of(object)["kind"].as_string();
  return kind == framework.kind || (framework.launcher_is_a_job && kind == "Job");
}

bool is_news_to_its_job(const Framework& framework, const Json& before, const Json& after) {
  if (!may_be_owned(framework, before) && !may_be_owned(framework, after)) return false;
  const Json& a = before["status"];
  const Json& b = after["status"];
  if (phase_of(a) != phase_of(b)) return true;
  if (!are_equal(before["metadata"], after["metadata"], {"uid", "deletionTimestamp", "labels", "ownerReferences"}))
    return true;
  if (!are_equal(a, b, {"reason", "containerStatuses", "initContainerStatuses"})) return true;
  // A launcher may wait until its workers are ready.
  if (framework.launcher_is_a_job) return a["conditions"] != b["conditions"];
  return !have_equal_trouble(a, b);
}

bool is_settled(const Json& job, const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  const bool is_well = phase == "Running" || phase == "Succeeded";
  return is_well && !api::is_deleting(pod) && Conditions(job["status"]["conditions"], {}).is_finished();
}

bool changes_only_counts(const Framework& framework, const Json& job, const Json& before, const Json& after) {
  // A launcher is told which of its workers run.
  if (framework.objects) return false;
  if (!are_equal(before["metadata"], after["metadata"], {"uid", "deletionTimestamp", "labels", "ownerReferences"}))
    return false;
  const Json& status = after["status"];
  if (phase_of(before["status"]) == phase_of(status) || !is_healthy(status)) return false;
  const Conditions conditions(job["status"]["conditions"], {});
  if (!conditions.is_true("Running")) return false;
  if (phase_of(status) == "Running") return true;
  // A worker's success is one where somebody else's counts.
  return phase_of(status) == "Succeeded" && has_master(framework, job) && api::label_of(after, kJobRole) != "master";
}

bool is_news_to_itself(const Json& before, const Json& after) {
  const Json& a = before["metadata"];
  const Json& b = after["metadata"];
  if (!are_equal(a, b, {"uid", "deletionTimestamp", "annotations", "ownerReferences"})) return true;
  if (!are_equal(before["status"], after["status"], {"conditions", "startTime", "completionTime", "restartCount"}))
    return true;
  const bool is_same_generation = a["generation"].is_number() && a["generation"] == b["generation"];
  return !is_same_generation && before["spec"] != after["spec"];
}

}  // namespace controllers::training
