// One look at a Job of batch/v1, as functions from values to values. Used by batch_job*.cc only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
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
  const api::Json* workload = nullptr;                  // of its group (job_groups.h); null: not there
  const api::Json* group = nullptr;                     // null: not there
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

// The failures of an index so far, as its last failed pod has them.
struct IndexFailures {
  std::int64_t number = -1;  // of that pod
  std::int64_t counted = 0;
  std::int64_t ignored = 0;  // by the podFailurePolicy
  base::Time last = {};
};

// The counts of a Job and its pods by what is to become of them.
struct Tally {
  bool is_indexed = false;
  std::int64_t completions = -1;  // -1: until one pod succeeds
  std::int64_t failed = 0;
  std::int64_t succeeded = 0;
  NumberSet done = {};                                     // indexes
  NumberSet lost = {};                                     // indexes that failed too often
  NumberSet leaving = {};                                  // indexes whose pod is on its way out and still holds them
  std::map<std::int64_t, IndexFailures> failures_of = {};  // where each index has a limit of its own
  NumberSet settled = {};                                  // numbers of pods
  std::vector<PodAtWork> running = {};                     // those that stay
  std::vector<const api::Json*> abandoned = {};            // to delete
  std::vector<base::Time> failures = {};                   // when pods failed that are still there
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

// batch_job_indexes.cc
std::int64_t index_of(const api::Json& pod);  // -1: none
// Whether spec.backoffLimitPerIndex bounds the failures of each index.
bool has_index_limit(const api::Json& job);
// Remembers a failed pod of an index; true if the index is lost with it.
bool record_index_failure(const api::Json& job, const PodOfJob& one, const Verdict& verdict, base::Time ended,
                          Tally& tally);
// Ten seconds after the first failure of the index, twice as long after each further one.
base::Duration index_pause(const IndexFailures& failures, base::Time now);
void set_failure_counts(const Tally& tally, std::int64_t index, api::Json& annotations);
// The condition with which the lost indexes end the Job (reason and message), or nothing.
std::optional<std::pair<std::string, std::string>> index_verdict(const api::Json& job, const Tally& tally);
// The first rule of the success policy that the done indexes fulfil; -1: none.
std::int64_t fulfilled_rule(const api::Json& policy, const NumberSet& done);

// The pause after so many failures: ten seconds, doubled with each further one, ten minutes at most.
base::Duration pause_after(std::int64_t failures);

// batch_job_pods.cc: gives up the pods that are too many. `pause`: before the next ones are made.
MissingPods plan_pods(const api::Json& job, base::Duration pause, base::Time now, const PodNumbers& numbers,
                      Tally& tally);
void create_pods(const ObservedJob& seen, const Tally& tally, const Turn& turn, const MissingPods& missing,
                 std::int64_t first_number, Plan& plan);

}  // namespace controllers::workloads
