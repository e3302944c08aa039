// A run is one object, and what a person asks of it a field there; the controller follows.
#include "pipelines/rest/runs.h"

#include <algorithm>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "pipelines/argo/run_workflow.h"
#include "pipelines/rest/answers.h"
#include "pipelines/rest/listing.h"
#include "pipelines/rest/names.h"
#include "pipelines/rest/nodes.h"
#include "pipelines/rest/objects.h"
#include "pipelines/rest/task_shapes.h"
#include "pipelines/rest/work.h"

namespace pipelines::rest {

using api::Json;
using base::Code;
using base::make_error;

namespace {

bool has_ended(const Json& run) {
  const std::string_view state = run["status"]["state"].as_string();
  return state == "SUCCEEDED" || state == "FAILED" || state == "CANCELED" || state == "SKIPPED";
}

base::Result<Reply> change(const Call& call, Facts& facts, std::string_view field, Json value) {
  TRY(const Json run, object_of(facts, kRunNoun, call.names[0]));
  TRY_VOID(patch(facts, kRunNoun, run, Json::object({{"spec", Json::object({{field, std::move(value)}})}})));
  return Reply();
}

// The account of Kubeflow's profiles stands for one that is not named, where the namespace has it.
base::Status name_account(Facts& facts, Wanted& wanted) {
  if (!wanted.spec["serviceAccountName"].as_string().empty()) return {};
  const auto found = facts.ask({.verb = client::Verb::kGet,
                                .resource = api::resources::kServiceAccounts,
                                .ns = wanted.ns,
                                .name = "default-editor",
                                .subresource = {}});
  if (facts.next()) return found.error();
  if (found.ok()) wanted.spec.set("serviceAccountName", "default-editor");
  return {};
}

}  // namespace

const ListedAs kRunList = {"runs",
                           "run_id",
                           {"display_name", "description", "created_at", "scheduled_at", "finished_at", "state",
                            "storage_state", "experiment_id", "recurring_run_id", "service_account"}};

Json run_shape(const Json& run, const Facts& facts) {
  const Json &spec = run["spec"], &status = run["status"];
  Json row = Json::object({{"run_id", api::uid_of(run)}});
  show_work(run, facts, row);
  row.set("storage_state", storage_state(run));
  row.set("scheduled_at", time_or_epoch(spec["scheduledAt"]));
  row.set("finished_at", time_or_epoch(status["finishedAt"]));
  row.set("state", shown_state(status["state"].as_string()));
  if (const std::string error = status["error"].str(); !error.empty()) row.set("error", failure(error));
  row.set("state_history", shown_history(status["stateHistory"]));
  if (const std::string maker = spec["recurringRunName"].str(); !maker.empty())
    row.set("recurring_run_id", facts.id_of(kRecurringNoun.resource, {std::string(api::namespace_of(run)), maker}));
  return row;
}

base::Result<Reply> create_run(const Call& call, Facts& facts) {
  TRY(Wanted wanted, wanted_work(call, facts));
  if (argo::is_workflow(wanted.spec["pipelineSpec"]))
    return make_error(Code::kInvalid,
                      "this is a pipeline of version 1, an Argo Workflow: version 1 of the SDK runs it, and kubectl "
                      "create -f does");
  TRY_VOID(name_account(facts, wanted));
  Json object = new_object("PipelineRun", name_prefix(wanted.name), std::move(wanted.spec));
  TRY(const Json run, create(facts, kRunNoun, wanted.ns, std::move(object)));
  return Reply{run_shape(run, facts)};
}

base::Result<Reply> get_run(const Call& call, Facts& facts) {
  TRY(const Json run, object_of(facts, kRunNoun, call.names[0]));
  TRY(std::vector<Json> tasks, tasks_of(facts, run));
  Json row = run_shape(run, facts);
  row.set("run_details", run_details(api::uid_of(run), std::move(tasks)));
  return Reply{std::move(row)};
}

base::Result<Reply> list_runs(const Call& call, Facts& facts) {
  TRY(std::vector<Json> runs, objects_of_experiment(call, facts, kRunNoun.resource));
  return listed_objects(call, facts, kRunList,
                        {kRunNoun, std::move(runs), [&facts](const Json& one) { return run_shape(one, facts); }});
}

base::Result<Reply> archive_run(const Call& call, Facts& facts) {
  return change(call, facts, "storageState", "ARCHIVED");
}

base::Result<Reply> unarchive_run(const Call& call, Facts& facts) {
  return change(call, facts, "storageState", "AVAILABLE");
}

base::Result<Reply> terminate_run(const Call& call, Facts& facts) {
  TRY(const Json run, object_of(facts, kRunNoun, call.names[0]));
  if (has_ended(run))
    return make_error(Code::kGone, base::format("the run {} has ended already: {}", shown_name(run),
                                                run["status"]["state"].as_string()));
  TRY_VOID(patch(facts, kRunNoun, run, Json::object({{"spec", Json::object({{"terminate", true}})}})));
  return Reply();
}

base::Result<Reply> retry_run(const Call& call, Facts& facts) {
  TRY(const Json run, object_of(facts, kRunNoun, call.names[0]));
  const std::string_view state = run["status"]["state"].as_string();
  if (state != "FAILED" && state != "CANCELED")
    return make_error(Code::kGone, base::format("the run {} is {}: only one that failed or was ended is tried again",
                                                shown_name(run), shown_state(state)));
  Json spec = Json::object({{"retries", run["spec"]["retries"].as_int() + 1}, {"terminate", Json()}});
  TRY_VOID(patch_as_read(facts, kRunNoun, run, Json::object({{"spec", std::move(spec)}})));
  return Reply();
}

base::Result<Reply> delete_run(const Call& call, Facts& facts) {
  TRY(const Json run, object_of(facts, kRunNoun, call.names[0]));
  return remove(facts, kRunNoun, run);
}

}  // namespace pipelines::rest
