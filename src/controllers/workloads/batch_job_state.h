// One look at a Job of batch/v1, as functions from values to values. Used by batch_job*.cc only.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "controllers/framework/restart_pauses.h"
#include "controllers/workloads/batch_job.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {

// All that a look at a Job may see.
struct ObservedJob {
  const api::Json& job;
  Claim claimed;                                        // its pods
  std::function<bool(std::string_view name)> is_taken;  // whether some pod of its namespace has a name
};

struct PodOfJob {
  const api::Json* pod;
  std::int64_t number;  // -1: it has none
};

// The numbers of pods.
struct PodNumbers {
  NumberSet settled;
  std::int64_t next = 0;
  std::vector<PodOfJob> pods = {};  // those that the Job owns
  bool are_given = false;           // in this look; more pods are made once these show
};

struct PodAtWork {
  const api::Json* pod;
  std::int64_t number;
  std::int64_t index;  // of an indexed Job; -1: none
};

// The counts of a Job and its pods by what is to become of them.
struct Tally {
  bool is_indexed = false;
  std::int64_t completions = -1;  // -1: until one pod succeeds
  std::int64_t failed = 0;
  std::int64_t succeeded = 0;
  NumberSet done = {};                           // indexes
  NumberSet settled = {};                        // numbers of pods
  std::vector<PodAtWork> running = {};           // those that stay
  std::vector<const api::Json*> abandoned = {};  // to delete
  std::vector<base::Time> failures = {};         // when pods failed that are still there
  base::Time last_success = {};
  std::int64_t terminating = 0;
  std::int64_t held = 0;        // on their way out, and not replaced before they are over
  std::string fatal_rule = {};  // the rule of the podFailurePolicy by which the Job fails at once
};

// The status as it is to be, and what is told of it.
struct StatusDraft {
  api::Json status;
  std::vector<std::tuple<std::string, std::string, std::string>> events = {};  // type, reason and text
  bool is_suspended = false;
  std::string ending = {};  // FailureTarget or SuccessCriteriaMet; empty: neither
  std::optional<base::Duration> look_again = {};
};

// The pods that are missing.
struct MissingPods {
  std::size_t count = 0;
  std::vector<std::int64_t> indexes = {};  // of an indexed Job: one each
  std::optional<base::Duration> look_again = {};
};

// The verdict of a podFailurePolicy on a failed pod (batch_job_policy.cc).
struct Verdict {
  std::string action;   // "Count" where no rule matches
  std::string message;  // of FailJob
};
Verdict judge_failure(const api::Json& policy, const api::Json& pod);

// batch_job_tally.cc
PodNumbers read_numbers(const ObservedJob& seen);
// Pods that the Job takes over, and such of its own whose number was taken away, get one.
void give_numbers(const ObservedJob& seen, PodNumbers& numbers, Plan& plan);
Tally count_pods(const api::Json& job, const PodNumbers& numbers);
// The pod is settled and goes; of a Job that fails it counts as failed.
void give_up(const PodAtWork& one, std::string_view ending, Tally& tally);
// Ten seconds after a first failure, twice as long after each further one without a success between them. Failures that
// are ignored count here.
base::Duration failure_pause(const Tally& tally, base::Time now);

// batch_job_pods.cc: gives up the pods that are too many. `pause`: before the next ones are made.
MissingPods plan_pods(const api::Json& job, base::Duration pause, base::Time now, const PodNumbers& numbers,
                      Tally& tally);
void create_pods(const ObservedJob& seen, const Turn& turn, const MissingPods& missing, std::int64_t first_number,
                 Plan& plan);

}  // namespace controllers::workloads
