// What the server does to, and demands of, Kubernetes' own kinds when they are made or changed.
#include <algorithm>
#include <map>
#include <set>

#include "api/json/json_bulk.h"
#include "api/policies/policy.h"
#include "api/schema/names.h"
#include "api/schema/quantity.h"
#include "apiserver/kinds/autoscalers.h"
#include "apiserver/kinds/budgets.h"
#include "apiserver/kinds/ephemeral_containers.h"
#include "apiserver/kinds/limit_ranges.h"
#include "apiserver/kinds/quota_usage.h"
#include "apiserver/kinds/service_addresses.h"
#include "apiserver/kinds/service_rules.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/workloads.h"
#include "base/base64.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;

namespace {

void required(std::vector<Cause>& causes, std::string field) {
  causes.push_back({"FieldValueRequired", "Required value", std::move(field)});
}
void invalid_value(std::vector<Cause>& causes, std::string field, const Json& value, std::string_view why) {
  causes.push_back({"FieldValueInvalid", base::format("Invalid value: {}: {}", value.dump(), why), std::move(field)});
}
void forbidden(std::vector<Cause>& causes, std::string field, std::string_view why) {
  causes.push_back({"FieldValueForbidden", base::format("Forbidden: {}", why), std::move(field)});
}

// Guaranteed, Burstable or BestEffort, from cpu and memory of all containers.
std::string_view qos_class_for(const Json& spec) {
  bool any = false;
  bool guaranteed = true;
  for (const char* list : {"containers", "initContainers"})
    for (const Json& container : spec[list].items()) {
      const api::ResourceList requests = api::resource_list_from(container["resources"]["requests"]);
      const api::ResourceList limits = api::resource_list_from(container["resources"]["limits"]);
      for (const char* name : {"cpu", "memory"}) {
        const auto request = requests.find(name);
        const auto limit = limits.find(name);
        const bool has_limit = limit != limits.end() && !limit->second.is_zero();
        any = any || has_limit || (request != requests.end() && !request->second.is_zero());
        if (!has_limit || (request != requests.end() && !(request->second == limit->second))) guaranteed = false;
      }
    }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

void set_priority(const Context& context, Json& object, std::vector<Cause>& causes) {
  Json& spec = object.edit("spec");
  for (const char* key : {"priorityClassName", "preemptionPolicy"})
    if (!spec[key].is_null() && !spec[key].is_string()) return;
  if (!spec["priority"].is_null() && !spec["priority"].is_number()) return;
  const std::string name = spec["priorityClassName"].str();
  std::int64_t value = 0;
  std::string policy = "PreemptLowerPriority";
  if (name == "system-node-critical" || name == "system-cluster-critical") {
    value = name == "system-node-critical" ? 2'000'001'000 : 2'000'000'000;
  } else if (!name.empty()) {
    const auto found = context.objects.find(api::resources::kPriorityClasses, "", name);
    if (!found) {
      causes.push_back({"FieldValueForbidden", base::format("no PriorityClass with name {} was found", name),
                        "spec.priorityClassName"});
      return;
    }
    value = (*found)["value"].as_int();
    if ((*found)["preemptionPolicy"].is_string()) policy = (*found)["preemptionPolicy"].as_string();
  } else {
    static const api::TextField kGlobalDefault{api::resources::kPriorityClasses, {"globalDefault"}};
    for (const Json& priority_class : context.objects.list_by(kGlobalDefault, "true", false)) {
      spec.set("priorityClassName", priority_class["metadata"]["name"]);
      value = priority_class["value"].as_int();
      if (priority_class["preemptionPolicy"].is_string()) policy = priority_class["preemptionPolicy"].as_string();
    }
  }
  spec.set("priority", value);
  if (spec["preemptionPolicy"].is_null()) spec.set("preemptionPolicy", policy);
}

void add_default_tolerations(Json& spec) {
  if (!spec["tolerations"].is_null() && !spec["tolerations"].is_array()) return;
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    bool present = false;
    for (const Json& toleration : spec["tolerations"].items()) {
      const std::string_view effect = toleration["effect"].as_string();
      if ((toleration["key"].as_string() == key || toleration["key"].as_string().empty()) &&
          (effect == "NoExecute" || effect.empty()))
        present = true;
    }
    if (!present)
      spec.edit("tolerations")
          .push_back(Json::object(
              {{"effect", "NoExecute"}, {"key", key}, {"operator", "Exists"}, {"tolerationSeconds", 300}}));
  }
}

bool is_text_or_absent(const Json& value) { return value.is_null() || value.is_string(); }

// Types are checked afterwards: what is of a wrong one stays, for validation to name.
void prepare_pod(const Context& context, Json& object, std::vector<Cause>& causes) {
  Json& spec = object.edit("spec");
  if (!spec.is_object()) return;
  if (is_text_or_absent(spec["serviceAccountName"]) && is_text_or_absent(spec["serviceAccount"])) {
    if (spec["serviceAccountName"].as_string().empty()) {
      const std::string_view old_name = spec["serviceAccount"].as_string();
      spec.set("serviceAccountName", old_name.empty() ? Json("default") : Json(old_name));
    }
    spec.set("serviceAccount", spec["serviceAccountName"]);
  }
  set_priority(context, object, causes);
  add_default_tolerations(object.edit("spec"));
  object.set("status", Json::object({{"phase", "Pending"}, {"qosClass", qos_class_for(object["spec"])}}));
  if (!object["spec"]["schedulingGates"].empty())
    object.edit_path({"status", "conditions"}) =
        Json::array({Json::object({{"type", "PodScheduled"},
                                   {"status", "False"},
                                   {"reason", "SchedulingGated"},
                                   {"message", "Scheduling is blocked due to non-empty scheduling gates"}})});
}

void check_resources(const Json& resources, const std::string& path, std::vector<Cause>& causes) {
  for (const char* list : {"limits", "requests"})
    for (const Json::Member& row : resources[list].members()) {
      const auto q = api::Quantity::from_json(row.value);
      if (q && q->sign() < 0)
        invalid_value(causes, base::format("{}.{}[{}]", path, list, row.name()), row.value,
                      "must be greater than or equal to 0");
    }
  for (const Json::Member& row : resources["requests"].members()) {
    const auto request = api::Quantity::from_json(row.value);
    const auto limit = api::Quantity::from_json(resources["limits"][row.name()]);
    if (request && limit && *request > *limit)
      invalid_value(causes, path + ".requests", row.value,
                    base::format("must be less than or equal to {} limit of {}", row.name(), limit->to_string()));
  }
}

void check_containers(const Json& spec, std::vector<Cause>& causes) {
  std::set<std::string, std::less<>> names;
  std::set<std::string, std::less<>> volumes;
  for (const Json& volume : spec["volumes"].items()) volumes.emplace(volume["name"].as_string());
  for (const char* list : {"initContainers", "containers"}) {
    std::size_t at = 0;
    for (const Json& container : spec[list].items()) {
      const std::string path = base::format("spec.{}[{}]", list, at++);
      const std::string_view name = container["name"].as_string();
      if (name.empty())
        required(causes, path + ".name");
      else if (!api::is_dns_label(name))
        invalid_value(causes, path + ".name", container["name"],
                      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
                      "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
                      "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
      else if (!names.emplace(name).second)
        causes.push_back({"FieldValueDuplicate", base::format("Duplicate value: \"{}\"", name), path + ".name"});
      if (container["image"].as_string().empty()) required(causes, path + ".image");
      check_resources(container["resources"], path + ".resources", causes);
      std::size_t mount_at = 0;
      for (const Json& mount : container["volumeMounts"].items()) {
        const std::string mount_path = base::format("{}.volumeMounts[{}]", path, mount_at++);
        if (!volumes.contains(mount["name"].as_string()))
          causes.push_back(
              {"FieldValueNotFound", base::format("Not found: {}", mount["name"].dump()), mount_path + ".name"});
        if (mount["mountPath"].as_string().empty()) required(causes, mount_path + ".mountPath");
      }
    }
  }
  if (spec["containers"].empty()) required(causes, "spec.containers");
}

// A pod's spec is fixed but for images, tolerations that are added, gates that are removed, and the deadline.
void check_pod_update(const Json& old_object, const Json& object, std::vector<Cause>& causes) {
  Json before = old_object["spec"];
  Json after = object["spec"];
  for (Json* spec : {&before, &after}) {
    for (const char* list : {"containers", "initContainers"})
      for (std::size_t i = 0; i < (*spec)[list].size(); ++i) spec->edit(list).edit(i).erase("image");
    for (const char* key : {"activeDeadlineSeconds", "tolerations", "schedulingGates", "terminationGracePeriodSeconds"})
      spec->erase(key);
    if (!old_object["spec"]["schedulingGates"].empty())
      for (const char* key : {"nodeSelector", "affinity"}) spec->erase(key);
  }
  if (!(before == after))
    forbidden(causes, "spec",
              "pod updates may not change fields other than "
              "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec."
              "tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
              "be set to 1 if it was previously negative)");
  const auto but_seconds = [](Json toleration) {
    toleration.erase("tolerationSeconds");
    return api::identity_of(toleration);
  };
  std::set<std::string> tolerations;
  for (const Json& toleration : object["spec"]["tolerations"].items()) tolerations.insert(but_seconds(toleration));
  for (const Json& toleration : old_object["spec"]["tolerations"].items())
    if (!tolerations.contains(but_seconds(toleration))) {
      forbidden(causes, "spec.tolerations", "existing toleration can not be modified except its tolerationSeconds");
      break;
    }
  std::set<std::string> gates;
  for (const Json& gate : old_object["spec"]["schedulingGates"].items()) gates.insert(api::identity_of(gate));
  for (const Json& gate : object["spec"]["schedulingGates"].items())
    if (!gates.contains(api::identity_of(gate)))
      forbidden(causes, "spec.schedulingGates",
                "only deletion is allowed, but found new scheduling gate '" + gate["name"].str() + "'");
}

// Absent and empty are the same.
bool same_entries(const Json& a, const Json& b) { return (a.empty() && b.empty()) || a == b; }

void check_data_keys(const Json& object, std::vector<Cause>& causes) {
  std::size_t bytes = 0;
  for (const char* part : {"data", "binaryData"})
    for (const Json::Member& member : object[part].members()) {
      bytes += member.value.as_string().size();
      bool good = !member.name().empty() && member.name().size() <= 253 && member.name() != "." &&
                  !member.name().starts_with("..");
      for (const char c : member.name())
        good = good && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                        c == '_' || c == '.');
      if (!good)
        invalid_value(causes, base::format("{}[{}]", part, member.name()), Json(member.name()),
                      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  "
                      "or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
    }
  if (bytes > 1024 * 1024) causes.push_back({"FieldValueTooLong", "Too long: may not be more than 1048576 bytes", ""});
}

}  // namespace

void check_pod(const Json& object, std::vector<Cause>& causes) {
  const Json& spec = object["spec"];
  check_containers(spec, causes);
  const std::string_view policy = spec["restartPolicy"].as_string();
  if (policy != "Always" && policy != "OnFailure" && policy != "Never")
    causes.push_back(
        {"FieldValueNotSupported",
         base::format("Unsupported value: \"{}\": supported values: \"Always\", \"OnFailure\", \"Never\"", policy),
         "spec.restartPolicy"});
  std::set<std::string, std::less<>> names;
  std::size_t at = 0;
  for (const Json& volume : spec["volumes"].items()) {
    const std::string path = base::format("spec.volumes[{}].name", at++);
    const std::string_view name = volume["name"].as_string();
    if (!api::is_dns_label(name))
      invalid_value(causes, path, volume["name"],
                    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
                    "start and end with an alphanumeric character");
    else if (!names.emplace(name).second)
      causes.push_back({"FieldValueDuplicate", base::format("Duplicate value: \"{}\"", name), path});
  }
  if (spec["shareProcessNamespace"].as_bool() && spec["hostPID"].as_bool())
    invalid_value(causes, "spec.shareProcessNamespace", spec["shareProcessNamespace"],
                  "ShareProcessNamespace and HostPID cannot both be enabled");
  const Json& hostname = spec["hostname"];
  if (!hostname.as_string().empty() && !api::is_dns_label(hostname.as_string()))
    invalid_value(causes, "spec.hostname", hostname, "must be a DNS label");
  if (spec["terminationGracePeriodSeconds"].as_int() < 0)
    invalid_value(causes, "spec.terminationGracePeriodSeconds", spec["terminationGracePeriodSeconds"],
                  "must be greater than or equal to 0");
}

void prepare_core_create(const Context& context, const api::KindInfo& kind, Json& object, std::vector<Cause>& causes) {
  for (const char* part : {"spec", "status"})  // what is no object is left for validation to name
    if (!object[part].is_null() && !object[part].is_object()) return;
  if (is_workload(kind)) return prepare_workload(kind, object);
  if (kind.kind == "Pod") {
    prepare_pod(context, object, causes);
  } else if (kind.kind == "Namespace") {
    object.set("spec", Json::object({{"finalizers", Json::array({Json("kubernetes")})}}));
    object.set("status", Json::object({{"phase", "Active"}}));
  } else if (kind.kind == "PersistentVolumeClaim") {
    object.set("status", Json::object({{"phase", "Pending"}}));
  } else if (kind.kind == "PersistentVolume") {
    object.set("status", Json::object({{"phase", "Pending"}}));
  } else if (kind.kind == "Service") {
    object.set("status", Json::object({{"loadBalancer", Json::object()}}));
    allocate_for_service(context, Json(), object, causes);
  }
}

void prepare_core_update(const Context& context, const api::KindInfo& kind, std::string_view subresource,
                         const Json& old_object, Json& object, std::vector<Cause>& causes) {
  if (kind.kind != "Service" || !subresource.empty()) return;
  settle_service_update(old_object, object);
  allocate_for_service(context, old_object, object, causes);
}

void check_core_create(const api::KindInfo& kind, const Json& object, std::vector<Cause>& causes) {
  if (api::policies::is_policy_kind(kind.resource)) api::policies::check(object, causes);
  if (is_workload(kind)) return check_workload(kind, object, causes);
  if (kind.kind == "Pod") {
    check_pod(object, causes);
    check_no_ephemeral_containers(object, causes);
  }
  if (kind.kind == "Service") check_service(object, causes);
  if (kind.kind == "EndpointSlice") check_endpoint_slice(object, causes);
  if (kind.kind == "PodDisruptionBudget") check_budget(object, causes);
  if (kind.kind == "HorizontalPodAutoscaler") check_autoscaler(object, causes);
  if (kind.kind == "LimitRange") check_limit_range(object, causes);
  if (kind.kind == "ResourceQuota") check_resource_quota(Json(), object, causes);
  if (kind.kind == "ConfigMap" || kind.kind == "Secret") check_data_keys(object, causes);
  if (kind.kind == "Secret")
    for (const Json::Member& member : object["data"].members())
      if (!base::base64_decode(member.value.as_string()).ok())
        invalid_value(causes, base::format("data[{}]", member.name()), Json("<secret contents redacted>"),
                      "must be base64 encoded");
  if (kind.kind == "PriorityClass" && object["value"].as_int() > 1'000'000'000 &&
      !api::name_of(object).starts_with("system-"))
    forbidden(causes, "value", "maximum allowed value of a user defined priority is 1000000000");
  if (kind.kind == "PersistentVolumeClaim") {
    if (object["spec"]["accessModes"].empty())
      causes.push_back(
          {"FieldValueRequired", "Required value: at least 1 access mode is required", "spec.accessModes"});
    if (object["spec"]["resources"]["requests"]["storage"].is_null()) required(causes, "spec.resources[storage]");
  }
}

void check_core_update(const api::KindInfo& kind, std::string_view subresource, const Json& old_object,
                       const Json& object, std::vector<Cause>& causes) {
  if (subresource == "ephemeralcontainers") return check_ephemeral_containers(old_object, object, causes);
  if (!subresource.empty()) return;
  if (api::policies::is_policy_kind(kind.resource)) api::policies::check(object, causes);
  if (is_workload(kind)) return check_workload_update(kind, old_object, object, causes);
  if (kind.kind == "Pod") {
    check_pod_update(old_object, object, causes);
  } else if (kind.kind == "Service") {
    check_service_update(old_object, object, causes);
  } else if (kind.kind == "PodDisruptionBudget") {
    check_budget(object, causes);
  } else if (kind.kind == "HorizontalPodAutoscaler") {
    check_autoscaler(object, causes);
  } else if (kind.kind == "EndpointSlice") {
    check_endpoint_slice(object, causes);
    if (!(old_object["addressType"] == object["addressType"]))
      invalid_value(causes, "addressType", object["addressType"], "field is immutable");
  } else if (kind.kind == "ConfigMap" || kind.kind == "Secret") {
    check_data_keys(object, causes);
    if (old_object["immutable"].as_bool()) {
      const std::string_view why = "field is immutable when `immutable` is set";
      if (!object["immutable"].as_bool()) forbidden(causes, "immutable", why);
      for (const char* part : {"data", "binaryData"})
        if (!same_entries(object[part], old_object[part])) forbidden(causes, part, why);
    }
    if (kind.kind == "Secret" && !(old_object["type"] == object["type"]))
      invalid_value(causes, "type", object["type"], "field is immutable");
  } else if (kind.kind == "LimitRange") {
    check_limit_range(object, causes);
  } else if (kind.kind == "ResourceQuota") {
    check_resource_quota(old_object, object, causes);
  } else if (kind.kind == "PriorityClass") {
    if (!(old_object["value"] == object["value"])) forbidden(causes, "value", "may not be changed in an update.");
  } else if (kind.kind == "PersistentVolumeClaim") {
    Json before = old_object["spec"];
    Json after = object["spec"];
    for (Json* spec : {&before, &after}) {
      spec->erase("resources");
      spec->erase("volumeName");
      spec->erase("storageClassName");
    }
    if (!(before == after))
      forbidden(
          causes, "spec",
          "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims");
  }
}

}  // namespace apiserver
