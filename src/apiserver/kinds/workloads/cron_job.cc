// CronJobs of batch/v1.
#include <vector>

#include "api/cron.h"
#include "api/pods/pod_spec.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/workloads/job_specs.h"
#include "apiserver/kinds/workloads/pod_templates.h"
#include "apiserver/kinds/workloads/template_cells.h"
#include "base/time_zone.h"

namespace apiserver {

using api::Json;

namespace {

void default_cron_job(Json& object) {
  if (!takes_members(object["spec"])) return;
  Json& spec = object.edit("spec");
  set_if_absent(spec, "concurrencyPolicy", "Allow");
  set_if_absent(spec, "suspend", false);
  set_if_absent(spec, "successfulJobsHistoryLimit", 3);
  set_if_absent(spec, "failedJobsHistoryLimit", 1);
  set_if_absent(spec, "jobTemplate", Json::object());  // an empty one lacks what a Job needs
  if (spec["jobTemplate"].is_object()) set_if_absent(spec.edit("jobTemplate"), "spec", Json::object());
  if (spec["jobTemplate"]["spec"].is_object()) default_pod_template(spec.edit_path({"jobTemplate", "spec"}));
}

base::Status prepare_cron_job(const Context&, Json& object, api::FieldErrors&) {
  object.set("status", Json::object());
  return {};
}

void check_cron_job(const Json& stored, const Json& object, api::FieldErrors& errors) {
  const Json& spec = object["spec"];
  const Json& schedule = spec["schedule"];
  if (schedule.as_string().empty())
    errors.required("spec.schedule");
  else if (const auto parsed = api::CronSchedule::parse(schedule.as_string(), base::TimeZone()); !parsed.ok())
    errors.invalid("spec.schedule", schedule, parsed.error().message);
  else if (api::names_time_zone(schedule.as_string()))
    errors.invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  if (const Json& zone = spec["timeZone"]; zone.is_string() && !base::TimeZone::load(zone.str()).ok())
    errors.invalid("spec.timeZone", zone, "unknown time zone " + zone.str());
  const std::string_view policy = spec["concurrencyPolicy"].as_string();
  if (policy != "Allow" && policy != "Forbid" && policy != "Replace")
    errors.unsupported("spec.concurrencyPolicy", spec["concurrencyPolicy"], R"("Allow", "Forbid", "Replace")");
  check_not_negative(spec, "spec", {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"},
                     errors);
  if (api::name_of(object).size() > 52)
    errors.invalid("metadata.name", object["metadata"]["name"], "must be no more than 52 characters");
  check_job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec",
                 api::has_host_sysctls(stored["spec"]["jobTemplate"]["spec"]["template"]["spec"]), errors);
}

std::vector<Json> cron_job_cells(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["jobTemplate"]["spec"]["template"]);
  const Json& spec = o["spec"];
  return {spec["schedule"],
          spec["timeZone"].is_string() ? spec["timeZone"] : Json("<none>"),
          Json(spec["suspend"].as_bool() ? "True" : "False"),
          Json(static_cast<std::int64_t>(o["status"]["active"].size())),
          time_since(o["status"]["lastScheduleTime"], now, "<none>"),
          age_of(o, now),
          names,
          images,
          selector_cell(spec["jobTemplate"]["spec"]["selector"])};
}
constexpr auto kColumnsOfCronJob = with_template_columns({{"Schedule", ""},
                                                          {"Timezone", ""},
                                                          {"Suspend", "", "boolean"},
                                                          {"Active", "", "integer"},
                                                          {"Last Schedule", ""},
                                                          {"Age", ""}});

}  // namespace

const KindRules kCronJob = {.kind = "CronJob",
                            .defaults = default_cron_job,
                            .prepare = prepare_cron_job,
                            .check = check_cron_job,
                            .table = {kColumnsOfCronJob, cron_job_cells}};

}  // namespace apiserver
