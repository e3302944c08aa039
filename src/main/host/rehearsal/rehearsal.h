// A rehearsal: the scheduler's decision about workloads that do not exist yet, made on a copy of its beliefs.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "scheduler/options.h"

namespace volcano_main {

// More pods than this are not rehearsed: in the cluster, and in the question.
inline constexpr std::size_t kRehearsedPodsMax = 5'000;
inline constexpr std::int64_t kRehearsedReplicasMax = 5'000;
// Nor pods that are larger than this together, as text.
inline constexpr std::size_t kRehearsedBytesMax = std::size_t{64} << 20;

// The objects that are asked about, as the API server answered them in dry runs.
struct RehearsedObjects {
  std::vector<api::Json> workloads = {};  // and groups for their pods (proposal.h)
  std::vector<api::Json> claims = {};     // volume claims that would be made with them
};

// `dump` is Scheduler::dump() and comes from the scheduler whose options these are. The answer:
//   pods       of the workloads, all together
//   starting   of them, that get a node at once or as soon as `evictions` are over
//   nodes      on which they start
//   evictions  of other pods
//   reason     of the first group that waits, as in /debug/waiting; null: none waits
// An error names a workload that is too large, or that has no pods to place.
base::Result<api::Json> rehearse(const std::string& dump, const RehearsedObjects& objects,
                                 const scheduler::Options& options);

}  // namespace volcano_main
