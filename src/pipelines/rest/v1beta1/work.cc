// A manifest comes as text inside of JSON.
#include "pipelines/rest/v1beta1/work.h"

#include "base/format.h"
#include "pipelines/argo/run_workflow.h"
#include "pipelines/rest/documents.h"
#include "pipelines/rest/objects.h"
#include "pipelines/rest/v1beta1/references.h"

namespace pipelines::rest::v1beta1 {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kParametersMax = 1'000;

base::Result<Json> parameters_in(const Json& given) {
  if (given.size() > kParametersMax)
    return make_error(Code::kInvalid, base::format("pipeline_spec.parameters: {} are given, and {} are the most",
                                                   given.size(), kParametersMax));
  Json parameters = Json::object();
  for (const Json& one : given.items()) {
    if (text(one, "name").empty())
      return make_error(Code::kInvalid, "pipeline_spec.parameters: one of them has no name");
    parameters.set(text(one, "name"), text(one, "value"));
  }
  return parameters;
}

}  // namespace

base::Result<Call> work_of(const Call& call, Facts&) {
  const std::string name = text(call.body, "name");
  if (name.empty()) return make_error(Code::kInvalid, "name: a run or a job needs one");
  const References references = references_in(call.body);
  const Json& spec = member(call.body, "pipeline_spec");
  Json body = Json::object({{"display_name", name},
                            {"description", text(call.body, "description")},
                            {"experiment_id", references.experiment},
                            {"namespace", namespace_of(references, call)},
                            {"service_account", text(call.body, "service_account")}});
  const std::string manifest = text(spec, "workflow_manifest"), pipeline = text(spec, "pipeline_id");
  if (!references.version.empty() || !pipeline.empty()) {
    body.set("pipeline_version_reference",
             Json::object({{"pipeline_id", pipeline}, {"pipeline_version_id", references.version}}));
  } else if (!manifest.empty()) {
    auto documents = read_documents(manifest);
    if (!documents.ok()) return base::within(documents.take_error(), "pipeline_spec.workflow_manifest");
    body.set("pipeline_spec", std::move(documents->pipeline));
  } else {
    return make_error(Code::kInvalid,
                      "pipeline_spec: the run needs a workflow_manifest, a pipeline_id, or a reference to a version");
  }
  TRY(Json parameters, parameters_in(member(spec, "parameters")));
  body.set("runtime_config", Json::object({{"parameters", std::move(parameters)}}));
  Call out = call;
  out.body = std::move(body);
  return out;
}

base::Result<std::string> account_for(Facts& facts, const std::string& ns, const std::string& asked,
                                      const Json& document) {
  if (!asked.empty()) return asked;
  const std::string own = document["spec"]["serviceAccountName"].str();
  if (own != argo::kAccountOfSdk) return own;
  for (const std::string& name : {own, std::string("default-editor")}) {
    const auto found = facts.ask({.verb = client::Verb::kGet,
                                  .resource = api::resources::kServiceAccounts,
                                  .ns = ns,
                                  .name = name,
                                  .subresource = {}});
    if (facts.next()) return found.error();
    if (found.ok() || found.error().code != Code::kNotFound) return name;
  }
  return std::string("default");
}

Json pipeline_spec_shape(const Json& document, const Json& parameters) {
  Json list = Json::array();
  for (const Json::Member& one : parameters.members())
    list.push_back(Json::object({{"name", one.name()}, {"value", one.value}}));
  Json out = Json::object({{"parameters", std::move(list)}});
  if (document.is_object()) out.set("workflow_manifest", document.dump());
  return out;
}

void show_references(const WorkNames& names, const Facts& facts, Json& row) {
  Json references = Json::array();
  references.push_back(reference(
      "EXPERIMENT",
      facts.id_of(kExperimentNoun.resource, {names.ns, names.experiment.empty() ? "default" : names.experiment}),
      "OWNER", names.experiment));
  references.push_back(reference("NAMESPACE", names.ns, "OWNER"));
  if (!names.version.empty()) {
    references.push_back(reference("PIPELINE_VERSION", facts.id_of(kVersionNoun.resource, {names.ns, names.version}),
                                   "CREATOR", names.version));
    Json& spec = row.edit("pipeline_spec");
    spec.set("pipeline_id", facts.id_of(kPipelineNoun.resource, {names.ns, names.pipeline}));
    spec.set("pipeline_name", names.pipeline);
  }
  row.set("resource_references", std::move(references));
}

}  // namespace pipelines::rest::v1beta1
