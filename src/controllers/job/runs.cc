// The annotations that vsub writes, and what they mean for the pods of a job.
#include "controllers/job/runs.h"

#include <algorithm>
#include <array>

#include "api/array_indexes.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/split.h"
#include "controllers/job/plugins/arguments.h"

namespace controllers::job {

using api::Json;

namespace {

bool is_of_a_stop(std::string_view reason) {
  static constexpr std::array<std::string_view, 4> kReasons = {"NodeLost", "NodeShutdown", "Shutdown", "Terminated"};
  return std::ranges::find(kReasons, reason) != kReasons.end();
}

// A power cut leaves nobody who could say how a container ended.
bool has_lost_container(const Json& pod) {
  for (const char* list : {"initContainerStatuses", "containerStatuses"})
    for (const Json& status : pod["status"][list].items())
      if (status["state"]["terminated"]["reason"].as_string() == "ContainerStatusUnknown") return true;
  return false;
}

}  // namespace

std::int64_t pods_at_once(const Job& job) {
  return job.array && job.array->at_once > 0 ? job.array->at_once : std::numeric_limits<std::int64_t>::max();
}

void set_array_index(const Job& job, std::int64_t index, Json& pod) {
  if (!job.array) return;
  const auto place = static_cast<std::size_t>(index);
  const std::int64_t named = place < job.array->indexes.size() ? job.array->indexes[place] : index;
  for_containers(pod, true, [named](Json& container) {
    add_env(container, std::string(api::kArrayIndexVariable), std::to_string(named));
  });
}

Keys jobs_before(const Json& job) {
  Keys keys;
  const std::string_view text = api::annotation_of(job, api::kDependsAnnotation);
  for (const std::string_view name : base::split(text, ','))
    if (!name.empty()) keys.push_back(base::format("{}/{}", api::namespace_of(job), name));
  return keys;
}

std::string waits_for_jobs(const Job& job, const View& view) {
  for (const std::string& key : jobs_before(job.object)) {
    const Json* before = view.find(api::resources::kJobs, key);
    const std::string_view name = std::string_view(key).substr(key.find('/') + 1);
    if (before == nullptr) return base::format("it waits for job {}, which does not exist", name);
    const std::string_view phase = (*before)["status"]["state"]["phase"].as_string("Pending");
    if (phase != "Completed") return base::format("it waits for job {}, which is {}", name, phase);
  }
  return {};
}

bool is_to_run_again(const Job& job, const Json& pod) {
  if (pod["status"]["phase"].as_string() != "Failed") return false;
  if (api::annotation_of(job.object, api::kRequeueAnnotation) == "false") return false;
  return is_of_a_stop(pod["status"]["reason"].as_string()) || has_lost_container(pod);
}

}  // namespace controllers::job
