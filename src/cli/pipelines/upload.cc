// Files become objects, and runs name them.
#include <algorithm>

#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "cli/pipelines/pipeline.h"
#include "cli/table.h"
#include "pipelines/argo/run_workflow.h"
#include "pipelines/ir/values.h"
#include "pipelines/rest/catalogue_objects.h"
#include "pipelines/rest/names.h"
#include "pipelines/rest/objects.h"
#include "pipelines/rest/work.h"

namespace cli {

using api::Json;
namespace resources = api::resources;
namespace rest = pipelines::rest;

namespace {

client::Request create_of(const api::ResourceId& resource, const std::string& ns, Json object) {
  return {.verb = client::Verb::kCreate,
          .resource = resource,
          .ns = ns,
          .name = {},
          .subresource = {},
          .body = std::move(object)};
}

base::Result<std::vector<Json>> versions_of(Api& server, const std::string& ns, std::string_view pipeline) {
  TRY(std::vector<Json> all, list(server, resources::kPipelineVersions, ns));
  std::erase_if(all, [&](const Json& one) { return one["spec"]["pipelineName"].as_string() != pipeline; });
  return all;
}

// A pipeline of version 1 is uploaded here, and run by others.
base::Status check_version(const rest::Documents& documents) {
  if (!pipelines::argo::is_workflow(documents.pipeline)) return {};
  return base::make_error(base::Code::kInvalid,
                          "this is a pipeline of version 1, an Argo Workflow: kubectl create -f FILE runs it, and kfp "
                          "1.8 does");
}

// The name that a document gives itself: that of its pipeline, or the begin of a Workflow's.
std::string name_in(const rest::Documents& documents) {
  const Json& metadata = documents.pipeline["metadata"];
  std::string name = documents.pipeline["pipelineInfo"]["name"].str();
  if (name.empty()) name = metadata["name"].str();
  if (name.empty()) name = metadata["generateName"].str();
  while (name.ends_with('-')) name.pop_back();
  return name;
}

// The pipeline of a version that was made before it, so that an upload that is cut leaves none without a version.
base::Status make_pipeline_of(World& world, Api& server, const std::string& ns, const rest::CatalogueTexts& texts,
                              const Json& version) {
  TRY(const Json made, server.call(create_of(resources::kPipelines, ns, rest::pipeline_object(texts))));
  client::Request request{.verb = client::Verb::kPatch,
                          .resource = resources::kPipelineVersions,
                          .ns = ns,
                          .name = std::string(api::name_of(version)),
                          .subresource = {}};
  const Json owners = Json::array({rest::owner_of_version(made)});
  request.body = Json::object({{"metadata", Json::object({{"ownerReferences", owners}})}});
  TRY_VOID(server.call(std::move(request)));
  world.out += base::format("pipeline {}/{} was made\n", ns, api::name_of(made));
  return {};
}

// The parameters as the document has them: each text in the type of its input.
base::Result<Json> parameters_of(const Values& values, const rest::Documents& documents) {
  TRY(const pipelines::Pipeline pipeline, pipelines::read_pipeline(documents.pipeline, documents.platform));
  Json parameters = Json::object();
  for (const std::string& given : values.list("param")) {
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos || equals == 0)
      return usage_error(base::format("--param: {:?} is not NAME=VALUE", given));
    const std::string name = given.substr(0, equals);
    const auto input = pipeline.root.input_parameters.find(name);
    if (input == pipeline.root.input_parameters.end())
      return usage_error(base::format("--param: the pipeline {} has no parameter {:?}", pipeline.name, name));
    auto value = pipelines::fit_text(given.substr(equals + 1), input->second.type);
    if (!value.ok()) return usage_error(base::format("--param: {}: {}", name, value.error().message));
    parameters.set(name, *std::move(value));
  }
  TRY_VOID(rest::check_parameters(documents, parameters));
  return parameters;
}

base::Result<std::string> need_experiment(Api& server, const std::string& ns, const std::string& name) {
  const std::string object = rest::object_name(name);
  const auto found = get(server, resources::kPipelineExperiments, ns, object);
  if (found.ok()) return object;
  if (found.error().code != base::Code::kNotFound) return base::Error(found.error());
  TRY_VOID(server.call(create_of(resources::kPipelineExperiments, ns,
                                 rest::new_object("Experiment", object, Json::object({{"displayName", name}})))));
  return object;
}

}  // namespace

bool is_file_name(const std::string& text) {
  return text.find('/') != std::string::npos ||
         std::ranges::any_of(std::array{".yaml", ".yml", ".json", ".zip", ".tgz", ".gz"},
                             [&text](const char* end) { return text.ends_with(end); });
}

base::Result<rest::Documents> documents_in(World& world, const std::string& path) {
  TRY(const std::string bytes, world.read_file(path));
  auto documents = rest::read_documents(bytes);
  if (!documents.ok()) return base::within(documents.take_error(), path);
  return documents;
}

base::Result<Json> version_of(Api& server, const std::string& ns, const std::string& pipeline,
                              const std::string& version) {
  std::string object = pipeline;
  if (!get(server, resources::kPipelines, ns, object).ok()) object = rest::object_name(pipeline);
  TRY(const std::vector<Json> versions, versions_of(server, ns, object));
  if (versions.empty())
    return base::make_error(base::Code::kNotFound,
                            base::format("namespace {} has no pipeline {:?} with a version", ns, pipeline));
  if (version.empty()) return *rest::newest_version(versions);
  for (const Json& one : versions)
    if (rest::shown_name(one) == version || one["spec"]["versionName"].as_string() == version) return one;
  return base::make_error(base::Code::kNotFound, base::format("{} has no version {:?}", pipeline, version));
}

base::Status upload_pipeline(World& world, const Values& values) {
  const std::string& path = values.text("file");
  if (path.empty()) return usage_error("a file must be given");
  TRY(const rest::Documents documents, documents_in(world, path));
  rest::CatalogueTexts texts{values.text("name"), {}, values.text("description")};
  if (texts.name.empty()) texts.name = name_in(documents);
  TRY_VOID(rest::check_texts(texts));
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& ns = values.text("namespace");
  auto pipeline = get(*server, resources::kPipelines, ns, rest::object_name(texts.name));
  const bool is_there = pipeline.ok();
  if (!is_there && pipeline.error().code != base::Code::kNotFound) return pipeline.take_error();
  if (!is_there) pipeline = rest::pipeline_object(texts);
  rest::CatalogueTexts of_version{values.text("version"), {}, values.text("description")};
  if (of_version.name.empty()) {
    TRY(const std::vector<Json> versions, versions_of(*server, ns, api::name_of(*pipeline)));
    of_version.name = base::format("v{}", versions.size() + 1);
  }
  TRY(const Json made, server->call(create_of(resources::kPipelineVersions, ns,
                                              rest::version_object(*pipeline, of_version, documents))));
  if (!is_there) TRY_VOID(make_pipeline_of(world, *server, ns, texts, made));
  world.out += base::format("version {} of pipeline {}/{} was made\n", of_version.name, ns, api::name_of(*pipeline));
  return {};
}

base::Status run_pipeline(World& world, const Values& values) {
  const std::string &source = values.text("pipeline"), &ns = values.text("namespace");
  if (source.empty()) return usage_error("a pipeline or a file must be given");
  rest::Documents documents;
  Json spec = Json::object();
  std::string shown = values.text("name");
  std::unique_ptr<Api> server;
  if (is_file_name(source)) {
    TRY(documents, documents_in(world, source));
    TRY(server, connect(world, values));
  } else {
    TRY(server, connect(world, values));
    TRY(const Json version, version_of(*server, ns, source, values.text("version")));
    documents = {version["spec"]["pipelineSpec"], version["spec"]["platformSpec"]};
    spec.set("pipelineName", version["spec"]["pipelineName"]);
    spec.set("pipelineVersionName", api::name_of(version));
  }
  TRY_VOID(check_version(documents));
  if (shown.empty()) shown = documents.pipeline["pipelineInfo"]["name"].str();
  TRY(Json parameters, parameters_of(values, documents));
  TRY(const std::string experiment, need_experiment(*server, ns, values.text("experiment")));
  spec.set("displayName", shown);
  spec.set("experimentName", experiment);
  spec.set("pipelineSpec", documents.pipeline);
  if (!documents.platform.is_null()) spec.set("platformSpec", documents.platform);
  if (!parameters.empty()) spec.set("runtimeConfig", Json::object({{"parameters", std::move(parameters)}}));
  rest::set_text(spec, "serviceAccountName", values.text("service-account"));
  TRY(const Json made,
      server->call(create_of(resources::kPipelineRuns, ns,
                             rest::new_object("PipelineRun", rest::name_prefix(shown), std::move(spec)))));
  const std::string name(api::name_of(made));
  world.out += base::format("run {}/{} was made\n", ns, name);
  world.show(world);
  if (values.on("no-wait")) return {};
  return follow_run(world, *server, ns, name, values.span("timeout"));
}

}  // namespace cli
