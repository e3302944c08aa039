// Sentences for people in a Job's status.state.message: what restarted it, and what ended it.
#pragma once

#include <string>
#include <vector>

#include "controllers/job/job.h"
#include "controllers/job/request.h"
#include "controllers/job/status.h"

namespace controllers::job {

// The request's action and what it answers, such as "AbortJob: pod a-w-0 failed: exit code 3". `pods` are the job's.
std::string why_acted(const Request& request, const std::vector<const api::Json*>& pods);
// The message of a job whose pods have all ended without enough successes: "2 of 4 pods failed; first j-w-0: OOMKilled,
// exit code 137".
std::string why_failed(const Job& job, const Counts& counts, const std::vector<const api::Json*>& pods);
// The message of a job that was to restart once more than it may; `last` is what it said before.
std::string why_given_up(const Job& job, std::string_view last);

}  // namespace controllers::job
