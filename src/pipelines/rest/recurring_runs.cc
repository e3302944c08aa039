// The schedule is checked when the object is made; the controller makes the runs.
#include "pipelines/rest/recurring_runs.h"

#include "api/pipelines/v2beta1/recurring_run.h"
#include "base/format.h"
#include "base/number.h"
#include "base/time.h"
#include "pipelines/rest/answers.h"
#include "pipelines/rest/listing.h"
#include "pipelines/rest/names.h"
#include "pipelines/rest/objects.h"
#include "pipelines/rest/work.h"
#include "pipelines/schedule/run_schedule.h"

namespace pipelines::rest {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::int64_t kConcurrencyMax = 10;

std::optional<std::int64_t> number_of(const Json& value) {
  if (value.is_int()) return value.as_int();
  return base::parse_number<std::int64_t>(value.as_string());
}

base::Status take_times(const Json& given, std::string_view where, Json& schedule) {
  for (const auto& [name, field] : {std::pair("start_time", "startTime"), std::pair("end_time", "endTime")}) {
    const std::string time = text(given, name);
    if (time.empty()) continue;
    if (!base::parse_rfc3339(time))
      return make_error(Code::kInvalid, base::format("trigger.{}.{}: {:?} is not a time", where, name, time));
    schedule.set(field, time);
  }
  return {};
}

base::Result<Json> trigger_of(const Json& given) {
  const Json &cron = member(given, "cron_schedule"), &periodic = member(given, "periodic_schedule");
  if (cron.is_object() == periodic.is_object())
    return make_error(Code::kInvalid, "trigger: it has either a cron_schedule or a periodic_schedule");
  Json schedule;
  if (cron.is_object()) {
    schedule = Json::object({{"cron", text(cron, "cron")}});
    TRY_VOID(take_times(cron, "cron_schedule", schedule));
  } else {
    const auto seconds = number_of(member(periodic, "interval_second"));
    if (!seconds) return make_error(Code::kInvalid, "trigger.periodic_schedule.interval_second: not a number");
    schedule = Json::object({{"intervalSecond", *seconds}});
    TRY_VOID(take_times(periodic, "periodic_schedule", schedule));
  }
  Json trigger = Json::object({{cron.is_object() ? "cronSchedule" : "periodicSchedule", std::move(schedule)}});
  TRY_VOID(RunSchedule::read(trigger));
  return trigger;
}

Json shown_trigger(const Json& trigger) {
  Json out = Json::object();
  for (const auto& [field, name] :
       {std::pair("cronSchedule", "cron_schedule"), std::pair("periodicSchedule", "periodic_schedule")}) {
    const Json& given = trigger[std::string_view(field)];
    if (!given.is_object()) continue;
    Json schedule = Json::object();
    set_text(schedule, "start_time", given["startTime"].as_string());
    set_text(schedule, "end_time", given["endTime"].as_string());
    set_text(schedule, "cron", given["cron"].as_string());
    if (given["intervalSecond"].is_int())
      schedule.set("interval_second", std::to_string(given["intervalSecond"].as_int()));
    out.set(name, std::move(schedule));
  }
  return out;
}

Json shape(const Json& recurring, const Facts& facts) {
  const Json &spec = recurring["spec"], &status = recurring["status"];
  const bool is_enabled = spec["mode"].as_string() != "DISABLE";
  Json row = Json::object({{"recurring_run_id", api::uid_of(recurring)}});
  show_work(recurring, facts, row);
  row.set("max_concurrency", std::to_string(spec["maxConcurrency"].as_int(1)));
  row.set("trigger", shown_trigger(spec["trigger"]));
  row.set("mode", is_enabled ? "ENABLE" : "DISABLE");
  row.set("status", is_enabled ? "ENABLED" : "DISABLED");
  row.set("no_catchup", spec["noCatchup"].as_bool());
  row.set("namespace", api::namespace_of(recurring));
  const Json& last = status["lastRunTime"];
  row.set("updated_at", last.is_string() ? last.str() : created_at(recurring));
  if (const std::string error = status["error"].str(); !error.empty()) row.set("error", failure(error));
  return row;
}

base::Result<Reply> set_mode(const Call& call, Facts& facts, std::string_view mode) {
  TRY(const Json recurring, object_of(facts, kRecurringNoun, call.names[0]));
  TRY_VOID(patch(facts, kRecurringNoun, recurring, Json::object({{"spec", Json::object({{"mode", mode}})}})));
  return Reply();
}

}  // namespace

base::Result<Reply> create_recurring_run(const Call& call, Facts& facts) {
  TRY(Json trigger, trigger_of(member(call.body, "trigger")));
  const auto concurrency = number_of(member(call.body, "max_concurrency")).value_or(1);
  if (concurrency < 1 || concurrency > kConcurrencyMax)
    return make_error(Code::kInvalid,
                      base::format("max_concurrency: {} is not within 1 and {}", concurrency, kConcurrencyMax));
  TRY(Wanted wanted, wanted_work(call, facts));
  wanted.spec.set("maxConcurrency", concurrency);
  if (member(call.body, "no_catchup").as_bool()) wanted.spec.set("noCatchup", true);
  wanted.spec.set("mode", text(call.body, "mode") == "DISABLE" ? "DISABLE" : "ENABLE");
  wanted.spec.set("trigger", std::move(trigger));
  Json object = new_object("RecurringRun", name_prefix(wanted.name), std::move(wanted.spec));
  TRY(const Json made, create(facts, kRecurringNoun, wanted.ns, std::move(object)));
  return Reply{shape(made, facts)};
}

base::Result<Reply> get_recurring_run(const Call& call, Facts& facts) {
  TRY(const Json recurring, object_of(facts, kRecurringNoun, call.names[0]));
  return Reply{shape(recurring, facts)};
}

base::Result<Reply> list_recurring_runs(const Call& call, Facts& facts) {
  TRY(std::vector<Json> all, objects_of_experiment(call, facts, kRecurringNoun.resource));
  return listed_objects(call, facts,
                        {"recurringRuns",
                         "recurring_run_id",
                         {"display_name", "description", "created_at", "updated_at", "mode", "status", "experiment_id",
                          "service_account", "max_concurrency"}},
                        {kRecurringNoun, std::move(all), [&facts](const Json& one) { return shape(one, facts); }});
}

base::Result<Reply> enable_recurring_run(const Call& call, Facts& facts) { return set_mode(call, facts, "ENABLE"); }

base::Result<Reply> disable_recurring_run(const Call& call, Facts& facts) { return set_mode(call, facts, "DISABLE"); }

base::Result<Reply> delete_recurring_run(const Call& call, Facts& facts) {
  TRY(const Json recurring, object_of(facts, kRecurringNoun, call.names[0]));
  const std::string policy = call.query("propagation_policy");
  return remove(facts, kRecurringNoun, recurring,
                policy == "ORPHAN" ? "Orphan" : (policy == "FOREGROUND" ? "Foreground" : "Background"));
}

}  // namespace pipelines::rest
