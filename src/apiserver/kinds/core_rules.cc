// The defaults and rules of Kubernetes' own kinds when they are made or changed.
#include <algorithm>
#include <iterator>

#include "api/json/problems.h"
#include "api/pod_requests.h"
#include "api/pods/pod_spec.h"
#include "api/policies/policy.h"
#include "api/policies/webhook.h"
#include "api/schema/names.h"
#include "api/schema/unwritten.h"
#include "apiserver/kinds/builtin_rules.h"
#include "apiserver/kinds/cause_limit.h"
#include "apiserver/kinds/fixed_fields.h"
#include "apiserver/kinds/pods/ephemeral_containers.h"
#include "apiserver/kinds/pods/limit_ranges.h"
#include "apiserver/kinds/pods/pod_resize.h"
#include "apiserver/kinds/pods/pod_update.h"
#include "apiserver/kinds/pods/quota_usage.h"
#include "apiserver/kinds/ratcheting.h"
#include "apiserver/kinds/services/service_addresses.h"
#include "apiserver/kinds/services/service_rules.h"
#include "apiserver/kinds/signing_requests.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/workloads/autoscalers.h"
#include "apiserver/kinds/workloads/budgets.h"
#include "apiserver/kinds/workloads/workloads.h"
#include "base/base64.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;

namespace {

void invalid_value(std::vector<Cause>& causes, std::string field, const Json& value, std::string_view why) {
  causes.push_back(
      {"FieldValueInvalid", base::format("Invalid value: {}: {}", api::shown(value), why), std::move(field)});
}
void forbidden(std::vector<Cause>& causes, std::string field, std::string_view why) {
  causes.push_back({"FieldValueForbidden", base::format("Forbidden: {}", why), std::move(field)});
}

base::Error pod_forbidden(const Json& pod, std::string why) {
  base::Error error = base::make_error(base::Code::kForbidden,
                                       base::format("pods \"{}\" is forbidden: {}", api::name_of(pod), std::move(why)));
  error.kind = "pods";
  error.name = api::name_of(pod);
  return error;
}

// Null: there is none. The lowest of several, which came to be at once.
Json default_priority_class(const api::ObjectReader& objects) {
  static const api::TextField kGlobalDefault{api::resources::kPriorityClasses, {"globalDefault"}};
  Json lowest;
  for (const Json& one : objects.list_by(kGlobalDefault, "true", false))
    if (lowest.is_null() || one["value"].as_int() < lowest["value"].as_int()) lowest = one;
  return lowest;
}

}  // namespace

base::Status set_pod_priority(const api::ObjectReader& objects, Json& object) {
  Json& spec = object.edit("spec");
  for (const char* key : {"priorityClassName", "preemptionPolicy"})
    if (!spec[key].is_null() && !spec[key].is_string()) return {};
  if (!spec["priority"].is_null() && !spec["priority"].is_number()) return {};
  const std::string name = spec["priorityClassName"].str();
  std::int64_t value = 0;
  std::string policy = "PreemptLowerPriority";
  if (name == "system-node-critical" || name == "system-cluster-critical") {
    value = name == "system-node-critical" ? 2'000'001'000 : 2'000'000'000;
  } else if (!name.empty()) {
    const auto found = objects.find(api::resources::kPriorityClasses, "", name);
    if (!found) return pod_forbidden(object, base::format("no PriorityClass with name {} was found", name));
    value = (*found)["value"].as_int();
    if ((*found)["preemptionPolicy"].is_string()) policy = (*found)["preemptionPolicy"].as_string();
  } else {
    if (const Json chosen = default_priority_class(objects); !chosen.is_null()) {
      spec.set("priorityClassName", chosen["metadata"]["name"]);
      value = chosen["value"].as_int();
      if (chosen["preemptionPolicy"].is_string()) policy = chosen["preemptionPolicy"].as_string();
    }
  }
  if (const Json& given = spec["priority"]; !given.is_null() && given.as_int() != value)
    return pod_forbidden(object, base::format("the integer value of priority ({}) must not be provided in pod spec; "
                                              "priority admission controller computed {} from the given PriorityClass "
                                              "name",
                                              given.as_int(), value));
  if (const Json& given = spec["preemptionPolicy"]; !given.is_null() && given.as_string() != policy)
    return pod_forbidden(object, base::format("the string value of PreemptionPolicy ({}) must not be provided in pod "
                                              "spec; priority admission controller computed {} from the given "
                                              "PriorityClass name",
                                              given.as_string(), policy));
  spec.set("priority", value);
  spec.set("preemptionPolicy", policy);
  return {};
}

namespace {

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
base::Status prepare_pod(const Context& context, Json& object) {
  Json& spec = object.edit("spec");
  if (!spec.is_object()) return {};
  if (is_text_or_absent(spec["serviceAccountName"]) && is_text_or_absent(spec["serviceAccount"])) {
    if (spec["serviceAccountName"].as_string().empty()) {
      const std::string_view old_name = spec["serviceAccount"].as_string();
      spec.set("serviceAccountName", old_name.empty() ? Json("default") : Json(old_name));
    }
    spec.set("serviceAccount", spec["serviceAccountName"]);
  }
  TRY_VOID(set_pod_priority(context.objects, object));
  add_default_tolerations(object.edit("spec"));
  object.set("status", Json::object({{"phase", "Pending"}, {"qosClass", api::qos_class(object["spec"])}}));
  if (!object["spec"]["schedulingGates"].empty())
    object.edit_path({"status", "conditions"}) =
        Json::array({Json::object({{"type", "PodScheduled"},
                                   {"status", "False"},
                                   {"reason", "SchedulingGated"},
                                   {"message", "Scheduling is blocked due to non-empty scheduling gates"}})});
  return {};
}

// Absent and empty are the same.
bool same_entries(const Json& a, const Json& b) { return (a.empty() && b.empty()) || a == b; }

// The finalizers that somebody asked for, and the one of the controller that empties it.
void prepare_namespace(Json& object, std::vector<Cause>& causes) {
  constexpr std::string_view kOwn = "kubernetes";
  object.set("status", Json::object({{"phase", "Active"}}));
  const Json asked = object["spec"]["finalizers"];
  if (!asked.is_null() && !asked.is_array()) return;  // left for validation to name
  Json all = asked.is_array() ? asked : Json::array();
  bool has_own = false;
  for (const Json& one : all.items()) {
    has_own = has_own || one.as_string() == kOwn;
    if (!one.is_string() || has_enough_causes(causes)) continue;
    for (const std::string& why : api::check_qualified_name(one.as_string()))
      invalid_value(causes, "spec.finalizers", one, why);
    if (one.as_string().find('/') == std::string_view::npos && one.as_string() != kOwn)
      invalid_value(causes, "spec.finalizers", one,
                    "name is neither a standard finalizer name nor is it fully qualified");
  }
  if (!has_own) all.push_back(Json(kOwn));
  object.edit("spec").set("finalizers", std::move(all));
}

void check_phase_of_namespace(const Json& old_object, const Json& object, std::vector<Cause>& causes) {
  const bool ends = api::is_deleting(old_object);
  const Json& phase = object["status"]["phase"];
  if (!phase.is_string() || phase.as_string() == (ends ? "Terminating" : "Active")) return;
  invalid_value(causes, "status.phase", phase,
                ends ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
                     : "may only be 'Active' if `deletionTimestamp` is empty");
}

// Administrators see devices that others have; whose namespace may, its label says.
void check_admin_access(const Context& context, const Json& object, const Json& spec, const std::string& path,
                        std::vector<Cause>& causes) {
  const auto space = context.objects.find(api::resources::kNamespaces, "", api::namespace_of(object));
  if (space && api::label_of(*space, "resource.kubernetes.io/admin-access") == "true") return;
  const Json& requests = spec["devices"]["requests"];
  for (std::size_t i = 0; i < requests.items().size(); ++i)
    if (requests[i]["exactly"]["adminAccess"].as_bool())
      forbidden(causes, base::format("{}.devices.requests[{}].exactly.adminAccess", path, i),
                "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the "
                "containing namespace");
}

}  // namespace

base::Status prepare_core_create(const Context& context, const api::KindInfo& kind, Json& object,
                                 std::vector<Cause>& causes) {
  for (const char* part : {"spec", "status"})  // what is not an object is left for validation to name
    if (!object[part].is_null() && !object[part].is_object()) return {};
  if (is_workload(kind)) {
    prepare_workload(kind, object);
  } else if (kind.kind == "Pod") {
    return prepare_pod(context, object);
  } else if (kind.kind == "Namespace") {
    prepare_namespace(object, causes);
  } else if (kind.kind == "PersistentVolumeClaim") {
    object.set("status", Json::object({{"phase", "Pending"}}));
  } else if (kind.kind == "PersistentVolume") {
    object.set("status", Json::object({{"phase", "Pending"}}));
  } else if (kind.kind == "Service") {
    object.set("status", Json::object({{"loadBalancer", Json::object()}}));
    allocate_for_service(context, Json(), object, causes);
  } else if (kind.kind == "ResourceClaim") {
    check_admin_access(context, object, object["spec"], "spec", causes);
  } else if (kind.kind == "ResourceClaimTemplate") {
    check_admin_access(context, object, object["spec"]["spec"], "spec.spec", causes);
  }
  return {};
}

void prepare_core_update(const Context& context, const api::KindInfo& kind, std::string_view subresource,
                         const Json& old_object, Json& object, std::vector<Cause>& causes) {
  if (kind.kind == "Namespace" && subresource == "status") check_phase_of_namespace(old_object, object, causes);
  if (!subresource.empty()) return;
  if (kind.kind == "Pod" && object["spec"].is_object()) add_default_tolerations(object.edit("spec"));
  if (kind.kind != "Service") return;
  settle_service_update(old_object, object);
  allocate_for_service(context, old_object, object, causes);
}

void check_core_create(const api::KindInfo& kind, const Json& object, std::vector<Cause>& causes) {
  if (api::policies::is_policy_kind(kind.resource)) api::policies::check(object, causes);
  if (api::policies::is_webhook_kind(kind.resource)) api::policies::check_webhooks(object, Json(), causes);
  if (is_workload(kind)) return check_workload(kind, object, causes);
  if (kind.kind == "Pod")
    std::ranges::move(api::check_pod_spec(object["spec"], "spec", {}), std::back_inserter(causes));
  if (kind.kind == "Service") check_service(object, causes);
  if (kind.kind == "PodDisruptionBudget") check_budget(object, causes);
  if (kind.kind == "HorizontalPodAutoscaler") check_autoscaler(object, causes);
  if (is_signing_request(kind)) check_signing_request(Json(), object, causes);
  if (kind.kind == "LimitRange") check_limit_range(object, causes);
  if (kind.kind == "ResourceQuota") check_resource_quota(Json(), object, causes);
  check_builtin_kind(kind, object, causes);
}

void check_core_update(const api::KindInfo& kind, std::string_view subresource, const Json& old_object,
                       const Json& object, std::vector<Cause>& causes) {
  if (subresource == "ephemeralcontainers") return check_ephemeral_containers(old_object, object, causes);
  if (subresource == "resize") return check_resize(old_object, object, causes);
  if (is_signing_request(kind)) return check_signing_request(old_object, object, causes);
  if (!subresource.empty()) return;
  if (api::policies::is_policy_kind(kind.resource)) api::policies::check(object, causes);
  if (api::policies::is_webhook_kind(kind.resource)) api::policies::check_webhooks(object, old_object, causes);
  if (is_workload(kind)) return check_workload_update(kind, old_object, object, causes);
  check_ratcheting([&kind](const Json& one, std::vector<Cause>& all) { check_builtin_kind(kind, one, all); },
                   old_object, object, causes);
  check_fixed_fields(kind, old_object, object, causes);
  if (kind.kind == "Pod") {
    check_pod_update(old_object, object, causes);
  } else if (kind.kind == "Service") {
    check_service_update(old_object, object, causes);
  } else if (kind.kind == "PodDisruptionBudget") {
    check_budget(object, causes);
  } else if (kind.kind == "HorizontalPodAutoscaler") {
    check_autoscaler(object, causes);
  } else if (kind.kind == "EndpointSlice") {
    if (!(old_object["addressType"] == object["addressType"]))
      invalid_value(causes, "addressType", object["addressType"], "field is immutable");
  } else if (kind.kind == "ConfigMap" || kind.kind == "Secret") {
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
      spec->erase("volumeAttributesClassName");
      // Given once: another volume may be somebody else's.
      if (old_object["spec"]["volumeName"].as_string().empty()) spec->erase("volumeName");
      if (old_object["spec"]["storageClassName"].is_null()) spec->erase("storageClassName");
    }
    if (!old_object["spec"]["volumeAttributesClassName"].as_string().empty() &&
        object["spec"]["volumeAttributesClassName"].as_string().empty())
      forbidden(causes, "spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden");
    if (!api::same_as_written(api::core_schema("core.v1.PersistentVolumeClaimSpec"), before, after))
      forbidden(
          causes, "spec",
          "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims");
  }
}

}  // namespace apiserver
