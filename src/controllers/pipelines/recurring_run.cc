// At most one run a look, and its status after it. Runs stay when their RecurringRun goes: they are history.
#include "controllers/pipelines/recurring_run.h"

#include <algorithm>
#include <array>

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/recurring_run.h"
#include "base/format.h"
#include "controllers/pipelines/task_objects.h"
#include "controllers/workloads/pods.h"
#include "pipelines/argo/run_workflow.h"
#include "pipelines/rest/catalogue_objects.h"
#include "pipelines/schedule/run_schedule.h"
#include "rt/tls/tls.h"

namespace controllers::pipelines {

using api::Json;
using base::Time;
namespace argo = ::pipelines::argo;
namespace resources = api::resources;

namespace {

constexpr std::string_view kByMaker = "recurring", kByPipeline = "pipeline";
// A timer stands still while the machine sleeps, and the clock may be set.
constexpr base::Duration kTimerMax = base::minutes(10);
constexpr std::size_t kPrefixMax = 50;  // of a run's name, which is a label and ends with its time

Time time_of(const Json& text) { return base::parse_rfc3339(text.as_string()).value_or(Time{}); }

// A time by a layout of Go's, of which the numbers are known that a date and a time of day have.
std::string by_layout(Time time, std::string_view layout) {
  const std::string iso = base::format_rfc3339(time);  // 2006-01-02T15:04:05Z
  constexpr std::array<std::pair<std::string_view, std::size_t>, 6> kParts = {
      {{"2006", 0}, {"01", 5}, {"02", 8}, {"15", 11}, {"04", 14}, {"05", 17}}};
  std::string out;
  while (!layout.empty()) {
    const auto part = std::ranges::find_if(kParts, [&](const auto& one) { return layout.starts_with(one.first); });
    const std::size_t size = part == kParts.end() ? 1 : part->first.size();
    out += part == kParts.end() ? std::string(layout.substr(0, 1)) : iso.substr(part->second, size);
    layout.remove_prefix(size);
  }
  return out;
}

struct Macros {
  Time scheduled, now;
  std::string index, uid;

  // The meaning of a word between brackets; unset: it is not a macro.
  std::optional<std::string> meaning(std::string_view word) const {
    constexpr std::string_view kLayout = "20060102150405";
    if (word == "Index") return index;
    if (word == "RunUUID") return uid;
    for (const auto& [name, time] : {std::pair(std::string_view("ScheduledTime"), scheduled), {"CurrentTime", now}}) {
      if (word == name) return by_layout(time, kLayout);
      if (word.starts_with(name) && word.substr(name.size()).starts_with('.'))
        return by_layout(time, word.substr(name.size() + 1));
    }
    return std::nullopt;
  }

  // Texts, also inside of structs, with "[[ScheduledTime]]" and the like replaced.
  Json in(const Json& value) const {
    if (value.is_string()) return in_text(value.as_string());
    if (!value.is_object()) return value;
    Json out = Json::object();
    for (const Json::Member& one : value.members()) out.set(one.name(), in(one.value));
    return out;
  }

 private:
  std::string in_text(std::string_view text) const {
    std::string out;
    for (;;) {
      const std::size_t begin = text.find("[[");
      const std::size_t end = begin == std::string_view::npos ? begin : text.find("]]", begin);
      if (end == std::string_view::npos) return out += text;
      const auto found = meaning(text.substr(begin + 2, end - begin - 2));
      out += text.substr(0, begin);
      out += found ? *found : std::string(text.substr(begin, end + 2 - begin));
      text.remove_prefix(end + 2);
    }
  }
};

class RecurringStep {
 public:
  RecurringStep(const RecurringLook& look, const Turn& turn)
      : look_(look), recurring_(look.recurring), spec_(recurring_["spec"]), turn_(turn), status_(recurring_["status"]) {
    plan_.set_subject(recurring_);
    if (!status_.is_object()) status_ = Json::object();
    status_.erase("error");
    status_.erase("nextRunTime");
  }

  Plan take() {
    status_.set("state", "ENABLED");
    count_runs();
    auto schedule = ::pipelines::RunSchedule::read(spec_["trigger"]);
    if (spec_["mode"].as_string() == "DISABLE")
      status_.set("state", "DISABLED");
    else if (schedule.ok())
      decide(*schedule);
    else
      fail("spec." + schedule.error().message);
    workloads::write_status(plan_, resources::kRecurringRuns, recurring_, std::move(status_), turn_);
    return std::move(plan_);
  }

 private:
  void fail(const std::string& error) {
    status_.set("state", "FAILED");
    status_.set("error", error);
  }

  // Runs that a crash or a refused write kept out of the status, without the runs of an earlier object of this name.
  void count_runs() {
    const Time known = last();
    std::int64_t missed = 0;
    Time newest = known;
    const auto count = [&](Time scheduled) {
      missed += scheduled > known ? 1 : 0;
      newest = std::max(newest, scheduled);
    };
    for (const Json* run : look_.runs) count(time_of((*run)["spec"]["scheduledAt"]));
    for (const Json* run : look_.workflows)
      count(base::parse_rfc3339(argo::run_texts(*run).scheduled_at).value_or(Time{}));
    if (missed == 0) return;
    status_.set("lastRunTime", base::format_rfc3339(newest));
    status_.set("runs", status_["runs"].as_int() + missed);
  }

  // The time from which on times are due.
  Time last() const {
    return std::max(time_of(recurring_["metadata"]["creationTimestamp"]), time_of(status_["lastRunTime"]));
  }

  void decide(const ::pipelines::RunSchedule& schedule) {
    const Time last_run = last();
    const bool only_newest = spec_["noCatchup"].as_bool();
    const auto next = schedule.next(last_run);
    const auto due = only_newest ? schedule.latest(last_run, turn_.now) : next;
    const auto active =
        std::ranges::count_if(look_.runs,
                              [](const Json* run) { return !is_final((*run)["status"]["state"].as_string()); }) +
        std::ranges::count_if(look_.workflows,
                              [](const Json* run) { return (*run)["status"]["finishedAt"].is_null(); });
    if (due && *due <= turn_.now) {
      status_.set("nextRunTime", base::format_rfc3339(*due));
      if (active < spec_["maxConcurrency"].as_int(1)) make_run(*due);
      return;
    }
    if (!next) return;
    status_.set("nextRunTime", base::format_rfc3339(*next));
    plan_.requeue_after(std::min(*next - turn_.now, kTimerMax));
  }

  void make_run(Time due) {
    Json source = source_of_run();
    if (source.is_null()) return;
    const std::int64_t index = status_["runs"].as_int() + 1;
    if (argo::is_workflow(source["pipelineSpec"])) {
      create(resources::kWorkflows, workflow_of(source, due, index));
    } else {
      create(resources::kPipelineRuns, run_of(std::move(source), due, index));
    }
    status_.set("lastRunTime", base::format_rfc3339(due));
    status_.set("runs", index);
  }

  void create(const api::ResourceId& resource, const Json& run) {
    Action& create = plan_.create(resource, run);
    create.existing_is_fine = true;
    create.failure_reason = "FailedCreate";
    create.failure_text = "The run cannot be made: {}";
    plan_.begin_stage();
  }

  // Version 1 of the SDK compiles Workflows, whose runs are objects of that kind.
  Json workflow_of(const Json& source, Time due, std::int64_t index) const {
    Json workflow = argo::run_workflow(source["pipelineSpec"],
                                       {.name = base::format("{} {}", display_name(), base::format_rfc3339(due)),
                                        .description = source["description"].str(),
                                        .experiment = source["experimentName"].str(),
                                        .pipeline = source["pipelineName"].str(),
                                        .version = source["pipelineVersionName"].str(),
                                        .recurring_run = std::string(api::name_of(recurring_)),
                                        .scheduled_at = base::format_rfc3339(due)},
                                       runtime_config(due, index)["parameters"]);
    Json& metadata = workflow.edit("metadata");
    metadata.set("name", run_name(api::name_of(recurring_), due));
    metadata.set("namespace", api::namespace_of(recurring_));
    if (!source["serviceAccountName"].as_string().empty())
      workflow.edit("spec").set("serviceAccountName", source["serviceAccountName"]);
    return workflow;
  }

  Json run_of(Json source, Time due, std::int64_t index) const {
    source.set("displayName", base::format("{} {}", display_name(), base::format_rfc3339(due)));
    source.set("recurringRunName", api::name_of(recurring_));
    source.set("scheduledAt", base::format_rfc3339(due));
    if (spec_["runtimeConfig"].is_object()) source.set("runtimeConfig", runtime_config(due, index));
    return Json::object(
        {{"apiVersion", resources::kPipelineRuns.api_version()},
         {"kind", "PipelineRun"},
         {"metadata", Json::object({{"name", run_name(api::name_of(recurring_), due)},
                                    {"namespace", api::namespace_of(recurring_)},
                                    {"labels", Json::object({{"pipelines.kubeflow.org/recurring-run",
                                                              run_name(api::name_of(recurring_), Time{})}})}})},
         {"spec", std::move(source)}});
  }

  std::string display_name() const {
    const std::string_view given = spec_["displayName"].as_string();
    return std::string(given.empty() ? api::name_of(recurring_) : given);
  }

  // The work as a run names it; null: the status says why there is none.
  Json source_of_run() {
    Json source = Json::object();
    for (const char* field : {"description", "experimentName", "pipelineName", "pipelineVersionName", "pipelineSpec",
                              "platformSpec", "serviceAccountName"})
      if (!spec_[std::string_view(field)].is_null()) source.set(field, spec_[std::string_view(field)]);
    if (!source["pipelineSpec"].is_null() || !source["pipelineVersionName"].as_string().empty()) return source;
    std::vector<Json> versions;
    for (const Json* one : look_.versions) versions.push_back(*one);
    const Json* newest = ::pipelines::rest::newest_version(versions);
    if (newest == nullptr) {
      fail(base::format("spec.pipelineName: {:?} has no PipelineVersion", spec_["pipelineName"].as_string()));
      return {};
    }
    source.set("pipelineVersionName", api::name_of(*newest));
    return source;
  }

  Json runtime_config(Time due, std::int64_t index) const {
    const Macros macros{due, turn_.now, std::to_string(index), run_name(api::name_of(recurring_), due)};
    Json config = spec_["runtimeConfig"];
    if (config["parameters"].is_object()) config.set("parameters", macros.in(config["parameters"]));
    return config;
  }

  const RecurringLook& look_;
  const Json& recurring_;
  const Json& spec_;
  const Turn& turn_;
  Json status_;
  Plan plan_;
};

class RecurringController final : public Controller {
 public:
  std::string_view name() const override { return "pipeline-recurring-run-controller"; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    return {{resources::kPipelineRuns, "create"},
            {resources::kWorkflows, "create"},
            {resources::kRecurringRuns, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {{.resource = resources::kRecurringRuns,
             .keys = [](const View&, const Json& one) { return Keys{api::key_of(one)}; },
             .may_be_absent = true},
            {.resource = resources::kPipelineRuns,
             .keys = [](const View&, const Json& run) { return maker_of(run); },
             .may_be_absent = true},
            {.resource = resources::kWorkflows,
             .keys = [](const View&, const Json& run) { return maker_of_workflow(run); },
             .may_be_absent = true},
            {.resource = resources::kPipelineVersions,
             .keys = [](const View&, const Json&) { return Keys{}; },
             .matters = [](const Json*, const Json*) { return false; },
             .may_be_absent = true}};
  }

  std::vector<IndexBy> indexes() const override {
    return {{resources::kPipelineRuns, std::string(kByMaker), maker_of},
            {resources::kWorkflows, std::string(kByMaker), maker_of_workflow},
            {resources::kPipelineVersions, std::string(kByPipeline), [](const Json& version) {
               return in_namespace_of(version, version["spec"]["pipelineName"].as_string());
             }}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* recurring = view.find(resources::kRecurringRuns, key);
    if (recurring == nullptr || api::is_deleting(*recurring)) return {};
    RecurringLook look{.recurring = *recurring,
                       .runs = view.by_index(resources::kPipelineRuns, kByMaker, key),
                       .workflows = view.by_index(resources::kWorkflows, kByMaker, key)};
    if (const std::string_view named = (*recurring)["spec"]["pipelineName"].as_string(); !named.empty())
      look.versions = view.by_index(resources::kPipelineVersions, kByPipeline,
                                    base::format("{}/{}", api::namespace_of(*recurring), named));
    return recurring_step(look, turn);
  }

 private:
  static Keys in_namespace_of(const Json& object, std::string_view name) {
    return name.empty() ? Keys{} : Keys{base::format("{}/{}", api::namespace_of(object), name)};
  }
  static Keys maker_of_workflow(const Json& run) {
    const Json& annotations = run["metadata"]["annotations"];
    return in_namespace_of(run, annotations.is_null() ? "" : argo::run_texts(run).recurring_run);
  }
  static Keys maker_of(const Json& run) { return in_namespace_of(run, run["spec"]["recurringRunName"].as_string()); }
};

}  // namespace

std::string run_name(std::string_view recurring, Time scheduled) {
  std::string prefix(recurring);
  if (prefix.size() > kPrefixMax)
    prefix = prefix.substr(0, kPrefixMax - 9) + "-" + rt::sha256_hex(recurring).substr(0, 8);
  for (char& c : prefix)
    if (c == '.') c = '-';
  return scheduled.is_set() ? base::format("{}-{}", prefix, scheduled.ns / base::seconds(1).ns) : prefix;
}

Plan recurring_step(const RecurringLook& look, const Turn& turn) { return RecurringStep(look, turn).take(); }

std::unique_ptr<Controller> make_recurring_run_controller() { return std::make_unique<RecurringController>(); }

}  // namespace controllers::pipelines
