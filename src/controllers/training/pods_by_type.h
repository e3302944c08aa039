// The pods of a training job by type and index, and how often they failed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "controllers/training/job.h"
#include "controllers/training/step.h"

namespace controllers::training {

using PodsByIndex = std::map<std::int64_t, std::vector<const api::Json*>>;
// By type in lower case; every type of the job has an entry.
using PodsByType = std::map<std::string, PodsByIndex, std::less<>>;

PodsByType sort_pods(const TrainingJob& job, const std::vector<const api::Json*>& pods);

bool is_launcher(const api::Json& pod);
std::string_view pod_phase(const api::Json& pod);
// The index on the label of a pod or service; unset where it is not a number.
std::optional<std::int64_t> replica_index_of(const api::Json& object);
// The exit code of the key container, if it has ended.
std::optional<std::int64_t> exit_code_of(const api::Json& pod, std::string_view container);

bool has_all_pods(const TrainingJob& job, const Options& options, const PodsByType& pods);
bool are_workers_ready(const TrainingJob& job, const PodsByType& pods);

// --- failures that are made up for ---

// By uid of pods that failed: the restartCount that counts their being made again.
using RestartCounts = std::map<std::string, std::int64_t>;

// The restarts that are known when a look begins.
struct KnownRestarts {
  const RestartCounts& counts;
  std::int64_t counted = 0;        // the status's restartCount
  bool may_be_made_again = false;  // the spec gives other pods

  // Whether the status has the restart of this pod, although the pod is still there.
  bool is_counted(const api::Json& pod) const;
  // COMPAT(training-disruptions): such a pod counts nowhere, and its place is filled again.
  bool is_taken_away(const api::Json& pod) const;
};

bool is_made_again(const Framework& framework, const Replica& replica);
// Whether such a failure would come again.
bool is_permanent(const Framework& framework, const Replica& replica, const api::Json& failed);
// COMPAT(training-restarts): pods that failed now and would be made again.
std::int64_t restarts_due(const TrainingJob& job, const PodsByType& pods, const KnownRestarts& restarts);
// Restarts in place, of containers of pods that run.
std::int64_t containers_restarted(const TrainingJob& job, const PodsByType& pods);
// As a Job counts: each pod that failed, also those that are gone. `all_end`: those that run end, too. `restart_count`:
// the status's; `counted_now`: restarts that this look adds to it.
std::int64_t failed_launchers(const TrainingJob& job, const PodsByType& pods, const KnownRestarts& restarts,
                              std::int64_t restart_count, const RestartCounts& counted_now, bool all_end);

}  // namespace controllers::training
