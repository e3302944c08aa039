// The whole document: components and executors first, then whether graphs fit together.
#include <algorithm>
#include <set>

#include "base/format.h"
#include "pipelines/ir/fields.h"
#include "pipelines/ir/pipeline.h"
#include "pipelines/ir/read_graph.h"
#include "pipelines/ir/values.h"

namespace pipelines {

using api::Json;

namespace {

base::Result<ParameterSpec> read_parameter(const Field& field, bool is_input) {
  TRY_VOID(field.check_object());
  ParameterSpec read;
  TRY(read.type, read_type(field["parameterType"]));
  if (!is_input) return read;
  TRY(read.is_optional, field["isOptional"].boolean());
  const Field literals = field["literals"];
  TRY_VOID(literals.check_array());
  for (const Json& one : literals.json().items()) {
    auto value = fit(one, read.type);
    if (!value.ok()) return literals.error(value.error().message);
    read.literals.push_back(*std::move(value));
  }
  if (const Field value = field["defaultValue"]; !value.is_absent()) {
    auto fitted = fit(value.json(), read.type);
    if (!fitted.ok()) return value.error(fitted.error().message);
    read.default_value = *std::move(fitted);
  }
  return read;
}

base::Result<ArtifactSpec> read_artifact(const Field& field) {
  TRY_VOID(field.check_object());
  TRY_VOID(field["artifactType"].check_object());
  ArtifactSpec read;
  read.type = field.json()["artifactType"];
  TRY(read.is_list, field["isArtifactList"].boolean());
  TRY(read.is_optional, field["isOptional"].boolean());
  TRY_VOID(field["metadata"].check_object());
  read.metadata = field.json()["metadata"];
  return read;
}

// Outputs are files of these names.
bool is_file_name(std::string_view name) {
  for (const char c : name)
    if (c == '/' || static_cast<unsigned char>(c) < ' ') return false;
  return !name.empty() && name.size() <= kNameBytesMax && name != "." && name != "..";
}

base::Status read_definitions(const Field& definitions, bool is_input, Component& component) {
  const Field parameters = definitions["parameters"];
  TRY_VOID(parameters.check_object());
  auto& read_parameters = is_input ? component.input_parameters : component.output_parameters;
  for (const Json::Member& member : parameters.json().members()) {
    if (!is_file_name(member.name()))
      return parameters.error(base::format("{} is not the name of a parameter", shown(Json(member.name()))));
    TRY(ParameterSpec one, read_parameter(parameters[member.name()], is_input));
    read_parameters.emplace(member.name(), std::move(one));
  }
  const Field artifacts = definitions["artifacts"];
  TRY_VOID(artifacts.check_object());
  auto& read_artifacts = is_input ? component.input_artifacts : component.output_artifacts;
  for (const Json::Member& member : artifacts.json().members()) {
    const std::string_view name = member.name();
    if (!is_file_name(name))
      return artifacts.error(base::format("{} is not the name of an artifact", shown(Json(name))));
    TRY(ArtifactSpec one, read_artifact(artifacts[name]));
    read_artifacts.emplace(name, std::move(one));
  }
  return {};
}

base::Result<std::vector<Passthrough>> read_passthroughs(const Field& list) {
  static constexpr std::pair<std::string_view, PodPart> kParts[] = {
      {"RESOURCES", PodPart::kResources},
      {"ENV", PodPart::kEnv},
      {"KUBERNETES_AFFINITY", PodPart::kAffinity},
      {"KUBERNETES_TOLERATIONS", PodPart::kTolerations},
      {"KUBERNETES_NODE_SELECTOR", PodPart::kNodeSelector},
      {"KUBERNETES_VOLUMES", PodPart::kVolumes}};
  TRY_VOID(list.check_array());
  std::vector<Passthrough> read;
  for (const Json& one : list.json().items()) {
    const std::string_view name = one["field"].as_string();
    const auto* part = std::ranges::find(kParts, name, &std::pair<std::string_view, PodPart>::first);
    if (part == std::end(kParts)) return list.error(base::format("{} is not a part of a pod", shown(one["field"])));
    read.push_back({part->second, one["applyToTask"].as_bool()});
  }
  return read;
}

base::Result<Component> read_component(const std::string& name, const Field& field) {
  TRY_VOID(field.check_object());
  Component component;
  component.name = name;
  TRY_VOID(read_definitions(field["inputDefinitions"], true, component));
  TRY_VOID(read_definitions(field["outputDefinitions"], false, component));
  if (field.json().has("dag")) {
    TRY(component.graph, read_graph(field["dag"]));
  } else {
    TRY(component.executor, field["executorLabel"].name());
    TRY(component.passthroughs, read_passthroughs(field["taskConfigPassthroughs"]));
  }
  return component;
}

base::Status check_texts(const Field& list) {
  TRY_VOID(list.check_array());
  for (const Json& one : list.json().items())
    if (!one.is_string()) return list.error(base::format("{} is not a text", shown(one)));
  return {};
}

base::Result<Executor> read_container(const Field& container) {
  TRY_VOID(container.check_object());
  Executor read;
  read.container = container.json();
  TRY(const std::string image, container["image"].name());
  if (image == "argostub/createpvc") read.kind = Executor::Kind::kMakesClaim;
  if (image == "argostub/deletepvc") read.kind = Executor::Kind::kDeletesClaim;
  TRY_VOID(check_texts(container["command"]));
  TRY_VOID(check_texts(container["args"]));
  const Field env = container["env"];
  TRY_VOID(env.check_array());
  for (const Json& one : env.json().items()) {
    TRY_VOID(Field(one, env.path())["name"].name());
    TRY_VOID(Field(one, env.path())["value"].text());
  }
  TRY_VOID(container["resources"].check_object());
  TRY_VOID(container["resources"]["accelerator"].check_object());
  return read;
}

base::Result<Executor> read_executor(const Field& field) {
  TRY_VOID(field.check_object());
  if (field.json().has("importer")) {
    Executor read;
    read.kind = Executor::Kind::kImporter;
    const Field importer = field["importer"];
    TRY_VOID(importer.check_object());
    const Field uri = importer["artifactUri"];
    TRY_VOID(uri.check_object());
    if (!uri.json()["constant"].is_string() && !uri.json()["runtimeParameter"].is_string())
      return uri.error("constant or runtimeParameter is required");
    TRY_VOID(importer["metadata"].check_object());
    read.importer = importer.json();
    return read;
  }
  if (field.json().has("container")) return read_container(field["container"]);
  return field.error("it is neither a container nor an importer");
}

// Graphs that contain themselves would never end.
class DepthCheck {
 public:
  explicit DepthCheck(const Pipeline& pipeline) : pipeline_(pipeline) {}

  base::Status run(const Component& component, const std::string& path, std::size_t depth = 0) {
    if (!component.graph) return {};
    if (depth > kGraphDepthMax)
      return base::make_error(base::Code::kInvalid,
                              base::format("{}: more than {} graphs stand in each other", path, kGraphDepthMax));
    if (const auto found = checked_.find(component.name); found != checked_.end() && found->second >= depth) return {};
    if (!open_.insert(component.name).second)
      return base::make_error(base::Code::kInvalid,
                              base::format("{}: the component {} contains itself", path, component.name));
    for (const Task& task : component.graph->tasks)
      TRY_VOID(run(pipeline_.component_of(task), base::format("{}.tasks.{}", path, task.name), depth + 1));
    open_.erase(component.name);
    checked_[component.name] = depth;
    return {};
  }

 private:
  const Pipeline& pipeline_;
  std::set<std::string> open_;
  std::map<std::string, std::size_t> checked_;  // the depth at which it was found right
};

base::Status check_executors(const Pipeline& pipeline) {
  for (const auto& [name, component] : pipeline.components) {
    if (component.graph) continue;
    const std::string path = base::format("components.{}", name);
    const auto found = pipeline.executors.find(component.executor);
    if (found == pipeline.executors.end())
      return base::make_error(base::Code::kInvalid, base::format("{}.executorLabel: there is no executor {}", path,
                                                                 shown(Json(component.executor))));
    const bool has_outputs = !component.output_parameters.empty() || !component.output_artifacts.empty();
    if (found->second.kind == Executor::Kind::kContainer && has_outputs && found->second.container["command"].empty())
      return base::make_error(base::Code::kInvalid,
                              base::format("deploymentSpec.executors.{}.container.command: a container with outputs "
                                           "needs a command, which is run by what takes them: write the image's "
                                           "own entrypoint there",
                                           component.executor));
  }
  return {};
}

base::Status read_platform(const Field& platform, Pipeline& pipeline) {
  TRY_VOID(platform.check_object());
  const Field kubernetes = platform["platforms"]["kubernetes"];
  TRY_VOID(kubernetes.check_object());
  TRY_VOID(kubernetes["pipelineConfig"].check_object());
  pipeline.settings = kubernetes.json()["pipelineConfig"];
  const Field executors = kubernetes["deploymentSpec"]["executors"];
  TRY_VOID(executors.check_object());
  for (const Json::Member& member : executors.json().members()) {
    const Field one = executors[member.name()];
    TRY_VOID(one.check_object());
    if (const auto found = pipeline.executors.find(member.name()); found != pipeline.executors.end())
      found->second.platform = one.json();
  }
  return {};
}

}  // namespace

base::Result<Pipeline> read_pipeline(const Json& spec, const Json& platform) {
  const Field document(spec, "");
  if (!spec.is_object()) return document.error("it is not an object");
  TRY(const std::string version, document["schemaVersion"].text());
  if (!version.starts_with("2."))
    return document["schemaVersion"].error(
        base::format("{} is not a version of compiled pipelines that is known here: 2.1.0", shown(Json(version))));
  Pipeline pipeline;
  TRY(pipeline.name, document["pipelineInfo"]["name"].name());
  TRY(pipeline.default_root, document["defaultPipelineRoot"].text());
  const Field components = document["components"];
  TRY_VOID(components.check_object());
  std::size_t tasks = 0;
  for (const Json::Member& member : components.json().members()) {
    TRY(Component one, read_component(std::string(member.name()), components[member.name()]));
    tasks += one.graph ? one.graph->tasks.size() : 0;
    pipeline.components.emplace(member.name(), std::move(one));
  }
  const Field executors = document["deploymentSpec"]["executors"];
  TRY_VOID(executors.check_object());
  for (const Json::Member& member : executors.json().members()) {
    TRY(Executor one, read_executor(executors[member.name()]));
    pipeline.executors.emplace(member.name(), std::move(one));
  }
  TRY(pipeline.root, read_component("root", document["root"]));
  if (!pipeline.root.graph) return document["root"].error("dag is required");
  tasks += pipeline.root.graph->tasks.size();
  if (tasks > kTasksMax) return components.error(base::format("{} tasks are more than {}", tasks, kTasksMax));
  TRY_VOID(check_executors(pipeline));
  TRY_VOID(check_graph(pipeline, pipeline.root, "root.dag"));
  for (auto& [name, component] : pipeline.components)
    if (component.graph) TRY_VOID(check_graph(pipeline, component, base::format("components.{}.dag", name)));
  TRY_VOID(DepthCheck(pipeline).run(pipeline.root, "root.dag"));
  TRY_VOID(read_platform(Field(platform, ""), pipeline));
  return pipeline;
}

}  // namespace pipelines
