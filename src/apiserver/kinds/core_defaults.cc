// Defaults of Kubernetes' own kinds that depend on more than one field.
#include "api/pod_requests.h"
#include "api/policies/policy.h"
#include "api/policies/webhook.h"
#include "apiserver/kinds/pods/limit_ranges.h"
#include "apiserver/kinds/services/service_rules.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/workloads/autoscalers.h"
#include "apiserver/kinds/workloads/workloads.h"
#include "base/base64.h"

namespace apiserver {

using api::Json;

namespace {

// Defaults come before types are checked: what is not an object stays as it is, and validation names it.
bool takes_members(const Json& value) { return value.is_object() || value.is_null(); }

void set_if_absent(Json& object, std::string_view key, Json value) {
  if (!takes_members(object)) return;
  const Json* present = object.find(key);
  if (!present || present->is_null()) object.set(key, std::move(value));
}

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
  bool has_source = false;
  for (const Json::Member& member : volume.members())
    has_source = has_source || (member.name() != "name" && !member.value.is_null());
  if (!has_source) volume.set("emptyDir", Json::object());
}

// The requests of a pod as a whole, unless it says them: what its containers do, or else its limit.
void default_pod_level_requests(Json& spec) {
  if (!takes_members(spec["resources"]["requests"])) return;
  const auto fill = [&spec](std::string_view name, const Json& amount) {
    if (api::is_pod_level(name)) set_if_absent(spec.edit("resources").edit("requests"), name, amount);
  };
  for (const auto& [name, amount] : api::containers_total(spec, "requests")) fill(name, amount.to_json());
  const Json limits = spec["resources"]["limits"];
  for (const Json::Member& limit : limits.members()) fill(limit.name(), limit.value);
}

// stringData is write-only. A value that is not a text stays, for validation to name.
void fold_string_data(Json& object) {
  const Json text = object["stringData"];
  if (!takes_members(text) || !takes_members(object["data"])) return;
  for (const Json::Member& member : text.members())
    if (!member.value.is_string() && !member.value.is_null()) return;
  object.erase("stringData");
  for (const Json::Member& member : text.members())
    object.edit("data").set(member.name(), base::base64_encode(member.value.as_string()));
}

void default_protocols(Json& holder) {
  for (std::size_t i = 0; i < holder["ports"].items().size(); ++i)
    set_if_absent(holder.edit("ports").edit(i), "protocol", "TCP");
}

// A port of a policy is one of TCP, if it does not say.
void default_policy_ports(Json& policy) {
  for (const char* way : {"ingress", "egress"})
    for (std::size_t i = 0; i < policy["spec"][way].items().size(); ++i)
      for (std::size_t k = 0; k < policy["spec"][way][i]["ports"].items().size(); ++k)
        if (policy["spec"][way][i]["ports"][k].is_object())
          set_if_absent(policy.edit("spec").edit(way).edit(i).edit("ports").edit(k), "protocol", "TCP");
}

void default_device_requests(Json& claim) {
  for (std::size_t i = 0; i < claim["devices"]["requests"].items().size(); ++i) {
    const auto fill = [](Json& wish) {
      if (wish["allocationMode"] == Json("")) wish.erase("allocationMode");
      set_if_absent(wish, "allocationMode", "ExactCount");
      if (wish["allocationMode"].as_string() == "ExactCount") set_if_absent(wish, "count", 1);
    };
    const Json& request = claim["devices"]["requests"][i];
    const std::size_t others = request["firstAvailable"].items().size();
    if (request["exactly"].is_object()) fill(claim.edit("devices").edit("requests").edit(i).edit("exactly"));
    for (std::size_t k = 0; k < others; ++k)
      if (claim["devices"]["requests"][i]["firstAvailable"][k].is_object())
        fill(claim.edit("devices").edit("requests").edit(i).edit("firstAvailable").edit(k));
  }
}

void default_csi_driver(Json& driver) {
  if (!driver["spec"].is_object()) return;
  Json& spec = driver.edit("spec");
  set_if_absent(spec, "attachRequired", true);
  set_if_absent(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  for (const char* field : {"podInfoOnMount", "requiresRepublish", "seLinuxMount", "storageCapacity"})
    set_if_absent(spec, field, false);
  set_if_absent(spec, "volumeLifecycleModes", Json::array({Json("Persistent")}));
}

void default_priority_level(Json& level) {
  if (!level["spec"]["limited"].is_object()) return;
  Json& limited = level.edit("spec").edit("limited");
  set_if_absent(limited, "nominalConcurrencyShares", 30);
  set_if_absent(limited, "lendablePercent", 0);
}

void default_subjects(Json& binding) {
  if (binding["roleRef"].is_object()) {
    if (binding["roleRef"]["apiGroup"] == Json(""))  // Go's clients write it out
      binding.edit("roleRef").erase("apiGroup");
    set_if_absent(binding.edit("roleRef"), "apiGroup", "rbac.authorization.k8s.io");
  }
  for (std::size_t i = 0; i < binding["subjects"].items().size(); ++i) {
    const std::string_view kind = binding["subjects"][i]["kind"].as_string();
    if (kind == "User" || kind == "Group")
      set_if_absent(binding.edit("subjects").edit(i), "apiGroup", "rbac.authorization.k8s.io");
  }
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

void apply_core_defaults(const api::KindInfo& kind, Json& object) {
  const std::string_view name = kind.kind;
  if (api::policies::is_policy_kind(kind.resource)) return api::policies::apply_defaults(object);
  if (api::policies::is_webhook_kind(kind.resource)) return api::policies::apply_webhook_defaults(object);
  if (is_workload(kind)) return default_workload(kind, object);
  if (name == "Pod") {
    default_pod_spec(object.edit("spec"));
    set_if_absent(object.edit("spec"), "enableServiceLinks", true);  // of pods alone, not of templates
    if (object["spec"]["resources"].is_object()) default_pod_level_requests(object.edit("spec"));
  } else if (name == "Node") {
    if (const Json& range = object["spec"]["podCIDR"]; range.is_string() && takes_members(object["spec"]))
      set_if_absent(object.edit("spec"), "podCIDRs", Json::array({Json(range)}));
  } else if (name == "Endpoints") {
    for (std::size_t i = 0; i < object["subsets"].items().size(); ++i)
      if (object["subsets"][i].is_object()) default_protocols(object.edit("subsets").edit(i));
  } else if (name == "EndpointSlice") {
    default_protocols(object);
  } else if (name == "ResourceClaim") {
    default_device_requests(object.edit("spec"));
  } else if (name == "ResourceClaimTemplate") {
    if (object["spec"].is_object()) default_device_requests(object.edit("spec").edit("spec"));
  } else if (name == "PodTemplate") {
    if (object["template"].is_object()) default_pod_spec(object.edit("template").edit("spec"));
  } else if (name == "CSIDriver") {
    default_csi_driver(object);
  } else if (name == "PriorityLevelConfiguration") {
    default_priority_level(object);
  } else if (name == "FlowSchema") {
    if (object["spec"].is_object()) set_if_absent(object.edit("spec"), "matchingPrecedence", 1000);
  } else if (name == "RoleBinding" || name == "ClusterRoleBinding") {
    default_subjects(object);
  } else if (name == "Service") {
    default_service(object);
  } else if (name == "Namespace") {
    if (Json& metadata = object.edit("metadata"); takes_members(metadata) && takes_members(metadata["labels"]))
      metadata.edit("labels").set("kubernetes.io/metadata.name", api::name_of(object));
  } else if (name == "Secret") {
    set_if_absent(object, "type", "Opaque");
    if (object.has("stringData")) fold_string_data(object);
  } else if (name == "PersistentVolumeClaim") {
    set_if_absent(object.edit("spec"), "volumeMode", "Filesystem");
  } else if (name == "PersistentVolume") {
    set_if_absent(object.edit("spec"), "volumeMode", "Filesystem");
    set_if_absent(object.edit("spec"), "persistentVolumeReclaimPolicy", "Retain");
    if (object["spec"]["hostPath"].is_object()) set_if_absent(object.edit_path({"spec", "hostPath"}), "type", "");
  } else if (name == "StorageClass") {
    set_if_absent(object, "reclaimPolicy", "Delete");
    set_if_absent(object, "volumeBindingMode", "Immediate");
  } else if (name == "IngressClass") {
    if (object["spec"]["parameters"].is_object())
      set_if_absent(object.edit_path({"spec", "parameters"}), "scope", "Cluster");
  } else if (name == "HorizontalPodAutoscaler") {
    default_autoscaler(object);
  } else if (name == "LimitRange") {
    default_limit_range(object);
  } else if (name == "PriorityClass") {
    set_if_absent(object, "preemptionPolicy", "PreemptLowerPriority");
    set_if_absent(object, "value", 0);
  } else if (name == "NetworkPolicy") {
    default_policy_ports(object);
    const Json& given = object["spec"]["policyTypes"];
    if (object["spec"].is_object() && (given.is_null() || (given.is_array() && given.empty()))) {
      Json types = Json::array({Json("Ingress")});
      if (!object["spec"]["egress"].is_null()) types.push_back("Egress");
      object.edit("spec").set("policyTypes", std::move(types));
    }
  }
}

}  // namespace apiserver
