// One look at each pod, and at the Job that makes a launcher (training.md 4.5, 7.4, 8.5).
#include "controllers/training/findings.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/framework/counts.h"
#include "controllers/training/framework.h"
#include "controllers/training/pods.h"

namespace controllers::training {

using api::Json;

namespace {

Message about_pod(const Json& pod, std::string_view type, std::string_view reason, std::string text) {
  return {std::string(type), std::string(reason), std::move(text), std::string(api::uid_of(pod))};
}

// COMPAT(training-master): whoever gave up says so where it is looked for.
std::optional<Message> wait_for_master(const TrainingJob& job, const Json& pod) {
  for (const Json& one : pod["status"]["initContainerStatuses"].items()) {
    if (one["name"].as_string() != kWaitsForMaster) continue;
    for (const char* state : {"state", "lastState"})
      if (one[state]["terminated"]["exitCode"].as_int() != 0)
        return about_pod(pod, "Warning", "MasterNotResolved",
                         base::format("Pod {} waited in vain for the name {}-master-0 to resolve; look at that pod, "
                                      "its service, and the cluster's DNS",
                                      api::name_of(pod), job.name));
  }
  return std::nullopt;
}

// The trouble of a pod is said of its job, too.
Messages troubles_of_pod(const Json& pod) {
  Messages messages;
  const auto add = [&](const Json& reason, std::string text) {
    if (!reason.as_string().empty()) messages.push_back(about_pod(pod, "Warning", reason.as_string(), std::move(text)));
  };
  const std::string_view name = api::name_of(pod);
  const Json& containers = pod["status"]["containerStatuses"];
  for (const Json& one : containers.items()) {
    const Json& ended = one["state"]["terminated"];
    const Json& waits = one["state"]["waiting"];
    if (ended["exitCode"].as_int() != 0)
      add(ended["reason"],
          base::format("Error pod {} container {} exitCode: {} terminated message: {}", name, one["name"].as_string(),
                       ended["exitCode"].as_int(), ended["message"].as_string()));
    else if (!waits["message"].as_string().empty())
      add(waits["reason"], base::format("Error pod {} container {} waiting message: {}", name, one["name"].as_string(),
                                        waits["message"].as_string()));
  }
  if (!containers.empty()) return messages;
  if (const Json* trouble = trouble_of(pod["status"]))
    add((*trouble)["reason"],
        base::format("Error pod {} condition message: {}", name, (*trouble)["message"].as_string()));
  return messages;
}

Message disruption_of(const Json& pod) {
  const Json& status = pod["status"];
  const std::string_view reason = status["reason"].as_string();
  const std::string_view why = status["message"].as_string();
  return about_pod(
      pod, "Warning", reason.empty() ? "Disrupted" : reason,
      base::format("Pod {} was taken away and is made again{}{}", api::name_of(pod), why.empty() ? "" : ": ", why));
}

// A pod that failed and is not on its way out: another takes its place, or it fails the job, or it only counts.
void look_at_failure(const TrainingJob& job, const Replica& replica, const Json& pod, const KnownRestarts& restarts,
                     PodFindings& found, Output& out) {
  if (!is_made_again(*job.framework, replica)) return;
  if (is_permanent(*job.framework, replica, pod)) {
    found.failures.push_back(
        {true, base::format("job \"{}\" is failing because \"{}\" replica(s) failed.", job.name, replica.type)});
    return;
  }
  if (!restarts.may_be_made_again) return;  // no other would take its place
  const std::string uid(api::uid_of(pod));
  const bool is_counted = restarts.is_counted(pod);
  if (!is_counted) found.restart_count = fit_count(found.restart_count + 1);
  found.restarts[uid] = is_counted ? restarts.counts.at(uid) : found.restart_count;
  found.pods_to_make_again.push_back(&pod);
  out.count("training_operator_jobs_restarted_total");
  found.failures.push_back(
      {false, base::format("job {} is restarting because {} replica(s) failed.", job.name, replica.type)});
}

void look_at_pod(const TrainingJob& job, const Replica& replica, const Json& pod, const KnownRestarts& restarts,
                 PodFindings& found, Output& out) {
  const std::string_view phase = pod_phase(pod);
  const auto exit_code = exit_code_of(pod, job.framework->container);
  out.report_once(endings_of_pod(job, pod, exit_code));
  if (restarts.is_taken_away(pod)) {
    if (api::is_deleting(pod)) return;
    out.report_once(disruption_of(pod));
    found.pods_to_make_again.push_back(&pod);
    return;
  }
  if (const auto known = restarts.counts.find(std::string(api::uid_of(pod))); known != restarts.counts.end())
    found.restarts.insert(*known);
  if (phase == "Failed" && !api::is_deleting(pod)) look_at_failure(job, replica, pod, restarts, found, out);
  Counts& counts = found.counts[replica.type];
  if (phase == "Running") {
    ++counts.active;
  } else if (phase == "Succeeded") {
    ++counts.succeeded;
    if (replica.type == "Worker" && replica_index_of(pod) == 0 && exit_code.value_or(0) == 0)
      found.first_worker_is_done = true;
  } else if (phase == "Failed") {
    ++counts.failed;
  }
  if ((phase == "Running" || phase == "Pending") && !api::is_deleting(pod)) out.report_once(troubles_of_pod(pod));
}

// Also of pods that went before: their services may have stayed.
void remove_surplus_services(const TrainingJob& job, const std::vector<const Json*>& services, Output& out) {
  for (const Json* service : services) {
    const std::string_view type = api::label_of(*service, kReplicaType);
    const auto replica = std::ranges::find_if(job.replicas, [&](const Replica& one) { return one.lower == type; });
    const auto index = replica_index_of(*service);
    if (replica == job.replicas.end() || !index || *index >= replica->count) out.remove_service(*service);
  }
}

// Its pods are the Job's; it says itself when it is over.
void look_at_launcher_job(const Observed& seen, PodFindings& found, Output& out) {
  if (!seen.launcher_job) return;
  Counts& counts = found.counts["Launcher"];
  for (const Json* pod : seen.launcher_pods) {
    counts.active += pod_phase(*pod) == "Running" && !api::is_deleting(*pod);
    if (!api::is_deleting(*pod)) out.report_once(troubles_of_pod(*pod));
  }
  const Json& status = (*seen.launcher_job)["status"];
  counts.failed = status["failed"].as_int();
  for (const Json& one : status["conditions"].items()) {
    if (one["status"].as_string() != "True") continue;
    counts.active = 0;  // pods that are on their way out
    if (one["type"].as_string() == "Complete") counts.succeeded = 1;
    if (one["type"].as_string() == "Failed")
      found.launcher_failure = base::format("{}: {}", one["reason"].as_string(), one["message"].as_string());
  }
}

}  // namespace

// COMPAT(training-events): that a worker is done is in its pod's status.
Messages endings_of_pod(const TrainingJob& job, const Json& pod, std::optional<std::int64_t> exit_code) {
  Messages messages;
  if (exit_code && (*exit_code != 0 || api::label_of(pod, kJobRole) == "master"))
    messages.push_back(
        about_pod(pod, "Normal", "ExitedWithCode",
                  base::format("Pod: {}.{} exited with code {}", job.ns, api::name_of(pod), *exit_code)));
  if (api::is_deleting(pod)) return messages;
  if (auto message = wait_for_master(job, pod)) messages.push_back(*std::move(message));
  return messages;
}

PodFindings look_at_pods(const Observed& seen, const Options& options, const PodsByType& pods,
                         const KnownRestarts& restarts, Output& out) {
  const TrainingJob& job = seen.reading->job;
  PodFindings found{.restart_count = restarts.counted};
  for (const Replica& replica : job.replicas) {
    found.counts[replica.type] = {};
    const auto of_type = pods.find(replica.lower);
    if (of_type == pods.end()) continue;
    for (const auto& [index, of_index] : of_type->second) {
      // The numbers of a spec that makes no sense make none either.
      if (index >= replica.count && seen.reading->is_valid()) {
        for (const Json* pod : of_index) out.remove_pod(*pod);
      } else if (of_index.size() == 1) {
        look_at_pod(job, replica, *of_index.front(), restarts, found, out);
      }
    }
  }
  if (seen.reading->is_valid() && job.framework->has_services &&
      static_cast<std::int64_t>(seen.services.size()) > job.total())
    remove_surplus_services(job, seen.services, out);
  look_at_launcher_job(seen, found, out);
  if (has_launcher_pods(job, options))
    found.counts["Launcher"].failed =
        failed_launchers(job, pods, restarts, found.restart_count, found.restarts, /*all_end=*/false);
  return found;
}

}  // namespace controllers::training
