// Triggers have the same form in both versions.
#include "pipelines/rest/v1beta1/jobs.h"

#include "pipelines/argo/run_workflow.h"
#include "pipelines/rest/objects.h"
#include "pipelines/rest/recurring_runs.h"
#include "pipelines/rest/v1beta1/references.h"
#include "pipelines/rest/v1beta1/work.h"
#include "pipelines/rest/work.h"

namespace pipelines::rest::v1beta1 {

using api::Json;

namespace {

base::Result<Json> shape(const Json& row, Facts& facts) {
  TRY(const Json recurring, object_of(facts, kRecurringNoun, row["recurring_run_id"].str()));
  const Json& spec = recurring["spec"];
  const bool is_enabled = row["mode"].as_string() == "ENABLE";
  Json out =
      Json::object({{"id", row["recurring_run_id"]},
                    {"name", row["display_name"]},
                    {"pipeline_spec", pipeline_spec_shape(spec["pipelineSpec"], row["runtime_config"]["parameters"])},
                    {"mode", is_enabled ? "ENABLED" : "DISABLED"},
                    {"enabled", is_enabled},
                    {"status", is_enabled ? "ENABLED" : "DISABLED"}});
  for (const std::string_view same :
       {"description", "service_account", "max_concurrency", "trigger", "created_at", "updated_at", "no_catchup"})
    if (row.has(same)) out.set(same, row[same]);
  set_text(out, "error", row["error"]["message"].as_string());
  show_references({std::string(api::namespace_of(recurring)), spec["experimentName"].str(), spec["pipelineName"].str(),
                   spec["pipelineVersionName"].str()},
                  facts, out);
  return out;
}

}  // namespace

base::Result<Reply> create_job(const Call& call, Facts& facts) {
  TRY(Call inner, work_of(call, facts));
  const bool is_off =
      text(call.body, "mode") == "DISABLED" || (call.body.has("enabled") && !call.body["enabled"].as_bool());
  inner.body.set("mode", is_off ? "DISABLE" : "ENABLE");
  for (const std::string_view same : {"trigger", "max_concurrency", "no_catchup"})
    if (const Json& value = member(call.body, same); !value.is_null()) inner.body.set(same, value);
  TRY(const Wanted wanted, wanted_work(inner, facts));
  TRY(const std::string account,
      account_for(facts, wanted.ns, wanted.spec["serviceAccountName"].str(), wanted.spec["pipelineSpec"]));
  inner.body.set("service_account", account);
  TRY(const Reply made, create_recurring_run(inner, facts));
  TRY(Json body, shape(made.body, facts));
  return Reply{std::move(body)};
}

base::Result<Reply> get_job(const Call& call, Facts& facts) {
  TRY(const Reply found, get_recurring_run(call, facts));
  TRY(Json body, shape(found.body, facts));
  return Reply{std::move(body)};
}

base::Result<Reply> list_jobs(const Call& call, Facts& facts) {
  const References asked = references_in_query(call);
  Call inner = call;
  inner.own_namespace = namespace_of(asked, call);
  if (!asked.experiment.empty()) inner.target.query.emplace_back("experiment_id", asked.experiment);
  TRY(Reply reply, list_recurring_runs(inner, facts));
  Json jobs = Json::array();
  for (const Json& row : reply.body["recurringRuns"].items()) {
    TRY(Json job, shape(row, facts));
    jobs.push_back(std::move(job));
  }
  reply.body.erase("recurringRuns");
  reply.body.set("jobs", std::move(jobs));
  return reply;
}

}  // namespace pipelines::rest::v1beta1
