// The kill procedure: pods that must go are marked, deleted and counted; a full kill also drops the group.
#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/job/ending.h"
#include "controllers/job/plugins/plugin.h"
#include "controllers/job/pods.h"
#include "controllers/job/status.h"
#include "controllers/job/step.h"
#include "controllers/job/viewed.h"

namespace controllers::job {

using api::Json;

namespace {

struct Victims {
  std::vector<const Json*> pods;
  Counts counts;         // terminating: the victims too; the rest by phase
  bool nothing = false;  // the target does not exist
};

bool is_over(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace

bool is_target(const Json& pod, const Request& request) {
  if (request.action == "RestartTask") return !request.task.empty() && task_of(pod) == request.task;
  if (request.action == "RestartPod") return !request.pod.empty() && api::name_of(pod) == request.pod;
  return !request.partition.empty() && task_of(pod) == request.task &&
         api::label_of(pod, "volcano.sh/partition-id") == request.partition;
}

namespace {

Victims choose(const Job& job, const Observed& seen, const Move& move, const Request& request) {
  Victims victims;
  const bool targeted = move.operation == Operation::kKillTarget;
  // The last attempt leaves its finished pods for inspection. COMPAT(last-attempt): a job that is being restarted has
  // counted its attempt already; pods kept then would stand in the way of those that replace them.
  const std::int64_t attempts = job.retry_count + (move.is_attempt && spends_attempt(request) ? 1 : 0);
  const bool is_last = attempts >= job.max_retry && (move.is_attempt || job.phase == Phase::kRestarting);
  const bool soft = move.operation == Operation::kKillSoft || is_last;
  // COMPAT(resume): a job that goes on does its failed pods again; what succeeded stays done.
  const bool goes_on = move.enter == Phase::kRestarting && !is_last;
  bool hit = false;
  for (const Json* pod : seen.pods) {
    if (api::is_deleting(*pod)) {
      hit = hit || (targeted && is_target(*pod, request));
      ++victims.counts.terminating;
      continue;
    }
    const bool kept = soft && is_over(*pod) && !(goes_on && (*pod)["status"]["phase"].as_string() == "Failed");
    const bool meant = !targeted || is_target(*pod, request);
    hit = hit || meant;
    if (meant && !kept) {
      victims.pods.push_back(pod);
      ++victims.counts.terminating;
    } else {
      victims.counts.add(task_of(*pod), (*pod)["status"]["phase"].as_string());
    }
  }
  victims.nothing = targeted && request.action == "RestartPartition" && !hit;
  return victims;
}

// A finished job's results stay on record even when its pods are cleaned up later.
void keep_results(const Json& status, Counts& counts) {
  counts.succeeded = std::max(counts.succeeded, status["succeeded"].as_int());
  counts.failed = std::max(counts.failed, status["failed"].as_int());
  for (const Json::Member& task : status["taskStatusCount"].members())
    for (const char* phase : {"Succeeded", "Failed"})
      if (const std::int64_t before = task.value["phase"][phase].as_int(); before > 0) {
        std::int64_t& now = counts.by_task[std::string(task.name())][phase];
        now = std::max(now, before);
      }
}

// All are marked before the first goes, for a process that ends in between. One whose write is refused, as by
// somebody's webhook, keeps no other alive.
void delete_pods(const Victims& victims, Plan& plan) {
  plan.begin_stage("FailedDelete", "Error deleting pods: [{}]");
  const Json mark = Json::object({{"metadata", Json::object({{"annotations", Json::object({{kOutOfSync, "true"}})}})}});
  for (const Json* pod : victims.pods) {
    if ((*pod)["metadata"]["annotations"].has(kOutOfSync)) continue;
    Action& action = plan.patch(api::resources::kPods, *pod, client::PatchType::kMerge, mark);
    action.missing_is_fine = true;
    action.fate = api::name_of(*pod);
  }
  plan.begin_stage("FailedDelete", "Error deleting pods: [{}]");
  for (const Json* pod : victims.pods) plan.remove(api::resources::kPods, *pod).fate = api::name_of(*pod);
}

// Their names are of the job's author's choice, so somebody else's object may have one: it stays.
void delete_plugin_objects(const Job& job, const FindTaken& find_taken, Json& controlled, Plan& plan) {
  Json kept = Json::object();
  bool marked = false;
  for (const Json::Member& member : controlled.members()) {
    if (member.name().substr(0, 7) == "plugin-")
      marked = true;
    else
      kept.set(member.name(), member.value);
  }
  if (!marked) return;
  controlled = std::move(kept);
  const auto objects = plugin_objects(job);
  if (!objects.ok()) return;
  plan.begin_stage();
  for (const PluginObject& object : *objects) {
    const std::string_view name = api::name_of(object.body);
    if (!is_viewed(object)) {
      // The server is asked whose it is: the uid is what its controller must have.
      plan.remove_by_name(object.resource, api::kind_of(object.body), job.ns, name).body = Json(job.uid);
      continue;
    }
    const Json* have = find_taken(object.resource, name);
    if (have && api::controller_of(*have)["uid"].as_string() == job.uid) plan.remove(object.resource, *have);
  }
}

}  // namespace

void kill(const Job& job, const Observed& seen, const FindTaken& find_taken, const Move& move, const Request& request,
          const Turn& turn, Plan& plan) {
  const bool targeted = move.operation == Operation::kKillTarget;
  Victims victims = choose(job, seen, move, request);
  // COMPAT(partition-gone): nobody is left to restart; those that are missing are made again.
  if (victims.nothing) return plan.requeue_after({});
  const Json& old_status = job.object["status"];
  const Phase phase = move.enter != Phase::kNone ? move.enter : judge(move.rule, job, victims.counts);
  const bool entered = phase != job.phase;
  if (is_finished(job.phase) && !entered) keep_results(old_status, victims.counts);

  // The cause of the end stays to be read.
  std::string message = old_status["state"]["message"].str();
  if (entered && phase == Phase::kFailed)
    message = why_given_up(job, message);
  else if (entered && move.enter != Phase::kNone)
    message = why_acted(request, seen.pods);

  StatusEdit edit{.counts = victims.counts,
                  .phase = phase,
                  .version = job.version,
                  // A job that is begun anew by its owner has all its attempts again.
                  .retry_count = is_finished(job.phase) && entered
                                     ? 0
                                     : job.retry_count + (move.is_attempt && spends_attempt(request) ? 1 : 0),
                  .min_available = old_status["minAvailable"].as_int(),
                  .controlled_resources = old_status["controlledResources"],
                  .message = std::move(message)};
  // COMPAT(version): counted with the write that ends the pass, and only if the pass did something. The pass that
  // upstream makes in the state it just reached has nothing left to do; it is counted at once, so the number a
  // finished job shows is the same, and a restart adds none.
  const bool did_something = entered || !victims.pods.empty() || seen.group != nullptr;
  const bool comes_to_rest = entered && (is_finished(phase) || phase == Phase::kAborted);
  if (!targeted && did_something) edit.version += comes_to_rest ? 2 : 1;
  delete_pods(victims, plan);
  // COMPAT(targeted-restart): a part that restarts leaves the job's hosts, services and keys alone.
  if (!targeted) delete_plugin_objects(job, find_taken, edit.controlled_resources, plan);

  Json status = with_edit(old_status, edit);
  if (entered) stamp(status, phase, turn.now);
  if (did_something || !victims.pods.empty()) {
    const auto since = base::parse_rfc3339(status["state"]["lastTransitionTime"].as_string());
    base::Time until = entered ? turn.now : since.value_or(turn.now);
    // Upstream's last pass reads the time back from the status, which has whole seconds.
    if (comes_to_rest) until = base::Time{} + base::seconds((until - base::Time{}).ns / base::seconds(1).ns);
    status.set("runningDuration", base::format_go_duration(until - job.created));
  } else if (old_status.has("runningDuration")) {
    status.set("runningDuration", old_status["runningDuration"]);
  }
  const bool counts_only = differ_in_counts_only(old_status, status);
  if (status != old_status && !(counts_only && counts_wait(turn, plan))) {
    plan.begin_stage();
    write_status(job, std::move(status), counts_only ? client::Urgency::kCounts : client::Urgency::kPhase, plan)
        .missing_is_fine = true;
  }
  if (!targeted && seen.group) {
    plan.begin_stage();
    plan.remove(api::resources::kPodGroups, *seen.group);
  }
}

}  // namespace controllers::job
