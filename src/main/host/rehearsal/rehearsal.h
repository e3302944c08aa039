// A rehearsal: the scheduler's decision about a job that does not exist yet, made on a copy of its beliefs.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "scheduler/options.h"

namespace volcano_main {

// More pods than this are not rehearsed: in the cluster, and in the job.
inline constexpr std::size_t kRehearsedPodsMax = 5'000;
inline constexpr std::int64_t kRehearsedReplicasMax = 5'000;
// Nor pods of a job that are larger than this together, as text.
inline constexpr std::size_t kRehearsedBytesMax = std::size_t{64} << 20;

// `dump` is Scheduler::dump() and comes from the scheduler whose options these are; `job` is a Job of batch.volcano.sh
// as the API server answered it in a dry run; `claims` are volume claims that would be made with it. The answer:
//   pods       of the job, all tasks together
//   starting   of them, that get a node at once or as soon as `evictions` are over
//   nodes      on which they start
//   evictions  of other pods
//   reason     of those that wait, as in /debug/waiting; null: none waits
// An error names a job that is too large, or that has no pods to place.
base::Result<api::Json> rehearse(const std::string& dump, const api::Json& job, const std::vector<api::Json>& claims,
                                 const scheduler::Options& options);

}  // namespace volcano_main
