// Ids are those of the Workflows; names for people and the experiment are annotations there (argo/run_workflow.h).
#include "pipelines/rest/v1beta1/runs.h"

#include "base/format.h"
#include "pipelines/argo/run_workflow.h"
#include "pipelines/argo/workflow_retry.h"
#include "pipelines/rest/listing.h"
#include "pipelines/rest/names.h"
#include "pipelines/rest/objects.h"
#include "pipelines/rest/v1beta1/metrics.h"
#include "pipelines/rest/v1beta1/references.h"
#include "pipelines/rest/v1beta1/work.h"
#include "pipelines/rest/work.h"

namespace pipelines::rest::v1beta1 {

using api::Json;
using base::Code;
using base::make_error;

namespace {

std::string phase_of(const Json& workflow) {
  const std::string phase = workflow["status"]["phase"].str();
  return phase.empty() ? "Pending" : phase;
}

bool has_ended(std::string_view phase) { return phase == "Succeeded" || phase == "Failed" || phase == "Error"; }

Json without_writers(Json workflow) {
  workflow.edit("metadata").erase("managedFields");
  return workflow;
}

Json detail(const Json& workflow, const Facts& facts) {
  const Json runtime = Json::object({{"workflow_manifest", without_writers(workflow).dump()}});
  return Json::object({{"run", run_shape(workflow, facts)}, {"pipeline_runtime", runtime}});
}

base::Result<Json> change(const Call& call, Facts& facts, Json changes) {
  TRY(const Json workflow, object_of(facts, kWorkflowNoun, call.names[0]));
  return patch(facts, kWorkflowNoun, workflow, std::move(changes));
}

}  // namespace

const ListedAs kRunList = {
    "runs",
    "id",
    {"name", "description", "created_at", "scheduled_at", "finished_at", "status", "storage_state", "service_account"}};

Json run_shape(const Json& workflow, const Facts& facts) {
  const argo::RunTexts texts = argo::run_texts(workflow);
  const Json& status = workflow["status"];
  const std::string phase = phase_of(workflow);
  Json manifest = without_writers(workflow);
  manifest.erase("status");
  Json parameters = Json::object();
  for (const Json& one : workflow["spec"]["arguments"]["parameters"].items())
    if (const std::string name = one["name"].str(); !name.empty()) parameters.set(name, one["value"].as_string());
  Json row = Json::object({{"id", api::uid_of(workflow)},
                           {"name", texts.name},
                           {"description", texts.description},
                           {"storage_state", "STORAGESTATE_" + texts.storage_state},
                           {"pipeline_spec", pipeline_spec_shape(manifest, parameters)},
                           {"service_account", workflow["spec"]["serviceAccountName"].as_string()},
                           {"created_at", created_at(workflow)},
                           {"scheduled_at", texts.scheduled_at.empty() ? created_at(workflow) : texts.scheduled_at},
                           {"finished_at", time_or_epoch(status["finishedAt"])},
                           {"status", phase}});
  if (phase == "Failed" || phase == "Error") set_text(row, "error", status["message"].as_string());
  if (Json metrics = metrics_of(workflow); !metrics.empty()) row.set("metrics", std::move(metrics));
  show_references({std::string(api::namespace_of(workflow)), texts.experiment, texts.pipeline, texts.version}, facts,
                  row);
  return row;
}

base::Result<Reply> create_run(const Call& call, Facts& facts) {
  TRY(const Call inner, work_of(call, facts));
  TRY(const Wanted wanted, wanted_work(inner, facts));
  const Json& spec = wanted.spec;
  const Json& document = spec["pipelineSpec"];
  if (!argo::is_workflow(document))
    return make_error(Code::kInvalid,
                      "the pipeline was compiled by version 2 of the SDK, and is run by that version only");
  TRY(const std::string account, account_for(facts, wanted.ns, spec["serviceAccountName"].str(), document));
  Json workflow = argo::run_workflow(document,
                                     {.name = wanted.name,
                                      .description = spec["description"].str(),
                                      .experiment = spec["experimentName"].str(),
                                      .pipeline = spec["pipelineName"].str(),
                                      .version = spec["pipelineVersionName"].str()},
                                     spec["runtimeConfig"]["parameters"]);
  const Json& named = document["metadata"]["generateName"];
  const std::string begin(named.is_string() ? named.as_string() : document["metadata"]["name"].as_string());
  workflow.edit("metadata").set("generateName", name_prefix(begin.empty() ? wanted.name : begin));
  if (!account.empty()) workflow.edit("spec").set("serviceAccountName", account);
  TRY(const Json made, create(facts, kWorkflowNoun, wanted.ns, std::move(workflow)));
  return Reply{detail(made, facts)};
}

base::Result<Reply> get_run(const Call& call, Facts& facts) {
  TRY(const Json workflow, object_of(facts, kWorkflowNoun, call.names[0]));
  return Reply{detail(workflow, facts)};
}

base::Result<std::vector<Json>> workflows_asked_for(const Call& call, Facts& facts) {
  const References asked = references_in_query(call);
  std::string ns = namespace_of(asked, call), experiment;
  if (!asked.experiment.empty()) {
    const auto key = facts.find(kExperimentNoun.resource, asked.experiment);
    if (!key) return not_found(kExperimentNoun, asked.experiment);
    ns = key->ns;
    experiment = key->name;
  }
  TRY(std::vector<Json> workflows, facts.rows(kWorkflowNoun.resource, ns));
  if (!experiment.empty())
    std::erase_if(workflows, [&](const Json& one) { return argo::run_texts(one).experiment != experiment; });
  return workflows;
}

base::Result<Reply> archive_run(const Call& call, Facts& facts) {
  TRY_VOID(change(call, facts, argo::stored_as("ARCHIVED")));
  return Reply();
}

base::Result<Reply> unarchive_run(const Call& call, Facts& facts) {
  TRY_VOID(change(call, facts, argo::stored_as("AVAILABLE")));
  return Reply();
}

base::Result<Reply> terminate_run(const Call& call, Facts& facts) {
  TRY(const Json workflow, object_of(facts, kWorkflowNoun, call.names[0]));
  if (const std::string phase = phase_of(workflow); has_ended(phase))
    return make_error(Code::kGone,
                      base::format("the run {} has ended already: {}", argo::run_texts(workflow).name, phase));
  TRY_VOID(patch(facts, kWorkflowNoun, workflow, Json::object({{"spec", Json::object({{"shutdown", "Terminate"}})}})));
  return Reply();
}

base::Result<Reply> retry_run(const Call& call, Facts& facts) {
  TRY(const Json workflow, object_of(facts, kWorkflowNoun, call.names[0]));
  const std::string phase = phase_of(workflow);
  if (phase != "Failed" && phase != "Error")
    return make_error(Code::kGone, base::format("the run {} is {}: only one that failed is tried again",
                                                argo::run_texts(workflow).name, phase));
  TRY_VOID(patch_as_read(facts, kWorkflowNoun, workflow, argo::retry_request()));
  return Reply();
}

base::Result<Reply> delete_run(const Call& call, Facts& facts) {
  TRY(const Json workflow, object_of(facts, kWorkflowNoun, call.names[0]));
  return remove(facts, kWorkflowNoun, workflow);
}

}  // namespace pipelines::rest::v1beta1
