// Pods of containers and scripts: what they look like, and what their ends say.
#include <algorithm>
#include <set>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "pipelines/argo/operation.h"
#include "pipelines/launcher/sent_report.h"

namespace pipelines::argo {

using api::Json;

namespace {

constexpr std::string_view kMain = "main";
constexpr std::string_view kScriptAnnotation = "workflows.argoproj.io/script";
constexpr std::string_view kScriptFolder = "/argo/staging";
constexpr std::string_view kRawAnnotation = "workflows.argoproj.io/", kRawVolume = "argo-raw";

// Fields of the pod that a template may have, or the Workflow for all of them: the template's come first.
constexpr std::string_view kOfEither[] = {
    "nodeSelector", "tolerations",  "affinity", "securityContext", "automountServiceAccountToken",
    "hostAliases",  "schedulerName"};
constexpr std::string_view kOfWorkflow[] = {"imagePullSecrets", "dnsPolicy", "dnsConfig", "hostNetwork"};

void merge(Json& into, const Json& from) {
  for (const Json::Member& one : from.members()) into.set(one.name(), one.value);
}

Json metadata_of(const PodRequest& request) {
  const Json& spec = request.look.workflow["spec"];
  Json labels = Json::object(), annotations = Json::object();
  for (const Json* source : {&spec["podMetadata"], &request.spec["metadata"]}) {
    merge(labels, (*source)["labels"]);
    merge(annotations, (*source)["annotations"]);
  }
  labels.set(kWorkflowLabel, api::name_of(request.look.workflow));
  annotations.set(kNodeAnnotation, request.name);
  annotations.set(kNodeNameAnnotation, request.node_name);
  if (request.spec.has("script")) annotations.set(kScriptAnnotation, request.spec["script"]["source"].str());
  std::size_t number = 0;
  for (const Json& one : request.inputs["artifacts"].items()) {
    const std::string file = base::format("raw-{}", number++);
    if (one.has("raw")) annotations.set(base::format("{}{}", kRawAnnotation, file), one["raw"]["data"].str());
  }
  return Json::object({{"name", request.name},
                       {"namespace", api::namespace_of(request.look.workflow)},
                       {"labels", std::move(labels)},
                       {"annotations", std::move(annotations)},
                       {"ownerReferences", Json::array({owner_of(request.look.workflow)})}});
}

// The files of parameters that the command leaves behind, in their order.
std::vector<std::string> output_files(const Json& spec) {
  std::vector<std::string> files;
  for (const Json& one : spec["outputs"]["parameters"].items())
    if (one["valueFrom"]["path"].is_string()) files.push_back(one["valueFrom"]["path"].str());
  return files;
}

// "/a/b/data": "/a/b" and "data".
std::pair<std::string, std::string> parts_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", std::string(path)};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

// The place of an artifact in the claim. Artifacts whose paths are in one folder share one, named after the first.
std::string key_of(const PodRequest& request, const Json& artifact) {
  const auto [folder, file] = parts_of(artifact["path"].as_string());
  std::string_view name = artifact["name"].as_string();
  for (const Json& one : request.spec["outputs"]["artifacts"].items()) {
    if (parts_of(one["path"].as_string()).first != folder) continue;
    name = one["name"].as_string();
    break;
  }
  return base::format("artifacts/{}/{}/{}/{}", api::name_of(request.look.workflow), request.name, name, file);
}

// COMPAT(workflow-artifacts). A file right below the root cannot be a volume, and stays in the container.
bool is_kept(const Json& artifact) { return !parts_of(artifact["path"].as_string()).first.empty(); }

Json artifact_mount(std::string_view path, std::string_view key) {
  return Json::object({{"name", kArtifactsVolume}, {"mountPath", path}, {"subPath", key}});
}

// The folder of an output is a folder of the claim, so that nothing is copied; an input is the file or folder itself,
// which may lie in the folder of an output.
void mount_artifacts(const PodRequest& request, Json& mounts) {
  std::set<std::string> folders;
  for (const Json& one : request.spec["outputs"]["artifacts"].items()) {
    const std::string folder = parts_of(one["path"].as_string()).first;
    if (is_kept(one) && folders.insert(folder).second)
      mounts.push_back(artifact_mount(folder, parts_of(key_of(request, one)).first));
  }
  for (const Json& one : request.inputs["artifacts"].items()) {
    const Json& key = one["s3"]["key"];
    if (!key.is_string() || one["path"].as_string().empty()) continue;
    Json mount = artifact_mount(one["path"].as_string(), key.as_string());
    mount.set("readOnly", true);
    mounts.push_back(std::move(mount));
  }
}

// A file each, beside what the image has in its folder.
void mount_raw(const Json& inputs, Json& mounts) {
  std::size_t number = 0;
  for (const Json& one : inputs["artifacts"].items()) {
    const std::string file = base::format("raw-{}", number++);
    if (one.has("raw"))
      mounts.push_back(
          Json::object({{"name", kRawVolume}, {"mountPath", one["path"]}, {"subPath", file}, {"readOnly", true}}));
  }
}

Json launched(const PodRequest& request, const Json& main, const std::vector<std::string>& files) {
  std::vector<Json> words = {"--report", "/dev/termination-log", "--metadata", "/tmp/outputs/none", "--limit"};
  words.emplace_back(base::format("{}", request.look.report_bytes_max));
  if (request.keeps_result) {
    words.emplace_back("--result");
    words.emplace_back(base::format("{}", kResultMax));
  }
  add_report_words(request.look.report_address, api::namespace_of(request.look.workflow), request.name, words);
  for (const std::string& file : files) {
    words.emplace_back("--parameter");
    words.emplace_back(file);
  }
  words.emplace_back("--");
  for (const char* part : {"command", "args"})
    for (const Json& word : main[std::string_view(part)].items()) words.push_back(word);
  return Json::array(std::move(words));
}

Json main_container(const PodRequest& request) {
  const Json& spec = request.spec;
  Json main = spec.has("script") ? spec["script"] : spec["container"];
  main.erase("source");
  main.set("name", kMain);
  Json mounts = main["volumeMounts"].is_array() ? main["volumeMounts"] : Json::array();
  if (spec.has("script")) {
    Json command = main["command"];
    command.push_back(base::format("{}/script", kScriptFolder));
    main.set("command", std::move(command));
    mounts.push_back(Json::object({{"name", "argo-staging"}, {"mountPath", kScriptFolder}}));
  }
  mount_artifacts(request, mounts);
  mount_raw(request.inputs, mounts);
  if (const std::vector<std::string> files = output_files(spec); !files.empty() || request.keeps_result) {
    main.set("args", launched(request, main, files));
    main.set("command", Json::array({Json("/kfp-launcher/launch")}));
    mounts.push_back(Json::object({{"name", kLauncherVolume}, {"mountPath", "/kfp-launcher"}, {"readOnly", true}}));
    if (!request.look.report_address.empty()) mounts.push_back(report_mount());
  }
  if (!mounts.empty()) main.set("volumeMounts", std::move(mounts));
  return main;
}

// The problem of a pod whose artifacts or outputs cannot be had; empty: there is none.
std::string lacks(const Json& spec, const Json& inputs, bool keeps_result) {
  const Json& main = spec[spec.has("script") ? "script" : "container"];
  if (!output_files(spec).empty() && main["command"].empty())
    return "outputs.parameters: the container needs a command, which is run by what takes its outputs";
  if (keeps_result && main["command"].empty())
    return "outputs.result: the container needs a command, which is run by what takes its output";
  for (const Json& one : inputs["artifacts"].items()) {
    const std::string name = one["name"].str();
    if (one.has("raw") && !one["path"].as_string().starts_with('/'))
      return base::format("inputs.artifacts.{}: its path has to be that of a file", name);
    if (!one.has("raw") && !one["path"].as_string().starts_with('/'))
      return base::format("inputs.artifacts.{}: its path has to begin with /", name);
  }
  return {};
}

// Raw artifacts come as the script does.
Json raw_volume(const Json& inputs) {
  Json items = Json::array();
  std::size_t number = 0;
  for (const Json& one : inputs["artifacts"].items()) {
    const std::string file = base::format("raw-{}", number++);
    const std::string field = base::format("metadata.annotations['{}{}']", kRawAnnotation, file);
    if (one.has("raw"))
      items.push_back(Json::object({{"path", file}, {"fieldRef", Json::object({{"fieldPath", field}})}}));
  }
  if (items.empty()) return {};
  return Json::object({{"name", kRawVolume}, {"downwardAPI", Json::object({{"items", std::move(items)}})}});
}

// The script comes as a file of the pod's annotation, so that it needs no object of its own.
Json script_volume() {
  const std::string field = base::format("metadata.annotations['{}']", kScriptAnnotation);
  const Json item = Json::object({{"path", "script"}, {"fieldRef", Json::object({{"fieldPath", field}})}});
  return Json::object({{"name", "argo-staging"}, {"downwardAPI", Json::object({{"items", Json::array({item})}})}});
}

// Sidecars end with the main container, as restartable init containers do.
Json init_containers(const Json& spec) {
  Json all = Json::array();
  for (const Json& one : spec["sidecars"].items()) {
    Json sidecar = one;
    sidecar.set("restartPolicy", "Always");
    all.push_back(std::move(sidecar));
  }
  for (const Json& one : spec["initContainers"].items()) all.push_back(one);
  return all;
}

Json volumes_of(const PodRequest& request) {
  const Json& spec = request.look.workflow["spec"];
  Json all = Json::array();
  for (const Json* list : {&spec["volumes"], &request.spec["volumes"]})
    for (const Json& one : list->items()) all.push_back(one);
  const std::string workflow(api::name_of(request.look.workflow));
  for (const Json& claim : spec["volumeClaimTemplates"].items())
    all.push_back(
        Json::object({{"name", claim["metadata"]["name"]},
                      {"persistentVolumeClaim", Json::object({{"claimName", claim_name(workflow, claim)}})}}));
  if (request.spec.has("script")) all.push_back(script_volume());
  if (Json raw = raw_volume(request.inputs); !raw.is_null()) all.push_back(std::move(raw));
  const bool is_launched = request.keeps_result || !output_files(request.spec).empty();
  if (is_launched && !request.look.report_address.empty()) all.push_back(report_volume());
  if (is_launched)
    all.push_back(Json::object(
        {{"name", kLauncherVolume},
         {"configMap", Json::object({{"name", request.look.launcher}, {"defaultMode", std::int64_t{0555}}})}}));
  Json mounts = Json::array();
  mount_artifacts(request, mounts);
  if (!mounts.empty())
    all.push_back(Json::object({{"name", kArtifactsVolume},
                                {"persistentVolumeClaim", Json::object({{"claimName", request.look.artifacts}})}}));
  return all;
}

// The sentence of a pod that waits: its container's, or the scheduler's.
std::string why_it_waits(const Json& status) {
  for (const std::string_view list : {"initContainerStatuses", "containerStatuses"})
    for (const Json& one : status[list].items()) {
      const Json& waiting = one["state"]["waiting"];
      const std::string_view reason = waiting["reason"].as_string();
      if (reason.empty() || reason == "PodInitializing" || reason == "ContainerCreating") continue;
      return base::format("{}: {}", reason, waiting["message"].as_string());
    }
  for (const Json& one : status["conditions"].items())
    if (one["type"].as_string() == "PodScheduled" && one["status"].as_string() == "False") return one["message"].str();
  return {};
}

std::string why_it_failed(const Json& pod, std::string& exit_code) {
  const Json& status = pod["status"];
  for (const std::string_view list : {"initContainerStatuses", "containerStatuses"})
    for (const Json& one : status[list].items()) {
      const Json& ended = one["state"]["terminated"];
      if (!ended.is_object() || ended["exitCode"].as_int() == 0) continue;
      const std::string code = base::format("{}", ended["exitCode"].as_int());
      if (one["name"].as_string() == kMain) exit_code = code;
      const std::string_view reason = ended["reason"].as_string();
      // The launcher's report is not for people.
      const std::string_view said = ended["message"].as_string();
      const bool is_sentence = !said.empty() && !said.starts_with("kfp 1\n");
      return base::format("{} (exit code {}){}{}", reason.empty() ? "Error" : reason, code, is_sentence ? ": " : "",
                          is_sentence ? said : "");
    }
  if (!status["message"].as_string().empty()) return status["message"].str();
  return status["reason"].as_string().empty() ? "the pod failed" : status["reason"].str();
}

base::Time end_of(const Json& pod, base::Time fallback) {
  for (const Json& one : pod["status"]["containerStatuses"].items())
    if (const auto time = base::parse_rfc3339(one["state"]["terminated"]["finishedAt"].as_string())) return *time;
  return fallback;
}

}  // namespace

std::string account_of(const Json& workflow, const Json& spec) {
  if (!spec["serviceAccountName"].as_string().empty()) return spec["serviceAccountName"].str();
  const std::string_view of_all = workflow["spec"]["serviceAccountName"].as_string();
  return of_all.empty() ? "default" : std::string(of_all);
}

Json owner_of(const Json& workflow) {
  return Json::object({{"apiVersion", workflow["apiVersion"]},
                       {"kind", "Workflow"},
                       {"name", api::name_of(workflow)},
                       {"uid", workflow["metadata"]["uid"]},
                       {"controller", true},
                       {"blockOwnerDeletion", true}});
}

std::string claim_name(std::string_view workflow, const Json& claim_template) {
  return base::format("{}-{}", workflow, claim_template["metadata"]["name"].as_string());
}

Json pod_of(const PodRequest& request) {
  const Json& workflow = request.look.workflow;
  Json spec = Json::object({{"restartPolicy", "Never"},
                            {"serviceAccountName", account_of(workflow, request.spec)},
                            {"schedulerName", request.look.scheduler_name},
                            {"containers", Json::array({main_container(request)})}});
  if (Json init = init_containers(request.spec); !init.empty()) spec.set("initContainers", std::move(init));
  if (Json volumes = volumes_of(request); !volumes.empty()) spec.set("volumes", std::move(volumes));
  for (const std::string_view field : kOfEither) {
    const Json& own = request.spec[field];
    const Json& of_all = workflow["spec"][field];
    if (!own.is_null() || !of_all.is_null()) spec.set(field, own.is_null() ? of_all : own);
  }
  for (const std::string_view field : kOfWorkflow)
    if (const Json& value = workflow["spec"][field]; !value.is_null()) spec.set(field, value);
  const Json& own_class = request.spec["priorityClassName"];
  const Json& priority_class = own_class.is_null() ? workflow["spec"]["podPriorityClassName"] : own_class;
  if (!priority_class.is_null()) spec.set("priorityClassName", priority_class);
  if (const Json& deadline = request.spec["activeDeadlineSeconds"]; !deadline.is_null())
    spec.set("activeDeadlineSeconds", deadline);
  return Json::object(
      {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata_of(request)}, {"spec", std::move(spec)}});
}

// Once: a claim that a person deletes does not come again.
void Operation::make_claims(const Json& spec) {
  if (spec["volumeClaimTemplates"].empty() || out_.status.has("persistentVolumeClaims")) return;
  Json volumes = Json::array();
  for (const Json& one : spec["volumeClaimTemplates"].items()) {
    const Json source = Json::object({{"claimName", claim_name(workflow_, one)}});
    volumes.push_back(Json::object({{"name", one["metadata"]["name"]}, {"persistentVolumeClaim", source}}));
    Json metadata = one["metadata"];
    metadata.set("name", claim_name(workflow_, one));
    metadata.set("namespace", ns_);
    metadata.set("ownerReferences", Json::array({owner_of(look_.workflow)}));
    out_.claims.push_back(Json::object({{"apiVersion", "v1"},
                                        {"kind", "PersistentVolumeClaim"},
                                        {"metadata", std::move(metadata)},
                                        {"spec", one["spec"]}}));
  }
  out_.status.set("persistentVolumeClaims", std::move(volumes));
}

bool Operation::keeps_result(std::string_view display, const std::string& boundary) const {
  const Node* around = nodes_.by_id(boundary);
  const Json* spec = around == nullptr ? nullptr : template_in(spec_, around->template_name);
  if (spec == nullptr) return false;
  // Turns of loops and attempts have a number behind their name.
  const std::string asked = base::format(".{}.outputs.result", display.substr(0, display.find('(')));
  const std::string text = spec->dump();
  return text.find("steps" + asked) != std::string::npos || text.find("tasks" + asked) != std::string::npos;
}

const Node* Operation::pod(const Call& call, const Json& spec, const Inputs& inputs) {
  Node* node = nodes_.find(call.name);
  const std::string id = node_id(workflow_, call.name);
  const Json* there = look_.pod(id);
  if (node == nullptr) {
    // A pod without a node is one that was made just before an end of the controller.
    if (there == nullptr && !may_start()) return nullptr;
    Variables variables = inputs.variables;
    variables.set("pod.name", id);
    auto filled = fill_all(spec, variables);
    if (!filled.ok()) return nodes_.fail(call, filled.error().message);
    if (const std::string why = look_.refusal(id); !why.empty()) return nodes_.fail(call, why);
    const bool keeps = keeps_result(call.display, call.boundary);
    if (const std::string why = lacks(*filled, inputs.values, keeps); !why.empty()) return nodes_.fail(call, why);
    node = &nodes_.begin(call, "Pod", Phase::kPending);
    node->inputs = inputs.values;
    if (there == nullptr) {
      out_.pods.push_back(pod_of({look_, *filled, inputs.values, id, call.name, keeps}));
      return node;
    }
  }
  if (there != nullptr) {
    sync_pod(*node, spec);
  } else if (look_.is_gone(id)) {
    nodes_.end(*node, Phase::kError, "pod deleted");
  } else {
    out_.lost_pods.push_back(id);
  }
  return node;
}

// The outputs of a pod that succeeded; an error names the one that is missing.
base::Result<Json> Operation::outputs_of_pod(const Json& pod, const Json& spec, const Node& node) const {
  Json out = Json::object({{"exitCode", "0"}});
  const std::vector<std::string> files = output_files(spec);
  Json parameters = Json::array(), artifacts = Json::array();
  const bool keeps = keeps_result(node.display, node.boundary);
  if (!files.empty() || keeps) {
    TRY(PodOutputs reported, look_.outputs(pod, files.size()));
    // As Argo does, for the convenience of who prints a line.
    if (keeps && reported.result && reported.result->ends_with('\n')) reported.result->pop_back();
    if (keeps) out.set("result", reported.result.value_or(""));
    const auto& texts = reported.files;
    std::size_t at = 0;
    for (const Json& one : spec["outputs"]["parameters"].items()) {
      const Json& from = one["valueFrom"];
      if (!from["path"].is_string()) continue;
      const std::optional<std::string>& text = texts[at++];
      if (!text && !from.has("default"))
        return base::make_error(base::Code::kInvalid, base::format("outputs.parameters.{}: {} is not there",
                                                                   one["name"].as_string(), from["path"].as_string()));
      parameters.push_back(Json::object({{"name", one["name"]}, {"value", text ? *text : text_of(from["default"])}}));
    }
  }
  const PodRequest request{look_, spec, Json(), node.id, ""};
  for (const Json& one : spec["outputs"]["artifacts"].items())
    if (is_kept(one))
      artifacts.push_back(Json::object(
          {{"name", one["name"]}, {"path", one["path"]}, {"s3", Json::object({{"key", key_of(request, one)}})}}));
  if (!parameters.empty()) out.set("parameters", std::move(parameters));
  if (!artifacts.empty()) out.set("artifacts", std::move(artifacts));
  return out;
}

void Operation::sync_pod(Node& node, const Json& spec) {
  const Json& pod = *look_.pod(node.id);
  const std::string_view phase = pod["status"]["phase"].as_string();
  if (phase == "Failed") {
    std::string exit_code, message = why_it_failed(pod, exit_code);
    if (!exit_code.empty()) node.outputs = Json::object({{"exitCode", exit_code}});
    nodes_.end(node, Phase::kFailed, std::move(message));
    node.finished = end_of(pod, look_.now);
  } else if (phase == "Succeeded") {
    auto outputs = outputs_of_pod(pod, spec, node);
    const std::string problem = outputs.ok() ? "" : outputs.error().message;
    if (outputs.ok()) node.outputs = *std::move(outputs);
    nodes_.end(node, problem.empty() ? Phase::kSucceeded : Phase::kError, problem);
    node.finished = end_of(pod, look_.now);
  } else {
    node.phase = phase == "Running" ? Phase::kRunning : Phase::kPending;
    node.message = phase == "Running" ? "" : why_it_waits(pod["status"]);
  }
}

}  // namespace pipelines::argo
