// Jobs of batch/v1.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "api/pods/pod_spec.h"
#include "api/schema/selector_rules.h"
#include "api/schema/unwritten.h"
#include "api/selector.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/workloads/job_rules.h"
#include "apiserver/kinds/workloads/job_specs.h"
#include "apiserver/kinds/workloads/pod_templates.h"
#include "apiserver/kinds/workloads/template_cells.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

void default_job_spec(Json& spec) {
  if (spec["completions"].is_null() && spec["parallelism"].is_null()) spec.set("completions", 1);
  set_if_absent(spec, "parallelism", 1);
  set_if_absent(spec, "backoffLimit", spec["backoffLimitPerIndex"].is_null() ? 6 : INT32_MAX);
  set_if_absent(spec, "completionMode", "NonIndexed");
  set_if_absent(spec, "suspend", false);
  set_if_absent(spec, "manualSelector", false);
  set_if_absent(spec, "podReplacementPolicy", spec["podFailurePolicy"].is_null() ? "TerminatingOrFailed" : "Failed");
  if (spec["podFailurePolicy"].is_object())  // a policy without rules says nothing
    set_if_absent(spec.edit("podFailurePolicy"), "rules", Json::array());
  if (!spec["podFailurePolicy"]["rules"].is_array()) return;
  for (std::size_t i = 0; i < spec["podFailurePolicy"]["rules"].size(); ++i)
    for (std::size_t k = 0; k < spec["podFailurePolicy"]["rules"][i]["onPodConditions"].items().size(); ++k)
      set_if_absent(spec.edit_path({"podFailurePolicy", "rules"}).edit(i).edit("onPodConditions").edit(k), "status",
                    "True");
}

void default_job(Json& object) {
  if (!takes_members(object["spec"])) return;
  default_job_spec(object.edit("spec"));
  default_pod_template(object.edit("spec"));
}

// The labels that a Job gives its pods, under today's and yesterday's names.
Json given_labels(const Json& object) {
  Json labels = Json::object();
  for (const char* prefix : {"", "batch.kubernetes.io/"}) {
    labels.set(std::string(prefix) + "controller-uid", api::uid_of(object));
    labels.set(std::string(prefix) + "job-name", api::name_of(object));
  }
  return labels;
}

void label_pods(Json& object) {
  Json& spec = object.edit("spec");
  if (spec["manualSelector"].as_bool() || !spec["template"].is_object()) return;
  Json& metadata = spec.edit_path({"template", "metadata"});
  if (!takes_members(metadata) || !takes_members(metadata["labels"])) return;
  const std::string uid(api::uid_of(object));
  const Json given = given_labels(object);
  for (const Json::Member& label : given.members()) metadata.edit("labels").set(label.name(), label.value);
  if (takes_members(spec["selector"]) && takes_members(spec["selector"]["matchLabels"]))
    spec.edit_path({"selector", "matchLabels"}).set("batch.kubernetes.io/controller-uid", uid);
}

base::Status prepare_job(const Context&, Json& object, api::FieldErrors&) {
  object.set("status", Json::object());
  label_pods(object);
  return {};
}

// A selector that the author has to give, and one that the server gives: it is of the labels that only this Job gives
// its pods.
void check_job_selector(const Json& object, api::FieldErrors& errors) {
  const Json& spec = object["spec"];
  const Json& selector = spec["selector"];
  const Json& labels = spec["template"]["metadata"]["labels"];
  const auto mismatch = [&] {
    errors.invalid("spec.template.metadata.labels", labels.is_null() ? Json::object() : labels,
                   "`selector` does not match template `labels`");
  };
  if (selector.is_null()) {
    errors.required("spec.selector");
    return mismatch();
  }
  const std::size_t so_far = errors.size();
  api::check_label_selector(selector, "spec.selector", errors);
  if (errors.size() != so_far) return;
  const auto parsed = api::label_selector_from(selector);
  if (!parsed.ok()) return errors.invalid("spec.selector", selector, parsed.error().message);
  if (!parsed->matches(labels)) mismatch();
  if (!spec["manualSelector"].as_bool() && !parsed->matches(given_labels(object)))
    errors.invalid("spec.selector", selector, "`selector` not auto-generated");
}

void check_job(const Json& stored, const Json& object, api::FieldErrors& errors) {
  const Json& spec = object["spec"];
  if (spec["template"].is_object()) check_job_selector(object, errors);
  if (stored.is_null() && spec["completionMode"].as_string() == "Indexed") check_last_hostname(object, errors);
  check_job_spec(spec, "spec", api::has_host_sysctls(stored["spec"]["template"]["spec"]), errors);
}

// While a Job is suspended and has no pods, where they may go and what they ask for can still be said.
bool is_at_rest(const Json& job) {
  const Json& status = job["status"];
  if (!job["spec"]["suspend"].as_bool() || status["active"].as_int() != 0) return false;
  return status["startTime"].is_null() || std::ranges::any_of(status["conditions"].items(), [](const Json& one) {
           return one["type"].as_string() == "Suspended" && one["status"].as_string() == "True";
         });
}

Json fixed_template(const Json& spec, bool at_rest) {
  Json fixed = spec["template"];
  if (!at_rest || !fixed.is_object()) return fixed;
  for (const char* list : {"containers", "initContainers"})
    for (std::size_t i = 0; i < fixed["spec"][list].size(); ++i)
      fixed.edit("spec").edit(list).edit(i).erase("resources");
  for (const char* key : {"nodeSelector", "affinity", "tolerations", "schedulingGates"})
    if (fixed["spec"].is_object()) fixed.edit("spec").erase(key);
  for (const char* key : {"labels", "annotations"})
    if (fixed["metadata"].is_object()) fixed.edit("metadata").erase(key);
  return fixed;
}

void check_job_update(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  if (!object["spec"].is_object()) return;  // validation names it
  const Json& before = old_object["spec"];
  const Json& after = object["spec"];
  constexpr std::string_view kFixed = "field is immutable";
  const api::Schema& schema = api::core_schema("batch.v1.JobSpec");
  for (const char* key :
       {"selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"})
    if (!api::same_member_as_written(schema, key, before, after))
      errors.invalid(base::format("spec.{}", key), after[key], kFixed);
  if (!(before["completions"] == after["completions"]) &&
      (after["completionMode"].as_string() != "Indexed" || !(after["completions"] == after["parallelism"])))
    errors.invalid("spec.completions", after["completions"], kFixed);
  check_job_scheduling_update(before, after, errors);
  const bool at_rest = is_at_rest(old_object);
  if (!api::same_as_written(api::core_schema("core.v1.PodTemplateSpec"), fixed_template(before, at_rest),
                            fixed_template(after, at_rest)))
    errors.invalid("spec.template", after["template"], kFixed);
}

std::string_view job_state(const Json& job) {
  const auto has = [&](std::string_view type) {
    for (const Json& condition : job["status"]["conditions"].items())
      if (condition["type"].as_string() == type && condition["status"].as_string() == "True") return true;
    return false;
  };
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (!job["metadata"]["deletionTimestamp"].is_null()) return "Terminating";
  if (has("Suspended")) return "Suspended";
  if (has("FailureTarget")) return "FailureTarget";
  if (has("SuccessCriteriaMet")) return "SuccessCriteriaMet";
  return "Running";
}

std::vector<Json> job_cells(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["template"]);
  const Json& spec = o["spec"];
  const Json& status = o["status"];
  std::string completions;
  if (!spec["completions"].is_null())
    completions = base::format("{}/{}", status["succeeded"].as_int(), spec["completions"].as_int());
  else if (spec["parallelism"].as_int() > 1)
    completions = base::format("{}/1 of {}", status["succeeded"].as_int(), spec["parallelism"].as_int());
  else
    completions = base::format("{}/1", status["succeeded"].as_int());
  Json duration("");
  if (const auto start = base::parse_rfc3339(status["startTime"].as_string()))
    duration =
        base::format_human_duration(base::parse_rfc3339(status["completionTime"].as_string()).value_or(now) - *start);
  return {
      Json(job_state(o)), Json(completions), duration, age_of(o, now), names, images, selector_cell(spec["selector"])};
}
constexpr auto kColumnsOfJob =
    with_template_columns({{"Status", ""}, {"Completions", ""}, {"Duration", ""}, {"Age", ""}});
constexpr std::string_view kSelectableOfJob[] = {"status.successful"};

}  // namespace

const KindRules kJob = {.kind = "Job",
                        .defaults = default_job,
                        .prepare = prepare_job,
                        .check = check_job,
                        .check_update = check_job_update,
                        .table = {kColumnsOfJob, job_cells},
                        .selectable = kSelectableOfJob};

}  // namespace apiserver
