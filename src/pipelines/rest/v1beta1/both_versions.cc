// A Workflow is shown as a run of version 2 with its nodes as tasks; a PipelineRun as a run of version 1 without a
// manifest of Argo, which it has none of.
#include "pipelines/rest/v1beta1/both_versions.h"

#include <algorithm>
#include <array>

#include "api/argo/v1alpha1/workflow.h"
#include "base/format.h"
#include "pipelines/argo/run_workflow.h"
#include "pipelines/rest/answers.h"
#include "pipelines/rest/nodes.h"
#include "pipelines/rest/objects.h"
#include "pipelines/rest/runs.h"
#include "pipelines/rest/v1beta1/metrics.h"
#include "pipelines/rest/v1beta1/references.h"
#include "pipelines/rest/v1beta1/runs.h"
#include "pipelines/rest/v1beta1/work.h"
#include "pipelines/rest/work.h"

namespace pipelines::rest::v1beta1 {

using api::Json;
using base::Code;

namespace {

bool is_workflow_id(const Facts& facts, const std::string& id) {
  return !facts.find(kRunNoun.resource, id) && facts.find(kWorkflowNoun.resource, id);
}

bool is_workflow(const Json& object) { return object["kind"].as_string() == "Workflow"; }

const Noun& noun_of(const Facts& facts, const std::string& id) {
  return is_workflow_id(facts, id) ? kWorkflowNoun : kRunNoun;
}

// Objects of a kind that the user may not see, or that is not served, are none of the list.
base::Result<std::vector<Json>> or_none(Facts& facts, base::Result<std::vector<Json>> rows) {
  const auto is_silent = [](Code code) { return code == Code::kForbidden || code == Code::kNotFound; };
  if (!rows.ok() && !facts.next() && is_silent(rows.error().code)) return std::vector<Json>();
  return rows;
}

std::vector<Json> joined(std::vector<Json> runs, std::vector<Json> workflows) {
  for (Json& one : workflows) {
    one.set("kind", "Workflow");
    runs.push_back(std::move(one));
  }
  return runs;
}

// Version 2.

std::string_view state_of(std::string_view phase, bool is_ended) {
  if (phase == "Succeeded") return "SUCCEEDED";
  if (phase == "Failed" || phase == "Error") return is_ended ? "CANCELED" : "FAILED";
  if (phase == "Skipped" || phase == "Omitted") return "SKIPPED";
  if (phase == "Running") return is_ended ? "CANCELING" : "RUNNING";
  return "PENDING";
}

Json as_v2(const Json& workflow, const Facts& facts) {
  const argo::RunTexts texts = argo::run_texts(workflow);
  const std::string ns(api::namespace_of(workflow));
  const Json& status = workflow["status"];
  Json parameters = Json::object();
  for (const Json& one : workflow["spec"]["arguments"]["parameters"].items())
    if (const std::string name = one["name"].str(); !name.empty()) parameters.set(name, one["value"].as_string());
  Json row = Json::object({{"run_id", api::uid_of(workflow)},
                           {"experiment_id", facts.id_of(kExperimentNoun.resource, {ns, texts.experiment})},
                           {"display_name", texts.name},
                           {"description", texts.description},
                           {"runtime_config", Json::object({{"parameters", std::move(parameters)}})},
                           {"created_at", created_at(workflow)},
                           {"storage_state", texts.storage_state},
                           {"scheduled_at", texts.scheduled_at.empty() ? created_at(workflow) : texts.scheduled_at},
                           {"finished_at", time_or_epoch(status["finishedAt"])}});
  const std::string state(state_of(status["phase"].as_string(), !workflow["spec"]["shutdown"].is_null()));
  row.set("state", state);
  if (state == "FAILED") row.set("error", failure(status["message"].as_string()));
  row.set("state_history", Json::array());
  set_text(row, "service_account", workflow["spec"]["serviceAccountName"].as_string());
  if (!texts.version.empty()) {
    row.set("pipeline_version_reference",
            Json::object({{"pipeline_id", facts.id_of(kPipelineNoun.resource, {ns, texts.pipeline})},
                          {"pipeline_version_id", facts.id_of(kVersionNoun.resource, {ns, texts.version})}}));
  } else if (workflow["spec"].is_object()) {
    Json metadata = Json::object({{"name", api::name_of(workflow)}});
    row.set("pipeline_spec", Json::object({{"apiVersion", api::resources::kWorkflows.api_version()},
                                           {"kind", "Workflow"},
                                           {"metadata", std::move(metadata)},
                                           {"spec", workflow["spec"]}}));
  }
  if (!texts.recurring_run.empty())
    row.set("recurring_run_id", facts.id_of(kRecurringNoun.resource, {ns, texts.recurring_run}));
  return row;
}

Json tasks_in(const Json& workflow) {
  Json tasks = Json::array();
  for (const Json::Member& one : workflow["status"]["nodes"].members()) {
    const Json& node = one.value;
    Json task = Json::object({{"run_id", api::uid_of(workflow)},
                              {"task_id", one.name()},
                              {"display_name", node["displayName"].as_string()},
                              {"create_time", time_or_epoch(node["startedAt"])},
                              {"start_time", time_or_epoch(node["startedAt"])},
                              {"end_time", time_or_epoch(node["finishedAt"])},
                              {"state", state_of(node["phase"].as_string(), false)}});
    if (task["state"].as_string() == "FAILED") task.set("error", failure(node["message"].as_string()));
    set_text(task, "parent_task_id", node["boundaryID"].as_string());
    if (node["type"].as_string() == "Pod") task.set("pod_name", one.name());
    Json children = Json::array();
    for (const Json& child : node["children"].items()) children.push_back(Json::object({{"task_id", child}}));
    task.set("child_tasks", std::move(children));
    tasks.push_back(std::move(task));
  }
  return Json::object({{"task_details", std::move(tasks)}});
}

Json shape_as_v2(const Json& object, const Facts& facts) {
  return is_workflow(object) ? as_v2(object, facts) : rest::run_shape(object, facts);
}

base::Result<Reply> list_as_v2(const Call& call, Facts& facts) {
  TRY(std::vector<Json> runs, objects_of_experiment(call, facts, kRunNoun.resource));
  const std::string experiment = call.query("experiment_id");
  const auto key = experiment.empty() ? std::nullopt : facts.find(kExperimentNoun.resource, experiment);
  TRY(std::vector<Json> workflows, or_none(facts, facts.rows(kWorkflowNoun.resource, key ? key->ns : call.ns())));
  if (key) std::erase_if(workflows, [&](const Json& one) { return argo::run_texts(one).experiment != key->name; });
  return listed_objects(call, facts, rest::kRunList,
                        {kRunNoun, joined(std::move(runs), std::move(workflows)),
                         [&facts](const Json& one) { return shape_as_v2(one, facts); },
                         [&facts](const std::string& id) -> const Noun& { return noun_of(facts, id); }});
}

base::Result<Reply> get_as_v2(const Call& call, Facts& facts) {
  if (!is_workflow_id(facts, call.names[0])) return rest::get_run(call, facts);
  TRY(const Json workflow, object_of(facts, kWorkflowNoun, call.names[0]));
  Json row = as_v2(workflow, facts);
  row.set("run_details", tasks_in(workflow));
  return Reply{std::move(row)};
}

// Version 1.

std::string_view phase_of(std::string_view state) {
  if (state == "SUCCEEDED") return "Succeeded";
  if (state == "SKIPPED") return "Skipped";
  if (state == "FAILED" || state == "CANCELED") return "Failed";
  return state == "RUNNING" || state == "CANCELING" ? "Running" : "Pending";
}

Json as_v1(const Json& run, const Facts& facts) {
  const Json &spec = run["spec"], &status = run["status"];
  Json work = pipeline_spec_shape({}, spec["runtimeConfig"]["parameters"]);
  if (spec["pipelineSpec"].is_object()) work.set("pipeline_manifest", spec["pipelineSpec"].dump());
  const std::string experiment = spec["experimentName"].str();
  Json row = Json::object({{"id", api::uid_of(run)},
                           {"name", shown_name(run)},
                           {"description", spec["description"].as_string()},
                           {"storage_state", "STORAGESTATE_" + storage_state(run)},
                           {"pipeline_spec", std::move(work)},
                           {"service_account", spec["serviceAccountName"].as_string()},
                           {"created_at", created_at(run)},
                           {"scheduled_at", time_or_epoch(spec["scheduledAt"])},
                           {"finished_at", time_or_epoch(status["finishedAt"])},
                           {"status", phase_of(status["state"].as_string())}});
  set_text(row, "error", status["error"].as_string());
  if (Json metrics = metrics_of(run); !metrics.empty()) row.set("metrics", std::move(metrics));
  show_references({std::string(api::namespace_of(run)), experiment.empty() ? "default" : experiment,
                   spec["pipelineName"].str(), spec["pipelineVersionName"].str()},
                  facts, row);
  return row;
}

Json shape_as_v1(const Json& object, const Facts& facts) {
  return is_workflow(object) ? v1beta1::run_shape(object, facts) : as_v1(object, facts);
}

base::Result<Reply> list_as_v1(const Call& call, Facts& facts) {
  const auto workflows = workflows_asked_for(call, facts);
  if (facts.next()) return workflows.error();
  const References asked = references_in_query(call);
  const auto key = asked.experiment.empty() ? std::nullopt : facts.find(kExperimentNoun.resource, asked.experiment);
  auto found = facts.rows(kRunNoun.resource, key ? key->ns : namespace_of(asked, call));
  if (workflows.ok()) found = or_none(facts, std::move(found));
  TRY(std::vector<Json> runs, std::move(found));
  if (key) std::erase_if(runs, [&](const Json& one) { return experiment_id_of(one, facts) != asked.experiment; });
  return listed_objects(call, facts, v1beta1::kRunList,
                        {kRunNoun, joined(std::move(runs), workflows.ok() ? *workflows : std::vector<Json>()),
                         [&facts](const Json& one) { return shape_as_v1(one, facts); },
                         [&facts](const std::string& id) -> const Noun& { return noun_of(facts, id); }});
}

base::Result<Reply> get_as_v1(const Call& call, Facts& facts) {
  if (!facts.find(kRunNoun.resource, call.names[0])) return v1beta1::get_run(call, facts);
  TRY(const Json run, object_of(facts, kRunNoun, call.names[0]));
  const Json runtime = Json::object({{"pipeline_manifest", run["spec"]["pipelineSpec"].dump()}});
  return Reply{Json::object({{"run", as_v1(run, facts)}, {"pipeline_runtime", runtime}})};
}

template <Handler Two, Handler One>
base::Result<Reply> either(const Call& call, Facts& facts) {
  return is_workflow_id(facts, call.names[0]) ? One(call, facts) : Two(call, facts);
}

constexpr Handler kArchive = either<rest::archive_run, v1beta1::archive_run>;
constexpr Handler kUnarchive = either<rest::unarchive_run, v1beta1::unarchive_run>;
constexpr Handler kTerminate = either<rest::terminate_run, v1beta1::terminate_run>;
constexpr Handler kRetry = either<rest::retry_run, v1beta1::retry_run>;
constexpr Handler kDelete = either<rest::delete_run, v1beta1::delete_run>;
constexpr Handler kArtifact = either<rest::read_artifact, rest::read_workflow_artifact>;
constexpr Handler kPage = either<rest::view_artifact, rest::view_workflow_artifact>;

constexpr std::array kBoth = {
    Route{"POST", "runs/{}:archive", kArchive},
    Route{"POST", "runs/{}:unarchive", kUnarchive},
    Route{"DELETE", "runs/{}", kDelete},
    Route{"GET", "runs/{}/nodes/{}/artifacts/{}:read", kArtifact},
    Route{"GET", "runs/{}/nodes/{}/artifacts/{}:view", kPage},
};

// The routes of one version, and behind them those that both have.
template <std::size_t kCount>
constexpr std::array<Route, kCount + kBoth.size()> with_both(const std::array<Route, kCount>& own) {
  std::array<Route, kCount + kBoth.size()> all{};
  std::ranges::copy(kBoth, std::ranges::copy(own, all.begin()).out);
  return all;
}

constexpr auto kTwo = with_both(std::array{
    Route{"GET", "runs", list_as_v2},
    Route{"GET", "runs/{}", get_as_v2},
    Route{"POST", "runs/{}:terminate", kTerminate},
    Route{"POST", "runs/{}:retry", kRetry},
});

constexpr auto kOne = with_both(std::array{
    Route{"GET", "runs", list_as_v1},
    Route{"GET", "runs/{}", get_as_v1},
    Route{"POST", "runs/{}/terminate", kTerminate},
    Route{"POST", "runs/{}/retry", kRetry},
    Route{"POST", "runs/{}:reportMetrics", report_metrics},
});

}  // namespace

std::span<const Route> runs_as_v2() { return kTwo; }
std::span<const Route> runs_as_v1() { return kOne; }

}  // namespace pipelines::rest::v1beta1
