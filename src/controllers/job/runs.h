// Jobs of vsub: the indexes of an array, the jobs that are waited for, and pods that a stop of the machine ended.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "controllers/framework/controller.h"
#include "controllers/job/job.h"

namespace controllers::job {

// How many pods of the job may exist beside those that have ended. Without an array: no limit.
std::int64_t pods_at_once(const Job& job);
// Gives containers the index of an array that pod `index` has. A pod beyond the array has its own number.
void set_array_index(const Job& job, std::int64_t index, api::Json& pod);

// The jobs of the same namespace that have to complete first, as keys.
Keys jobs_before(const api::Json& job);
// A sentence about the first of them that has ended otherwise, or else has not completed; empty: the job may begin.
struct JobsBefore {
  std::string sentence;
  bool have_failed = false;  // the job does not begin unless somebody runs one of them again
};
// `jobs`: those that it names, by their keys.
JobsBefore waits_for_jobs(const Job& job, const std::map<std::string, const api::Json*>& jobs);
// The job is to end when one of them has failed.
bool ends_with_jobs_before(const Job& job);

// Whether the pod failed because its machine stopped or lost power, and its job wants it again.
bool is_to_run_again(const Job& job, const api::Json& pod);

}  // namespace controllers::job
