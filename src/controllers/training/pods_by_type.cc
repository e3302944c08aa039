// Pods sorted by their labels, and counts over them (training.md 7.4).
#include "controllers/training/pods_by_type.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/number.h"
#include "controllers/framework/counts.h"
#include "controllers/framework/disruption.h"
#include "controllers/training/framework.h"
#include "controllers/training/pods.h"

namespace controllers::training {

using api::Json;

namespace {

// From here on a container was ended from outside, and may be tried again.
constexpr std::int64_t kRetryableFrom = 128;

}  // namespace

bool is_launcher(const Json& pod) { return api::label_of(pod, kReplicaType) == "launcher"; }

std::string_view pod_phase(const Json& pod) { return pod["status"]["phase"].as_string(); }

std::optional<std::int64_t> replica_index_of(const Json& object) {
  const std::string_view text = api::label_of(object, kReplicaIndex);
  if (text.empty()) return 0;  // a launcher
  const auto index = base::parse_number<std::int64_t>(text);
  return index && *index >= 0 ? index : std::nullopt;
}

std::optional<std::int64_t> exit_code_of(const Json& pod, std::string_view container) {
  for (const Json& one : pod["status"]["containerStatuses"].items())
    if (one["name"].as_string() == container && one["state"]["terminated"].is_object())
      return one["state"]["terminated"]["exitCode"].as_int();
  return std::nullopt;
}

PodsByType sort_pods(const TrainingJob& job, const std::vector<const Json*>& pods) {
  PodsByType sorted;
  for (const Replica& replica : job.replicas) sorted[replica.lower] = {};
  const Replica* worker = job.find("Worker");
  const std::int64_t first = worker ? first_index(job, *worker) : 0;
  for (const Json* pod : pods) {
    const auto of_type = sorted.find(api::label_of(*pod, kReplicaType));
    // There is one launcher, whatever its labels say.
    const auto label = is_launcher(*pod) ? first : replica_index_of(*pod);
    if (of_type == sorted.end() || !label) continue;
    if (const std::int64_t index = *label - first; index >= 0) of_type->second[index].push_back(pod);
  }
  return sorted;
}

bool has_all_pods(const TrainingJob& job, const Options& options, const PodsByType& pods) {
  return std::ranges::all_of(job.replicas, [&](const Replica& one) {
    if (has_launcher_job(job, options) && one.type == "Launcher") return true;
    const auto found = pods.find(one.lower);
    return std::cmp_greater_equal(found == pods.end() ? 0 : found->second.size(), std::max<std::int64_t>(one.count, 0));
  });
}

bool are_workers_ready(const TrainingJob& job, const PodsByType& pods) {
  const Replica* worker = job.find("Worker");
  const auto found = pods.find("worker");
  std::int64_t ready = 0;
  if (found != pods.end())
    for (const auto& [index, of_index] : found->second)
      for (const Json* pod : of_index)
        for (const Json& one : (*pod)["status"]["conditions"].items())
          ready += one["type"].as_string() == "Ready" && one["status"].as_string() == "True";
  return !worker || ready >= worker->count;
}

bool KnownRestarts::is_counted(const Json& pod) const {
  const auto found = counts.find(std::string(api::uid_of(pod)));
  return found != counts.end() && counted >= found->second;
}

bool KnownRestarts::is_taken_away(const Json& pod) const {
  if (counts.contains(std::string(api::uid_of(pod)))) return false;  // the operator itself removes it
  if (api::is_deleting(pod)) return !ended_before_deletion(pod);
  // A job whose spec gives no other pod ends as its pods end.
  return pod_phase(pod) == "Failed" && may_be_made_again && is_disrupted(pod);
}

bool is_made_again(const Framework& framework, const Replica& replica) {
  return replica.tried_again && (!framework.restarts_by_exit_code_only || replica.restart_policy == "ExitCode");
}

bool is_permanent(const Framework& framework, const Replica& replica, const Json& failed) {
  return replica.restart_policy == "ExitCode" &&
         exit_code_of(failed, framework.container).value_or(kRetryableFrom) < kRetryableFrom;
}

std::int64_t restarts_due(const TrainingJob& job, const PodsByType& pods, const KnownRestarts& restarts) {
  std::int64_t due = 0;
  for (const Replica& replica : job.replicas) {
    const auto found = pods.find(replica.lower);
    if (!is_made_again(*job.framework, replica) || found == pods.end()) continue;
    for (const auto& [index, of_index] : found->second)
      for (const Json* pod : of_index)
        due += pod_phase(*pod) == "Failed" && !api::is_deleting(*pod) && !restarts.is_taken_away(*pod) &&
               !is_permanent(*job.framework, replica, *pod) && !restarts.is_counted(*pod);
  }
  return due;
}

// COMPAT(training-restarts): also of the containers that a pod waits for, so that a worker whose master never resolves
// comes to an end, too.
std::int64_t containers_restarted(const TrainingJob& job, const PodsByType& pods) {
  std::int64_t sum = 0;
  for (const Replica& replica : job.replicas) {
    const auto found = pods.find(replica.lower);
    if (!replica.tried_again || found == pods.end()) continue;
    for (const auto& [index, of_index] : found->second)
      for (const Json* pod : of_index) {
        const std::string_view phase = pod_phase(*pod);
        if (phase != "Running" && phase != "Pending") continue;
        for (const char* list : {"containerStatuses", "initContainerStatuses"})
          for (const Json& one : (*pod)["status"][list].items())
            sum += std::clamp<std::int64_t>(one["restartCount"].as_int(), 0, INT32_MAX);
      }
  }
  return sum;
}

std::int64_t failed_launchers(const TrainingJob& job, const PodsByType& pods, const KnownRestarts& restarts,
                              std::int64_t restart_count, const RestartCounts& counted_now, bool all_end) {
  std::int64_t failed = restart_count;
  const Replica* launcher = job.find("Launcher");
  const auto found = launcher ? pods.find(launcher->lower) : pods.end();
  if (found == pods.end()) return failed;
  for (const auto& [index, of_index] : found->second)
    for (const Json* pod : of_index) {
      const bool ends = pod_phase(*pod) == "Failed" || (all_end && pod_phase(*pod) != "Succeeded");
      const bool is_counted = restarts.is_counted(*pod) || counted_now.contains(std::string(api::uid_of(*pod)));
      failed += ends && !is_counted && !restarts.is_taken_away(*pod);
    }
  return fit_count(failed);
}

}  // namespace controllers::training
