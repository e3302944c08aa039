// Findings about the pods of a training job: counts, messages, and the pods that go (training.md 7.4).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "controllers/training/output.h"
#include "controllers/training/pods_by_type.h"
#include "controllers/training/step.h"
#include "controllers/training/verdict.h"

namespace controllers::training {

// The effect of a pod's failure on its job.
struct ReplicaFailure {
  bool ends_job = false;  // or else the job restarts
  std::string message;
};

struct PodFindings {
  CountsByType counts = {};
  bool first_worker_is_done = false;  // its key container ended with 0, and the pod succeeded
  std::string launcher_failure = {};  // of a launcher that is a Job: what the Job says
  std::vector<ReplicaFailure> failures = {};
  std::int64_t restart_count = 0;                         // as the status is to have it
  RestartCounts restarts = {};                            // of pods that are still there
  std::vector<const api::Json*> pods_to_make_again = {};  // they go once the status counts them
};

PodFindings look_at_pods(const Observed& seen, const Options& options, const PodsByType& pods,
                         const KnownRestarts& restarts, Output& out);

// The events of a pod whose key container has ended, or that gave up waiting for its master.
Messages endings_of_pod(const TrainingJob& job, const api::Json& pod, std::optional<std::int64_t> exit_code);

}  // namespace controllers::training
