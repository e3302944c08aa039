// The command of the document is run by the launcher, which lies in a ConfigMap: no image needs a shell for it.
#include "controllers/pipelines/step_pod.h"

#include "base/base64.h"
#include "base/format.h"
#include "controllers/framework/controller.h"
#include "controllers/pipelines/executor_input.h"
#include "controllers/pipelines/hashes.h"
#include "controllers/pipelines/placeholders.h"
#include "controllers/pipelines/platform.h"
#include "controllers/pipelines/run_settings.h"
#include "pipelines/launcher/program.h"
#include "pipelines/launcher/sent_report.h"
#include "pipelines/stage/program.h"

namespace controllers::pipelines {

using api::Json;

namespace {

constexpr const char* kLauncherFolder = "/kfp-launcher";
constexpr const char* kLauncherVolume = "kfp-launcher";
constexpr const char* kStageFolder = "/kfp-store";
constexpr const char* kOutputsVolume = "kfp-outputs";
constexpr const char* kWorkspaceVolume = "kfp-workspace";
constexpr std::int64_t kLauncherMode = 0555;
constexpr std::size_t kNameMax = 40;  // of a run in the name of a pod
constexpr std::string_view kReportPath = "/dev/termination-log";

// Another launcher has another name, so that a pod finds the one that it was made for.
std::string launcher_name() {
  static const std::string name = base::format("kfp-launcher-{}", hash_of(::pipelines::launcher_program(), 10));
  return name;
}

std::string stage_name() {
  static const std::string name = base::format("kfp-store-{}", hash_of(::pipelines::stage_program(), 10));
  return name;
}

// The amount of a resource, where the document has it as a text or, as older ones do, as a number of cores or 10^9
// bytes.
Json amount(const Json& resources, const char* text, const char* number, const StepTexts& texts) {
  if (const std::string_view given = resources[std::string_view(text)].as_string(); !given.empty())
    return Json(replaced(given, [&](std::string_view expression) { return meaning_of_step(expression, texts); }));
  const Json& old = resources[std::string_view(number)];
  if (!old.is_number() || old.as_double() <= 0) return {};
  const bool is_memory = std::string_view(number).starts_with("memory");
  return Json(is_memory ? base::format("{}G", old.dump()) : old.dump());
}

Json resources_of(const Json& resources, const StepTexts& texts) {
  Json limits = Json::object(), requests = Json::object();
  const auto set = [](Json& into, std::string_view name, Json value) {
    if (!value.is_null()) into.set(name, std::move(value));
  };
  set(limits, "cpu", amount(resources, "resourceCpuLimit", "cpuLimit", texts));
  set(limits, "memory", amount(resources, "resourceMemoryLimit", "memoryLimit", texts));
  set(requests, "cpu", amount(resources, "resourceCpuRequest", "cpuRequest", texts));
  set(requests, "memory", amount(resources, "resourceMemoryRequest", "memoryRequest", texts));
  const Json& accelerator = resources["accelerator"];
  // The SDK before 2.11 has only the older pair.
  const bool is_old = accelerator["resourceType"].as_string().empty();
  const Json type = amount(accelerator, is_old ? "type" : "resourceType", "", texts);
  if (!type.is_null())
    set(limits, type.as_string(), amount(accelerator, is_old ? "count" : "resourceCount", "", texts));
  Json out = Json::object();
  if (!limits.empty()) out.set("limits", std::move(limits));
  if (!requests.empty()) out.set("requests", std::move(requests));
  return out;
}

Json mount(const char* volume, const char* path) { return Json::object({{"name", volume}, {"mountPath", path}}); }

Json variable(std::string_view name, std::string_view value) {
  return Json::object({{"name", name}, {"value", value}});
}

Json variable_of_secret(std::string_view name, std::string_view secret, std::string_view key) {
  Json reference = Json::object({{"name", secret}, {"key", key}});
  return Json::object({{"name", name}, {"valueFrom", Json::object({{"secretKeyRef", std::move(reference)}})}});
}

// The variables of the launcher's helper. Its plan is not a template: a "$" of a key stays as it is.
void add_variables(const ::pipelines::Staging& staging, Json& env) {
  std::string plan;
  for (const char one : staging.plan) plan += one == '$' ? "$$" : std::string(1, one);
  env.push_back(variable("KFP_STORE_PLAN", plan));
  for (std::size_t i = 0; i < staging.stores.size(); ++i) {
    const ::pipelines::Store& store = staging.stores[i];
    if (store.secret.empty()) continue;
    env.push_back(variable_of_secret(base::format("KFP_STORE_ID_{}", i), store.secret, store.id_key));
    env.push_back(variable_of_secret(base::format("KFP_STORE_KEY_{}", i), store.secret, store.secret_key));
  }
}

void add_volumes(const StepRequest& request, const Options& options, const ::pipelines::Staging& staging, Json& spec,
                 Json& container) {
  Json program = Json::object({{"name", launcher_name()}, {"defaultMode", kLauncherMode}});
  Json volumes = Json::array({Json::object({{"name", kLauncherVolume}, {"configMap", std::move(program)}}),
                              Json::object({{"name", kOutputsVolume}, {"emptyDir", Json::object()}})});
  Json launcher = mount(kLauncherVolume, kLauncherFolder);
  launcher.set("readOnly", true);
  Json mounts = Json::array({std::move(launcher), mount(kOutputsVolume, kOutputsFolder)});
  if (!staging.stores.empty()) {
    Json helper = Json::object({{"name", stage_name()}, {"defaultMode", kLauncherMode}});
    volumes.push_back(Json::object({{"name", kStageVolume}, {"configMap", std::move(helper)}}));
    Json place = mount(kStageVolume, kStageFolder);
    place.set("readOnly", true);
    mounts.push_back(std::move(place));
  }
  for (const std::string& folder : staging.folders) {
    const std::string name = base::format("kfp-files-{}", folder.substr(1));
    volumes.push_back(Json::object({{"name", name}, {"emptyDir", Json::object()}}));
    mounts.push_back(mount(name.c_str(), folder.c_str()));
  }
  if (!options.report_address.empty()) {
    volumes.push_back(::pipelines::report_volume());
    mounts.push_back(::pipelines::report_mount());
  }
  if (staging.reads_volume) {
    volumes.push_back(Json::object(
        {{"name", kStoreVolume}, {"persistentVolumeClaim", Json::object({{"claimName", options.claim}})}}));
    mounts.push_back(mount(kStoreVolume, kStorePath));
  }
  if (has_workspace(settings_of(request.run))) {
    Json claim = Json::object({{"claimName", workspace_name(request.facts)}});
    volumes.push_back(Json::object({{"name", kWorkspaceVolume}, {"persistentVolumeClaim", std::move(claim)}}));
    mounts.push_back(mount(kWorkspaceVolume, kWorkspacePath));
  }
  spec.set("volumes", std::move(volumes));
  container.set("volumeMounts", std::move(mounts));
}

std::vector<Json> launcher_words(const Json& input, const ::pipelines::Staging& staging, const Options& options,
                                 std::string_view ns, std::string_view pod) {
  std::vector<Json> words = {"--report", kReportPath, "--metadata", input["outputs"]["outputFile"]};
  words.emplace_back("--limit");
  words.emplace_back(base::format("{}", options.report_bytes_max));
  ::pipelines::add_report_words(options.report_address, ns, pod, words);
  for (const Json::Member& one : input["outputs"]["parameters"].members()) {
    words.emplace_back("--parameter");
    words.push_back(one.value["outputFile"]);
  }
  for (const Json::Member& one : input["outputs"]["artifacts"].members()) {
    words.emplace_back("--artifact");
    words.emplace_back(local_path(one.value["artifacts"][std::size_t{0}]));
  }
  if (!staging.stores.empty()) {
    words.emplace_back("--stage");
    words.emplace_back(base::format("{}/stage", kStageFolder));
  }
  words.emplace_back("--");
  return words;
}

base::Result<Json> main_container(const StepRequest& request, const Json& input, const ::pipelines::Staging& staging,
                                  const Options& options) {
  const Json& from = request.executor.container;
  const StepTexts texts{request.facts, input, request.task["spec"]["taskName"].str(),
                        std::string(api::uid_of(request.task))};
  TRY(const std::vector<std::string> command, words_of(from["command"], texts));
  TRY(const std::vector<std::string> arguments, words_of(from["args"], texts));
  const std::string name = pod_name_of(request.facts, request.task["spec"]["path"].as_string(), request.attempt);
  Json container = Json::object({{"name", "main"}, {"terminationMessagePolicy", "FallbackToLogsOnError"}});
  container.set("image", replaced(from["image"].as_string(),
                                  [&](std::string_view expression) { return meaning_of_step(expression, texts); }));
  std::vector<Json> words;
  if (!command.empty()) {
    container.set("command", Json::array({Json(base::format("{}/launch", kLauncherFolder))}));
    words = launcher_words(input, staging, options, request.facts.ns, name);
  }
  for (const std::string& one : command) words.emplace_back(one);
  for (const std::string& one : arguments) words.emplace_back(one);
  if (!words.empty()) container.set("args", Json::array(std::move(words)));
  Json env = Json::array({variable("KFP_POD_NAME", name), variable("KFP_RUN_ID", request.facts.uid)});
  for (const Json& one : from["env"].items())
    env.push_back(variable(one["name"].as_string(), replaced(one["value"].as_string(), [&](std::string_view text) {
                             return meaning_of_step(text, texts);
                           })));
  if (!staging.stores.empty()) add_variables(staging, env);
  container.set("env", std::move(env));
  if (Json resources = resources_of(from["resources"], texts); !resources.empty())
    container.set("resources", std::move(resources));
  return container;
}

// Names of variables and volumes that are the launcher's own.
bool is_own(const Json& one) {
  const std::string_view name = one["name"].as_string();
  return name.starts_with("KFP_") || name == kLauncherVolume || name == kOutputsVolume || name == kStageVolume ||
         name == kStoreVolume || name == ::pipelines::kReportVolume;
}

// The parts of the pod that its component hands on, by the names of the SDK's TaskConfig. Parts that are not the step's
// as well leave the pod.
Json handed_on(const std::vector<::pipelines::Passthrough>& passthroughs, Json& spec, Json& container) {
  Json config = Json::object();
  const auto take = [&config](Json& from, const char* key, bool stays) {
    if (const Json& value = from[std::string_view(key)]; !value.is_null()) config.set(key, value);
    if (!stays) from.erase(key);
  };
  const auto take_list = [&config](Json& from, const char* key, bool stays) {
    Json own = Json::array(), others = Json::array();
    for (const Json& one : from[std::string_view(key)].items()) (is_own(one) ? own : others).push_back(one);
    if (!stays) from.set(key, std::move(own));
    if (!others.empty()) config.set(key, std::move(others));
  };
  for (const ::pipelines::Passthrough& one : passthroughs) {
    const bool stays = one.applies_to_task;
    switch (one.part) {
      case ::pipelines::PodPart::kResources: take(container, "resources", stays); break;
      case ::pipelines::PodPart::kEnv: take_list(container, "env", stays); break;
      case ::pipelines::PodPart::kAffinity: take(spec, "affinity", stays); break;
      case ::pipelines::PodPart::kTolerations: take(spec, "tolerations", stays); break;
      case ::pipelines::PodPart::kNodeSelector: take(spec, "nodeSelector", stays); break;
      case ::pipelines::PodPart::kVolumes:
        take_list(spec, "volumes", stays);
        take_list(container, "volumeMounts", stays);
        break;
    }
  }
  return config;
}

// The name of the parameter that gets them; empty: the component has none.
std::string config_parameter(const ::pipelines::Component& component) {
  for (const auto& [name, spec] : component.input_parameters)
    if (spec.type == ::pipelines::ParameterType::kTaskConfig) return name;
  return {};
}

Json metadata_of(const StepRequest& request) {
  Json labels = Json::object({{kRunLabel, request.facts.name},
                              {"pipeline/runid", request.facts.uid},
                              {"pipelines.kubeflow.org/v2_component", "true"}});
  // A sidecar would keep the pod running when the step has ended.
  Json annotations = Json::object(
      {{"pipelines.kubeflow.org/run_name", request.facts.display_name}, {"sidecar.istio.io/inject", "false"}});
  if (const auto queue = api::annotation_of(request.run, kQueueAnnotation); !queue.empty())
    annotations.set(kQueueAnnotation, queue);
  Json owner = request.task;
  owner.set("apiVersion", "pipelines.kubeflow.org/v2beta1");
  owner.set("kind", "PipelineTask");
  return Json::object({{"name", pod_name_of(request.facts, request.task["spec"]["path"].as_string(), request.attempt)},
                       {"namespace", request.facts.ns},
                       {"labels", std::move(labels)},
                       {"annotations", std::move(annotations)},
                       {"ownerReferences", Json::array({api::controller_reference(owner)})}});
}

}  // namespace

std::string pod_name_of(const RunFacts& run, std::string_view path, std::int64_t attempt) {
  std::string name = run.name.substr(0, kNameMax);
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return base::format("{}-{}-{}", name, hash_of(base::format("{}/{}", run.uid, path), 10), attempt);
}

bool uses_store(const ::pipelines::Component& component) {
  return !component.input_artifacts.empty() || !component.output_artifacts.empty();
}

Json executor_input_of(const StepRequest& request) {
  const std::string folder =
      base::format("{}/{}/{}/{}/{}", request.facts.root, request.facts.pipeline, request.facts.uid,
                   request.task["spec"]["taskName"].as_string(),
                   pod_name_of(request.facts, request.task["spec"]["path"].as_string(), request.attempt));
  return executor_input(request.component, request.inputs, folder);
}

namespace {

struct AssembledPod {
  Json pod;
  Json config;  // what is handed on
};

base::Result<AssembledPod> assemble(const StepRequest& request, const Options& options) {
  const Json input = executor_input_of(request);
  TRY(const ::pipelines::Staging staging, request.stores.staging_of(input, local_path));
  if (!staging.stores.empty() && ::pipelines::stage_program().empty())
    return base::make_error(base::Code::kInvalid,
                            "this build of volcano reaches no S3-compatible stores: libmbedtls-dev and musl-tools "
                            "were missing when it was made");
  TRY(Json container, main_container(request, input, staging, options));
  Json spec = Json::object({{"restartPolicy", "Never"}, {"schedulerName", options.scheduler}});
  if (request.facts.account != "default") spec.set("serviceAccountName", request.facts.account);
  if (const auto priority = api::annotation_of(request.run, kPriorityAnnotation); !priority.empty())
    spec.set("priorityClassName", priority);
  add_volumes(request, options, staging, spec, container);
  Json pod = Json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata_of(request)}});
  TRY_VOID(add_platform(request.executor.platform, request.platform_value, {pod.edit("metadata"), spec, container}));
  Json config = handed_on(request.component.passthroughs, spec, container);
  spec.set("containers", Json::array({std::move(container)}));
  pod.set("spec", std::move(spec));
  return AssembledPod{std::move(pod), std::move(config)};
}

}  // namespace

base::Result<Json> make_step_pod(const StepRequest& request, const Options& options) {
  TRY(AssembledPod made, assemble(request, options));
  const std::string name = config_parameter(request.component);
  if (name.empty() || made.config.empty()) return std::move(made.pod);
  // The command's input tells of the pod, and is a part of it.
  Values inputs = request.inputs;
  inputs.parameters.set(name, std::move(made.config));
  TRY(AssembledPod again, assemble({.run = request.run,
                                    .task = request.task,
                                    .facts = request.facts,
                                    .component = request.component,
                                    .executor = request.executor,
                                    .inputs = inputs,
                                    .stores = request.stores,
                                    .attempt = request.attempt,
                                    .platform_value = request.platform_value},
                                   options));
  return std::move(again.pod);
}

namespace {

Json program_object(std::string_view ns, const std::string& name, const char* file, std::string_view program) {
  return Json::object(
      {{"apiVersion", "v1"},
       {"kind", "ConfigMap"},
       {"metadata", Json::object({{"name", name},
                                  {"namespace", ns},
                                  {"labels", Json::object({{"app.kubernetes.io/part-of", "pipelines"}})}})},
       {"immutable", true},
       {"binaryData", Json::object({{file, base::base64_encode(program)}})}});
}

}  // namespace

Json launcher_object(std::string_view ns) {
  return program_object(ns, launcher_name(), "launch", ::pipelines::launcher_program());
}

bool has_volume(const Json& pod, std::string_view name) {
  for (const Json& one : pod["spec"]["volumes"].items())
    if (one["name"].as_string() == name) return true;
  return false;
}

Json stage_object(std::string_view ns) {
  return program_object(ns, stage_name(), "stage", ::pipelines::stage_program());
}

Json claim_object(std::string_view ns, const Options& options) {
  Json requests = Json::object({{"requests", Json::object({{"storage", options.claim_size}})}});
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "PersistentVolumeClaim"},
                       {"metadata", Json::object({{"name", options.claim}, {"namespace", ns}})},
                       {"spec", Json::object({{"accessModes", Json::array({Json("ReadWriteOnce")})},
                                              {"resources", std::move(requests)}})}});
}

}  // namespace controllers::pipelines
