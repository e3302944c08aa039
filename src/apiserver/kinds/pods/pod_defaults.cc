// The defaults of a pod's specification that no table can say.
#include "apiserver/kinds/pods/pod_defaults.h"

#include <initializer_list>
#include <utility>

#include "apiserver/kinds/defaults.h"

namespace apiserver {

using api::Json;

namespace {

// ":latest" and no tag are pulled always; a digest or another tag if not present.
std::string_view pull_policy_for(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return "IfNotPresent";
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.rfind(':');
  const bool tagged = colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return !tagged || image.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

// Fields whose zero value is the same as none: protobuf writes them and JSON does not, and templates are compared.
void drop_zeros(Json& spec) {
  const auto drop = [](Json& object, std::initializer_list<std::string_view> fields) {
    for (const std::string_view field : fields)
      if (const Json& value = object[field];
          (value.is_bool() && !value.as_bool()) || (value.is_int() && value.as_int() == 0))
        object.erase(field);
  };
  drop(spec, {"hostNetwork", "hostPID", "hostIPC"});
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"})
    for (std::size_t i = 0; i < spec[list].items().size(); ++i) {
      if (!spec[list][i].is_object()) continue;
      Json& container = spec.edit(list).edit(i);
      drop(container, {"stdin", "stdinOnce", "tty"});
      for (const auto& [part, field] : {std::pair{"volumeMounts", "readOnly"}, std::pair{"ports", "hostPort"}})
        for (std::size_t k = 0; k < container[part].items().size(); ++k)
          if (container[part][k].is_object()) drop(container.edit(part).edit(k), {field});
      for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"})
        if (container[probe].is_object()) drop(container.edit(probe), {"initialDelaySeconds"});
    }
}

void default_probe(Json& probe) {
  set_if_absent(probe, "timeoutSeconds", 1);
  set_if_absent(probe, "periodSeconds", 10);
  set_if_absent(probe, "successThreshold", 1);
  set_if_absent(probe, "failureThreshold", 3);
  if (probe["httpGet"].is_object()) {
    set_if_absent(probe.edit("httpGet"), "path", "/");
    set_if_absent(probe.edit("httpGet"), "scheme", "HTTP");
  }
}

void default_container(Json& container, bool host_network) {
  set_if_absent(container, "terminationMessagePath", "/dev/termination-log");
  set_if_absent(container, "terminationMessagePolicy", "File");
  set_if_absent(container, "imagePullPolicy", pull_policy_for(container["image"].as_string()));
  set_if_absent(container, "resources", Json::object());
  if (container["resources"].is_object() && !container["resources"]["limits"].empty()) {
    Json& resources = container.edit("resources");
    const Json limits = resources["limits"];
    for (const Json::Member& limit : limits.members())
      set_if_absent(resources.edit("requests"), limit.name(), limit.value);
  }
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe"})
    if (container[name].is_object()) default_probe(container.edit(name));
  for (const char* hook : {"postStart", "preStop"})
    if (container["lifecycle"][hook]["httpGet"].is_object()) {
      Json& get = container.edit("lifecycle").edit(hook).edit("httpGet");
      set_if_absent(get, "path", "/");
      set_if_absent(get, "scheme", "HTTP");
    }
  for (const char* hook : {"postStart", "preStop"})
    if (container["lifecycle"][hook]["sleep"].is_object())
      set_if_absent(container.edit("lifecycle").edit(hook).edit("sleep"), "seconds", 0);
  if (container["ports"].is_array())
    for (std::size_t i = 0; i < container["ports"].size(); ++i) {
      Json& port = container.edit("ports").edit(i);
      if (!port.is_object()) continue;
      set_if_absent(port, "protocol", "TCP");
      if (host_network) set_if_absent(port, "hostPort", port["containerPort"]);
    }
  if (container["env"].is_array())
    for (std::size_t i = 0; i < container["env"].size(); ++i)
      if (container["env"][i]["valueFrom"]["fieldRef"].is_object())
        set_if_absent(container.edit("env").edit(i).edit_path({"valueFrom", "fieldRef"}), "apiVersion", "v1");
}

void default_field_refs(Json& source) {
  if (!source["items"].is_array()) return;
  for (std::size_t i = 0; i < source["items"].size(); ++i)
    if (source["items"][i]["fieldRef"].is_object())
      set_if_absent(source.edit("items").edit(i).edit("fieldRef"), "apiVersion", "v1");
}

void default_volume(Json& volume) {
  for (const char* name : {"secret", "configMap", "downwardAPI", "projected"})
    if (volume[name].is_object()) set_if_absent(volume.edit(name), "defaultMode", 420);
  if (volume["downwardAPI"].is_object()) default_field_refs(volume.edit("downwardAPI"));
  for (std::size_t i = 0; i < volume["projected"]["sources"].items().size(); ++i)
    if (volume["projected"]["sources"][i]["downwardAPI"].is_object())
      default_field_refs(volume.edit("projected").edit("sources").edit(i).edit("downwardAPI"));
  if (volume["hostPath"].is_object()) set_if_absent(volume.edit("hostPath"), "type", "");
  if (volume["iscsi"].is_object()) set_if_absent(volume.edit("iscsi"), "lun", 0);
  bool has_source = false;
  for (const Json::Member& member : volume.members())
    has_source = has_source || (member.name() != "name" && !member.value.is_null());
  if (!has_source) volume.set("emptyDir", Json::object());
}

}  // namespace

void default_pod_spec(Json& spec) {
  if (!spec.is_object()) return;
  drop_zeros(spec);
  set_if_absent(spec, "restartPolicy", "Always");
  set_if_absent(spec, "terminationGracePeriodSeconds", 30);
  set_if_absent(spec, "dnsPolicy", "ClusterFirst");
  set_if_absent(spec, "securityContext", Json::object());
  set_if_absent(spec, "schedulerName", "default-scheduler");
  const bool host_network = spec["hostNetwork"].as_bool();
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"})
    if (spec[list].is_array())
      for (std::size_t i = 0; i < spec[list].size(); ++i)
        if (spec[list][i].is_object()) default_container(spec.edit(list).edit(i), host_network);
  if (spec["volumes"].is_array())
    for (std::size_t i = 0; i < spec["volumes"].size(); ++i)
      if (spec["volumes"][i].is_object()) default_volume(spec.edit("volumes").edit(i));
}

}  // namespace apiserver
