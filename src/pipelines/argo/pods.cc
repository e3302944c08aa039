// Pods of containers and scripts: what they look like, and what their ends say.
#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "pipelines/argo/operation.h"
#include "pipelines/argo/pod_artifacts.h"
#include "pipelines/launcher/sent_report.h"

namespace pipelines::argo {

using api::Json;

namespace {

constexpr std::string_view kMain = "main";
constexpr std::string_view kScriptAnnotation = "workflows.argoproj.io/script";
constexpr std::string_view kScriptFolder = "/argo/staging";

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
  add_keep_words(request, words);
  words.emplace_back("--");
  for (const char* part : {"command", "args"})
    for (const Json& word : main[std::string_view(part)].items()) words.push_back(word);
  return Json::array(std::move(words));
}

// The launcher runs the command where something is wanted of its end.
bool is_launched(const PodRequest& request) {
  return request.keeps_result || !output_files(request.spec).empty() || copies_artifacts(request.spec);
}

Json main_container(const PodRequest& request) {
  const Json& spec = request.spec;
  Json main = spec.has("script") ? spec["script"] : spec["container"];
  main.erase("source");
  main.set("name", kMain);
  Json mounts = main["volumeMounts"].is_array() ? main["volumeMounts"] : Json::array();
  if (spec.has("script")) {
    // Arguments of its own come first: python -m runner SCRIPT.
    Json args = main["args"].is_array() ? main["args"] : Json::array();
    args.push_back(base::format("{}/script", kScriptFolder));
    main.set("args", std::move(args));
    mounts.push_back(Json::object({{"name", "argo-staging"}, {"mountPath", kScriptFolder}}));
  }
  mount_artifacts(request, mounts);
  mount_raw(request.inputs, mounts);
  if (is_launched(request)) {
    main.set("args", launched(request, main, output_files(spec)));
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
  if (const std::string why = artifact_problem(spec); !why.empty()) return why;
  if (const std::string text = text_of(spec["timeout"]);
      spec.has("timeout") && base::parse_go_duration(text).value_or(base::Duration{}).ns <= 0)
    return base::format("timeout: {:?} is not a length of time, such as 90s or 1h30m", text.substr(0, 60));
  for (const Json& one : inputs["artifacts"].items()) {
    const std::string name = one["name"].str();
    if (one.has("raw") && !one["path"].as_string().starts_with('/'))
      return base::format("inputs.artifacts.{}: its path has to be that of a file", name);
    if (!one.has("raw") && !one["path"].as_string().starts_with('/'))
      return base::format("inputs.artifacts.{}: its path has to begin with /", name);
  }
  return {};
}

// The script comes as a file of the pod's annotation, so that it needs no object of its own.
Json script_volume() {
  const std::string field = base::format("metadata.annotations['{}']", kScriptAnnotation);
  const Json item = Json::object({{"path", "script"}, {"fieldRef", Json::object({{"fieldPath", field}})}});
  return Json::object({{"name", "argo-staging"}, {"downwardAPI", Json::object({{"items", Json::array({item})}})}});
}

// The mounts of the main container, where the other asks for them.
void mirror_mounts(const Json& main, Json& other) {
  if (other["mirrorVolumeMounts"].as_bool()) {
    Json mounts = other["volumeMounts"].is_array() ? other["volumeMounts"] : Json::array();
    const auto has = [&mounts](const Json& path) {
      return std::ranges::any_of(mounts.items(), [&](const Json& one) { return one["mountPath"] == path; });
    };
    for (const Json& one : main["volumeMounts"].items())
      if (!has(one["mountPath"])) mounts.push_back(one);
    if (!mounts.empty()) other.set("volumeMounts", std::move(mounts));
  }
  other.erase("mirrorVolumeMounts");
}

// Sidecars end with the main container, as restartable init containers do.
Json init_containers(const Json& spec, const Json& main) {
  Json all = Json::array();
  for (const char* list : {"sidecars", "initContainers"})
    for (const Json& one : spec[std::string_view(list)].items()) {
      Json container = one;
      if (std::string_view(list) == "sidecars") container.set("restartPolicy", "Always");
      mirror_mounts(main, container);
      all.push_back(std::move(container));
    }
  return all;
}

// A volume that none of the template's containers mounts would be waited for in vain.
bool is_mounted(const Json& spec, const Json& volume) {
  const auto mounts = [&](const Json& container) {
    for (const char* list : {"volumeMounts", "volumeDevices"})
      for (const Json& one : container[std::string_view(list)].items())
        if (one["name"].as_string() == volume.as_string()) return true;
    return false;
  };
  for (const char* list : {"sidecars", "initContainers"})
    for (const Json& one : spec[std::string_view(list)].items())
      if (mounts(one)) return true;
  return mounts(spec["container"]) || mounts(spec["script"]);
}

Json volumes_of(const PodRequest& request) {
  const Json& spec = request.look.workflow["spec"];
  Json all = Json::array();
  for (const Json& one : spec["volumes"].items())
    if (is_mounted(request.spec, one["name"])) all.push_back(one);
  for (const Json& one : request.spec["volumes"].items()) all.push_back(one);
  const std::string workflow(api::name_of(request.look.workflow));
  for (const Json& claim : spec["volumeClaimTemplates"].items())
    if (is_mounted(request.spec, claim["metadata"]["name"]))
      all.push_back(
          Json::object({{"name", claim["metadata"]["name"]},
                        {"persistentVolumeClaim", Json::object({{"claimName", claim_name(workflow, claim)}})}}));
  if (request.spec.has("script")) all.push_back(script_volume());
  if (Json raw = raw_volume(request.inputs); !raw.is_null()) all.push_back(std::move(raw));
  const bool has_launcher = is_launched(request);
  if (has_launcher && !request.look.report_address.empty()) all.push_back(report_volume());
  if (has_launcher)
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
      const std::string_view message_text = ended["message"].as_string();
      const bool is_sentence = !message_text.empty() && !message_text.starts_with("kfp 1\n");
      return base::format("{} (exit code {}){}{}", reason.empty() ? "Error" : reason, code, is_sentence ? ": " : "",
                          is_sentence ? message_text : "");
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

namespace {

// `timeout` is a length of time such as 90s or 1h30m; the shorter of both counts.
Json deadline_of(const Json& spec) {
  const Json& deadline = spec["activeDeadlineSeconds"];
  const base::Duration timeout = base::parse_go_duration(text_of(spec["timeout"])).value_or(base::Duration{});
  const std::int64_t seconds = (timeout.ns + 999'999'999) / 1'000'000'000;
  if (seconds <= 0) return deadline;
  return deadline.is_number() && deadline.as_int() < seconds ? deadline : Json(seconds);
}

}  // namespace

Json pod_of(const PodRequest& request) {
  const Json& workflow = request.look.workflow;
  Json spec = Json::object({{"restartPolicy", "Never"},
                            {"serviceAccountName", account_of(workflow, request.spec)},
                            {"schedulerName", request.look.scheduler_name},
                            {"containers", Json::array({main_container(request)})}});
  if (Json init = init_containers(request.spec, request.spec[request.spec.has("script") ? "script" : "container"]);
      !init.empty())
    spec.set("initContainers", std::move(init));
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
  if (Json deadline = deadline_of(request.spec); !deadline.is_null())
    spec.set("activeDeadlineSeconds", std::move(deadline));
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
  Variables variables = inputs.variables;
  variables.set("pod.name", id);
  if (node == nullptr) {
    // A pod without a node is one that was made just before an end of the controller.
    if (there == nullptr && !may_start()) return nullptr;
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
    const bool has_ended = (*there)["status"]["phase"].as_string() == "Succeeded";
    const auto filled = has_ended ? fill_all(spec, variables) : base::Result<Json>(spec);
    sync_pod(*node, filled.ok() ? *filled : spec);
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
    if (const std::string key = key_of(request, one); !key.empty())
      artifacts.push_back(
          Json::object({{"name", one["name"]}, {"path", one["path"]}, {"s3", Json::object({{"key", key}})}}));
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
