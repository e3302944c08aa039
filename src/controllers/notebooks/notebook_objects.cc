// Labels and annotations first, then the changes of the pod's specification, then the status.
#include "controllers/notebooks/notebook_objects.h"

#include "api/meta/resource.h"
#include "api/schema/names.h"
#include "base/format.h"

namespace controllers::notebooks {

using api::Json;

namespace {

constexpr std::int64_t kPort = 8888;
constexpr std::int64_t kGroup = 100;  // of the files of its volumes

Json metadata_of(const Json& notebook) {
  return Json::object({{"name", api::name_of(notebook)}, {"namespace", api::namespace_of(notebook)}});
}

Json pod_labels(const Json& notebook) {
  Json labels = Json::object();
  for (const Json::Member& label : notebook["metadata"]["labels"].members()) labels.set(label.name(), label.value);
  labels.set("statefulset", api::name_of(notebook));
  labels.set("notebook-name", api::name_of(notebook));
  return labels;
}

Json pod_annotations(const Json& notebook) {
  Json annotations = Json::object();
  for (const Json::Member& one : notebook["metadata"]["annotations"].members())
    if (one.name().find("kubectl") == std::string_view::npos && one.name().find("notebook") == std::string_view::npos)
      annotations.set(one.name(), one.value);
  annotations.erase(kStopped);
  return annotations;
}

void complete_server(Json& container, const Json& notebook) {
  if (container["workingDir"].as_string().empty()) container.set("workingDir", "/home/jovyan");
  if (container["ports"].empty())
    container.set(
        "ports",
        Json::array({Json::object({{"containerPort", kPort}, {"name", "notebook-port"}, {"protocol", "TCP"}})}));
  for (const Json& variable : container["env"].items())
    if (variable["name"].as_string() == "NB_PREFIX") return;
  Json env = container["env"].is_array() ? container["env"] : Json::array();
  env.push_back(Json::object({{"name", "NB_PREFIX"}, {"value", notebook_prefix(notebook)}}));
  container.set("env", std::move(env));
}

Json pod_spec(const Json& notebook, const Options& options) {
  Json spec = notebook["spec"]["template"]["spec"];
  Json containers = Json::array();
  for (const Json& container : spec["containers"].items()) containers.push_back(container);
  if (!containers.empty()) {
    Json server = containers[std::size_t{0}];
    complete_server(server, notebook);
    containers.edit(std::size_t{0}) = std::move(server);
  }
  spec.set("containers", std::move(containers));
  if (options.adds_fs_group && spec["securityContext"].is_null())
    spec.set("securityContext", Json::object({{"fsGroup", kGroup}}));
  return spec;
}

// The time that is said, or that was said of the same condition, or now.
Json time_of(const Json& condition, std::string_view field, const Json& before, base::Time now) {
  if (!condition[field].as_string().empty()) return condition[field];
  for (const Json& old : before.items()) {
    bool same = true;
    for (const char* part : {"type", "status", "reason", "message"})
      same = same && old[part].as_string() == condition[part].as_string();
    if (same && !old[field].as_string().empty()) return old[field];
  }
  return base::format_rfc3339(now);
}

}  // namespace

bool is_stopped(const Json& notebook) { return notebook["metadata"]["annotations"].find(kStopped) != nullptr; }

std::string notebook_prefix(const Json& notebook) {
  return base::format("/notebook/{}/{}", api::namespace_of(notebook), api::name_of(notebook));
}

std::int64_t notebook_port(const Json& notebook) {
  const Json& ports = notebook["spec"]["template"]["spec"]["containers"][std::size_t{0}]["ports"];
  return ports[std::size_t{0}]["containerPort"].as_int(kPort);
}

std::string problem_of_name(std::string_view name, std::size_t letters_max) {
  if (name.size() > letters_max)
    return base::format("the name {:?} has {} letters, and the names of its pods and services have room for {}", name,
                        name.size(), letters_max);
  const std::vector<std::string> problems = api::check_dns1035_label(name);
  if (problems.empty()) return {};
  return base::format("the name {:?} cannot be the name of its service: {}", name, problems.front());
}

Json notebook_set(const Json& notebook, const Options& options) {
  Json pod = Json::object(
      {{"metadata", Json::object({{"labels", pod_labels(notebook)}})}, {"spec", pod_spec(notebook, options)}});
  if (Json annotations = pod_annotations(notebook); !annotations.empty())
    pod.edit("metadata").set("annotations", std::move(annotations));
  const Json selector = Json::object({{"matchLabels", Json::object({{"statefulset", api::name_of(notebook)}})}});
  return Json::object({{"apiVersion", "apps/v1"},
                       {"kind", "StatefulSet"},
                       {"metadata", metadata_of(notebook)},
                       {"spec", Json::object({{"replicas", is_stopped(notebook) ? 0 : 1},
                                              {"selector", selector},
                                              {"template", std::move(pod)}})}});
}

Json notebook_service(const Json& notebook) {
  const std::string name(api::name_of(notebook));
  const Json port = Json::object(
      {{"name", "http-" + name}, {"port", 80}, {"protocol", "TCP"}, {"targetPort", notebook_port(notebook)}});
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "Service"},
                       {"metadata", metadata_of(notebook)},
                       {"spec", Json::object({{"type", "ClusterIP"},
                                              {"selector", Json::object({{"statefulset", name}})},
                                              {"ports", Json::array({port})}})}});
}

Json notebook_status(const Json& notebook, const Json* set, const Json* pod, base::Time now) {
  Json conditions = Json::array(), state = Json::object();
  if (pod != nullptr) {
    for (const Json& condition : (*pod)["status"]["conditions"].items()) {
      Json copy = Json::object({{"type", condition["type"]}, {"status", condition["status"]}});
      for (const char* time : {"lastProbeTime", "lastTransitionTime"})
        copy.set(time, time_of(condition, time, notebook["status"]["conditions"], now));
      for (const char* text : {"reason", "message"})
        if (!condition[text].as_string().empty()) copy.set(text, condition[text]);
      conditions.push_back(std::move(copy));
    }
    for (const Json& container : (*pod)["status"]["containerStatuses"].items())
      if (container["name"].as_string() == api::name_of(notebook) && container["state"].is_object())
        state = container["state"];
  }
  return Json::object({{"conditions", std::move(conditions)},
                       {"readyReplicas", set != nullptr ? (*set)["status"]["readyReplicas"].as_int() : 0},
                       {"containerState", std::move(state)}});
}

}  // namespace controllers::notebooks
