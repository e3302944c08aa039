// A run keeps a copy of the documents, so that nothing that happens to a version changes it.
#include "pipelines/rest/work.h"

#include "api/pipelines/v2beta1/pipeline.h"
#include "base/format.h"
#include "pipelines/argo/run_workflow.h"
#include "pipelines/ir/pipeline.h"
#include "pipelines/ir/values.h"
#include "pipelines/rest/catalogue.h"
#include "pipelines/rest/experiments.h"
#include "pipelines/rest/objects.h"

namespace pipelines::rest {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kRunNameMax = 253;

struct Template {
  Documents documents;
  std::string pipeline = {}, version = {};  // names of objects; empty: the body holds the documents
};

base::Result<Template> template_of(const Call& call, Facts& facts, const std::string& ns) {
  const Json& reference = member(call.body, "pipeline_version_reference");
  std::string version_id = text(reference, "pipeline_version_id");
  if (version_id.empty()) version_id = text(call.body, "pipeline_version_id");
  const std::string pipeline_id = text(reference, "pipeline_id");
  const Json& given = member(call.body, "pipeline_spec");
  if (version_id.empty() && pipeline_id.empty()) {
    if (!given.is_object())
      return make_error(Code::kInvalid, "a run needs a pipeline_version_reference or a pipeline_spec");
    TRY(Documents documents, documents_of(given));
    return Template{std::move(documents)};
  }
  TRY(const Json version, version_for(facts, pipeline_id, version_id));
  if (api::namespace_of(version) != ns)
    return make_error(Code::kInvalid,
                      base::format("the pipeline version {} is in the namespace {}, and the experiment in {}",
                                   shown_name(version), api::namespace_of(version), ns));
  Template found{documents_of_version(version), version["spec"]["pipelineName"].str(),
                 std::string(api::name_of(version))};
  TRY_VOID(check_documents(found.documents));
  return found;
}

}  // namespace

base::Status check_parameters(const Documents& documents, const Json& parameters) {
  if (argo::is_workflow(documents.pipeline)) return argo::check_arguments(documents.pipeline, parameters);
  if (!parameters.is_null() && !parameters.is_object())
    return make_error(Code::kInvalid, "runtime_config.parameters: they are values by name");
  TRY(const Pipeline pipeline, read_pipeline(documents.pipeline, documents.platform));
  const auto& inputs = pipeline.root.input_parameters;
  for (const Json::Member& one : parameters.members()) {
    const auto input = inputs.find(std::string(one.name()));
    if (input == inputs.end())
      return make_error(Code::kInvalid, base::format("runtime_config.parameters: the pipeline {} has no parameter {:?}",
                                                     pipeline.name, one.name()));
    if (one.value.is_null() && input->second.is_optional) continue;
    auto value = fit(one.value, input->second.type);
    if (value.ok())
      if (base::Status literal = check_literals(*value, input->second.literals); !literal.ok())
        value = literal.take_error();
    if (!value.ok())
      return make_error(Code::kInvalid,
                        base::format("runtime_config.parameters.{}: {}", one.name(), value.error().message));
  }
  for (const auto& [name, input] : inputs)
    if (input.is_required() && !parameters.has(name))
      return make_error(Code::kInvalid, base::format("runtime_config.parameters: the pipeline {} needs a value for {}",
                                                     pipeline.name, name));
  return {};
}

base::Result<Wanted> wanted_work(const Call& call, Facts& facts) {
  Wanted wanted;
  wanted.name = text(call.body, "display_name");
  if (wanted.name.empty() || wanted.name.size() > kRunNameMax)
    return make_error(Code::kInvalid, base::format("display_name: a run has one, of {} bytes at most", kRunNameMax));
  std::string experiment_id = text(call.body, "experiment_id");
  if (experiment_id.empty()) experiment_id = call.query("experiment_id");
  const std::string ns = text(call.body, "namespace");
  TRY(const Json experiment, experiment_for(facts, experiment_id, ns.empty() ? call.ns() : ns));
  wanted.ns = api::namespace_of(experiment);
  TRY(const Template source, template_of(call, facts, wanted.ns));
  const Json& config = member(call.body, "runtime_config");
  TRY_VOID(check_parameters(source.documents, config["parameters"]));
  Json& spec = wanted.spec;
  spec = Json::object({{"displayName", wanted.name}, {"experimentName", api::name_of(experiment)}});
  set_text(spec, "description", text(call.body, "description"));
  set_text(spec, "pipelineName", source.pipeline);
  set_text(spec, "pipelineVersionName", source.version);
  spec.set("pipelineSpec", source.documents.pipeline);
  if (!source.documents.platform.is_null()) spec.set("platformSpec", source.documents.platform);
  Json runtime = Json::object();
  if (!config["parameters"].empty()) runtime.set("parameters", config["parameters"]);
  set_text(runtime, "pipelineRoot", text(config, "pipeline_root"));
  if (!runtime.empty()) spec.set("runtimeConfig", std::move(runtime));
  set_text(spec, "serviceAccountName", text(call.body, "service_account"));
  return wanted;
}

std::string experiment_id_of(const Json& object, const Facts& facts) {
  const std::string_view named = object["spec"]["experimentName"].as_string();
  return facts.id_of(kExperimentNoun.resource,
                     {std::string(api::namespace_of(object)), std::string(named.empty() ? "default" : named)});
}

base::Result<std::vector<Json>> objects_of_experiment(const Call& call, Facts& facts, const api::ResourceId& resource) {
  const std::string id = call.query("experiment_id");
  if (id.empty()) return facts.rows(resource, call.ns());
  const auto experiment = facts.find(kExperimentNoun.resource, id);
  if (!experiment) return not_found(kExperimentNoun, id);
  TRY(std::vector<Json> all, facts.rows(resource, experiment->ns));
  std::erase_if(all, [&](const Json& one) { return experiment_id_of(one, facts) != id; });
  return all;
}

void show_work(const Json& object, const Facts& facts, Json& row) {
  const Json& spec = object["spec"];
  const std::string ns(api::namespace_of(object));
  row.set("experiment_id", experiment_id_of(object, facts));
  row.set("display_name", shown_name(object));
  row.set("description", spec["description"].as_string());
  if (const std::string version = spec["pipelineVersionName"].str(); !version.empty()) {
    row.set("pipeline_version_reference",
            Json::object({{"pipeline_id", facts.id_of(kPipelineNoun.resource, {ns, spec["pipelineName"].str()})},
                          {"pipeline_version_id", facts.id_of(kVersionNoun.resource, {ns, version})}}));
  } else if (spec["pipelineSpec"].is_object()) {
    row.set("pipeline_spec", Documents{spec["pipelineSpec"], spec["platformSpec"]}.shown());
  }
  Json runtime =
      Json::object({{"parameters", spec["runtimeConfig"]["parameters"].is_object() ? spec["runtimeConfig"]["parameters"]
                                                                                   : Json::object()}});
  set_text(runtime, "pipeline_root", spec["runtimeConfig"]["pipelineRoot"].as_string());
  row.set("runtime_config", std::move(runtime));
  set_text(row, "service_account", spec["serviceAccountName"].as_string());
  row.set("created_at", created_at(object));
}

}  // namespace pipelines::rest
