// Counting a Job's pods, judging its phase, and writing both into the status document.
#pragma once

#include <map>
#include <string>

#include "base/time.h"
#include "controllers/job/job.h"

namespace controllers::job {

struct Counts {
  std::int64_t pending = 0;
  std::int64_t running = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t terminating = 0;
  std::int64_t unknown = 0;
  std::map<std::string, std::map<std::string, std::int64_t>> by_task;  // task, pod phase

  void add(const std::string& task, std::string_view pod_phase);
};

// The rules of controllers.md 3.6, by their letters there.
enum class Rule : std::uint8_t { kNone, kP, kR, kS, kA, kC, kT };

// The phase that `rule` gives; the job's own where it says "stay". `retry_count` is the new one.
Phase judge(Rule rule, const Job& job, const Counts& counts);

struct StatusEdit {
  Counts counts;
  Phase phase = Phase::kPending;
  std::int64_t version = 0;
  std::int64_t retry_count = 0;
  std::int64_t min_available = 0;
  api::Json controlled_resources;  // an object, or null
  std::string message = {};        // for people: why it waits, or what restarted or ended it
  std::string reason = {};         // one word for the message, where there is one
};

// The job's status with `edit` in it, times untouched and without runningDuration.
api::Json with_edit(const api::Json& status, const StatusEdit& edit);
// Whether the two statuses say the same but for numbers of pods.
bool differ_in_counts_only(const api::Json& before, const api::Json& after);
// Sets state.lastTransitionTime and moves the phase's condition to the end.
void stamp(api::Json& status, Phase phase, base::Time now);

}  // namespace controllers::job
