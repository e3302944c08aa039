// CronJobs: the schedule, the time zone and the name (webhooks.md 12), and the Jobs that they would make.
#include <algorithm>
#include <cctype>

#include "admission/rules/names.h"
#include "admission/rules/rules.h"
#include "api/cron.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/split.h"

namespace admission {

namespace {

std::string check_schedule(std::string_view schedule) {
  if (schedule.empty()) return " schedule is required, but got empty";
  std::string text;
  if (schedule.find("TZ") != std::string_view::npos)
    text += " schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone field";
  if (!api::CronSchedule::parse(schedule, {}).ok()) text += "schedule is not a valid cron expression";
  return text;
}

bool is_zone_part(std::string_view part) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_' || c == '+'; };
  return part != "." && part != ".." && !part.empty() && part.size() <= 14 && part.front() != '-' &&
         std::all_of(part.begin(), part.end(), allowed);
}

std::string check_zone(const Json& zone, const Options& options) {
  if (!zone.is_string()) return {};
  const std::string name = zone.str();
  if (name.empty()) return " timeZone must be nil or non-empty string, got empty string";
  std::string text;
  for (const std::string_view part : base::split(name, '/'))
    if (!is_zone_part(part)) text += " unknown timeZone";
  const bool well_formed = text.empty();
  if (base::lower(name) == "local")
    text += " timeZone can't be Local, and must be defined in https://www.iana.org/time-zones";
  // COMPAT(time-zones). Go knows a zone "Local", in this spelling.
  if (name != "Local" && (!well_formed || (options.knows_time_zone && !options.knows_time_zone(name))))
    text += " invalid timeZone";
  return text;
}

std::string check_name(const std::string& name) {
  if (name.size() > 52)
    return "cronJob name must be no more than 52 characters to accommodate job name suffix (max 63 total)";
  const auto problems = check_qualified_name(name);
  if (problems.empty()) return {};
  return base::format("invalid cronJob name {}: {}", quoted(name), join(problems, "; "));
}

// COMPAT(cronjob-template): Jobs of it would be refused, one by one, with nobody there to hear it.
std::string check_template(const AdmissionRequest& request, const ObjectReader& objects, const Options& options) {
  const Json& spec = request.object["spec"];
  // CronJobs that were stored before the rule was there can still be suspended, or lose their finalizers.
  const bool is_old =
      request.operation == api::Operation::kUpdate && spec["jobTemplate"] == request.old_object["spec"]["jobTemplate"];
  if (is_old || !spec["jobTemplate"].is_object()) return {};
  // Jobs are named by minutes, and by seconds where there are several a minute.
  const auto schedule = api::CronSchedule::parse(spec["schedule"].as_string(), {});
  const bool often = schedule.ok() && schedule->every().ns > 0 && schedule->every() < base::minutes(1);
  const std::string job = base::format("{}-{}", api::name_of(request.object), often ? "1000000000" : "10000000");
  return check_job_template(job, request.object["metadata"]["namespace"], spec["jobTemplate"]["spec"],
                            "spec.jobTemplate.spec", objects, options);
}

}  // namespace

AdmissionAnswer check_cronjob(const AdmissionRequest& request, const ObjectReader& objects, const Options& options) {
  if (request.operation != api::Operation::kCreate && request.operation != api::Operation::kUpdate)
    return refuse("expect operation to be 'CREATE' or 'UPDATE'");
  const Json& spec = request.object["spec"];
  std::string text = check_schedule(spec["schedule"].as_string()) + check_zone(spec["timeZone"], options);
  if (text.starts_with(" ")) text.erase(0, 1);
  if (const std::string name = check_name(std::string(api::name_of(request.object))); !name.empty())
    text += (text.empty() ? "" : "; ") + name;
  if (text.empty()) text = check_template(request, objects, options);
  return text.empty() ? AdmissionAnswer{} : refuse(std::move(text));
}

}  // namespace admission
