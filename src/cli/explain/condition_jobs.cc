// Refusals are known by a condition of training jobs, and by events, which the controllers of these kinds write as
// Kubernetes' own do.
#include "cli/explain/condition_jobs.h"

#include "api/kinds.h"
#include "api/meta/resource.h"
#include "base/format.h"

namespace cli {

using api::Json;

namespace {

constexpr std::string_view kRefused = "CreationRefused";

bool reports_its_state_by_conditions(const api::KindInfo& kind) {
  const auto& [group, version, plural] = kind.resource;
  return (group == "kubeflow.org" && plural.ends_with("jobs")) || (group == "batch" && plural == "jobs");
}

std::string time_of(const Json& event) {
  return event["lastTimestamp"].is_string() ? event["lastTimestamp"].str() : event["eventTime"].str();
}

}  // namespace

base::Result<std::optional<ConditionJob>> find_condition_job(Api& server, const std::string& ns,
                                                             const std::string& name) {
  for (const api::KindInfo& kind : api::all_kinds()) {
    if (!reports_its_state_by_conditions(kind)) continue;
    auto found = get(server, kind.resource, ns, name);
    if (found.ok()) return std::optional(ConditionJob{std::string(kind.kind), *std::move(found)});
    if (found.error().code != base::Code::kNotFound && found.error().code != base::Code::kForbidden)
      return base::Error(found.error());
  }
  return std::optional<ConditionJob>();
}

std::string state_of(const ConditionJob& job) {
  std::string type = "Pending", since;
  for (const Json& one : job.object["status"]["conditions"].items()) {
    if (one["type"].as_string() == kRefused || one["status"].as_string() != "True" ||
        one["lastTransitionTime"].as_string() < since)
      continue;
    type = one["type"].str();
    since = one["lastTransitionTime"].str();
  }
  return type;
}

bool has_ended(const ConditionJob& job) {
  const std::string state = state_of(job);
  return state == "Succeeded" || state == "Failed" || state == "Complete";
}

base::Result<JobRefusals> refusals_of(Api& server, const ConditionJob& job) {
  for (const Json& one : job.object["status"]["conditions"].items())
    if (one["type"].as_string() == kRefused && one["status"].as_string() == "True")
      return JobRefusals{one["message"].str(), {}};
  TRY(const std::vector<Json> events,
      list(server, {.verb = client::Verb::kList,
                    .resource = api::resources::kEvents,
                    .ns = std::string(api::namespace_of(job.object)),
                    .name = {},
                    .subresource = {},
                    .field_selector = base::format("involvedObject.name={}", api::name_of(job.object))}));
  JobRefusals newest;
  std::string refused_at, made_at;
  for (const Json& event : events) {
    const std::string_view reason = event["reason"].as_string();
    if (event["involvedObject"]["uid"].as_string() != api::uid_of(job.object)) continue;
    const std::string at = time_of(event);
    const bool is_invalid = reason.ends_with("FailedValidation");
    if (reason.starts_with("SuccessfulCreate") && at > made_at) made_at = at;
    if ((!is_invalid && !reason.starts_with("FailedCreate")) || at < refused_at) continue;
    newest = {};
    (is_invalid ? newest.invalid : newest.refused) = event["message"].str();
    refused_at = at;
  }
  return refused_at >= made_at ? newest : JobRefusals();
}

}  // namespace cli
