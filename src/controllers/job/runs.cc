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

// An array is complete when enough of its runs are; who waits for it waits for each of them.
bool has_failed_runs(const Json& job) {
  return !api::annotation_of(job, api::kArrayAnnotation).empty() && job["status"]["failed"].as_int() > 0;
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

JobsBefore waits_for_jobs(const Job& job, const std::map<std::string, const Json*>& jobs) {
  JobsBefore out;
  for (const std::string& key : jobs_before(job.object)) {
    const auto found = jobs.find(key);
    const Json* before = found == jobs.end() ? nullptr : found->second;
    const std::string_view name = std::string_view(key).substr(key.find('/') + 1);
    const std::string_view phase = before == nullptr ? "" : (*before)["status"]["state"]["phase"].as_string("Pending");
    if (phase == "Completed" && !has_failed_runs(*before)) continue;
    if (phase == "Completed")
      return {base::format("it never starts: {} of the runs of job {} failed; run them again as another job, or take "
                           "this one away (vcancel -n {})",
                           (*before)["status"]["failed"].as_int(), name, job.name),
              true};
    if (phase == "Failed" || phase == "Terminated")
      return {base::format("it never starts: job {} is {}; run that one again (vresume -n {}), or take this one away "
                           "(vcancel -n {})",
                           name, phase, name, job.name),
              true};
    if (out.sentence.empty())
      out.sentence = before == nullptr ? base::format("it waits for job {}, which does not exist", name)
                                       : base::format("it waits for job {}, which is {}", name, phase);
  }
  return out;
}

bool ends_with_jobs_before(const Job& job) {
  return api::annotation_of(job.object, api::kEndsWithDependsAnnotation) == "true";
}

bool is_to_run_again(const Job& job, const Json& pod) {
  if (pod["status"]["phase"].as_string() != "Failed") return false;
  if (api::annotation_of(job.object, api::kRequeueAnnotation) == "false") return false;
  return is_of_a_stop(pod["status"]["reason"].as_string()) || has_lost_container(pod);
}

}  // namespace controllers::job
