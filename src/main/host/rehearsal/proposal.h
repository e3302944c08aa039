// The groups and pods that controllers would make of workloads which do not exist yet.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/result.h"

namespace volcano_main {

// The resource of an object that can be part of a proposal: a Job of batch.volcano.sh, a training job, a Job of
// batch/v1, a pod, or a PodGroup for such pods. Unset for any other.
std::optional<api::ResourceId> proposed_resource(const api::Json& object);

// The number of pods that a workload asks for at once; zero where it is suspended.
std::int64_t pods_wanted(const api::Json& workload);

struct Proposal {
  std::vector<api::Json> groups;
  std::vector<api::Json> pods;  // each names its group, and is not filled in by admission yet
};

using PriorityOf = std::function<std::int64_t(std::string_view priority_class)>;

// `objects` are such objects as the API server answered them in a dry run; groups that only exist there already need
// not be among them. `schedulers` are the names under which the scheduler is asked for. An error names the first
// workload of which no pods can be made, or which another scheduler places.
base::Result<Proposal> propose(const std::vector<api::Json>& objects, const std::vector<std::string>& schedulers,
                               const PriorityOf& priority_of);

}  // namespace volcano_main
