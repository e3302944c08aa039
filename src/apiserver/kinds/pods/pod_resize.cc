// The rules of a resize, in the words of Kubernetes 1.36.
#include "apiserver/kinds/pods/pod_resize.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "api/pods/pod_spec.h"
#include "api/schema/field_errors.h"
#include "api/schema/unwritten.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;

namespace {

constexpr const char* kLists[] = {"containers", "initContainers"};
constexpr const char* kSides[] = {"requests", "limits"};
// The path of the pod as a whole, as Kubernetes writes an empty one.
constexpr const char* kWhole = "[]";
constexpr std::string_view kMirror = "kubernetes.io/config.mirror";

bool same_containers(const Json& one, const Json& other) {
  if (one.size() != other.size()) return false;
  if (one.size() > 0 && !one.is_array()) return false;
  for (std::size_t i = 0; i < one.size(); ++i)
    if (!one[i].is_object() || one[i]["name"] != other[i]["name"]) return false;
  return true;
}

void copy_or_erase(const Json& from, const char* key, Json& to) {
  if (const Json* value = from.find(key))
    to.set(key, *value);
  else
    to.erase(key);
}

// A node whose agent can resize says what its containers have.
bool node_can_resize(const Json& pod) {
  for (const Json& status : pod["status"]["containerStatuses"].items())
    if (status["state"].has("running")) return !status["resources"].is_null();
  return true;
}

void check_order(const Json& old_spec, const Json& spec, api::FieldErrors& errors) {
  for (const char* list : kLists) {
    const Json &before = old_spec[list], &after = spec[list];
    if (before.size() != after.size()) {
      errors.forbidden(base::format("spec.{}", list), base::format("{} may not be added or removed on resize", list));
      continue;
    }
    for (std::size_t i = 0; i < before.size(); ++i)
      if (before[i]["name"] != after[i]["name"])
        errors.forbidden(base::format("spec.{}[{}].name", list, i),
                         base::format("{} may not be renamed or reordered on resize", list));
  }
}

// `whose` is said before "resource".
void check_nothing_removed(const Json& before, const Json& after, const std::string& path, std::string_view whose,
                           api::FieldErrors& errors) {
  for (const char* side : kSides) {
    const bool removed = std::ranges::any_of(
        before[side].members(), [&](const Json::Member& amount) { return !after[side].has(amount.name()); });
    if (removed)
      errors.forbidden(base::format("{}.{}", path, side), base::format("{}resource {} cannot be removed", whose, side));
  }
}

// The container, or the pod, but for its cpu and memory.
Json fixed_part(Json container) {
  for (const char* side : kSides) {
    if (container["resources"][side].empty()) continue;
    Json& amounts = container.edit("resources").edit(side);
    amounts.erase("cpu");
    amounts.erase("memory");
  }
  for (const char* side : kSides)
    if (const Json* amounts = container["resources"].find(side); amounts && amounts->empty())
      container.edit("resources").erase(side);
  if (const Json* resources = container.find("resources"); resources && resources->empty())
    container.erase("resources");
  return container;
}

// The requests of the pod as a whole.
void check_whole(const Json& before, const Json& after, api::FieldErrors& errors) {
  const auto fixed = [](const Json& resources) { return fixed_part(Json::object({{"resources", resources}})); };
  if (before.is_object() && !after.is_object())
    return errors.forbidden("spec.resources", "pod-level resources cannot be removed");
  check_nothing_removed(before, after, "spec.resources", "pod-level ", errors);
  if (before.is_object() ? fixed(before) != fixed(after) : fixed(after).has("resources"))
    errors.forbidden("spec", "only cpu and memory resources are mutable at pod-level");
}

void check_containers(const Json& old_spec, const Json& spec, api::FieldErrors& errors) {
  for (const char* list : {"initContainers", "containers"})
    for (std::size_t i = 0; i < spec[list].size(); ++i)
      check_nothing_removed(old_spec[list][i]["resources"], spec[list][i]["resources"],
                            base::format("spec.{}[{}].resources", list, i), "", errors);
  const auto differ = [&](const char* list, std::size_t i) {
    return !api::same_as_written(api::core_schema("core.v1.Container"), fixed_part(old_spec[list][i]),
                                 fixed_part(spec[list][i]));
  };
  for (std::size_t i = 0; i < spec["containers"].size(); ++i)
    if (differ("containers", i)) errors.forbidden("spec", "only cpu and memory resources are mutable");
  for (std::size_t i = 0; i < spec["initContainers"].size(); ++i) {
    const std::string path = base::format("spec.initContainers[{}]", i);
    if (differ("initContainers", i))
      errors.forbidden(path, "only cpu and memory resources for init or sidecar containers are mutable");
  }
}

}  // namespace

void take_resize(const Json& old_object, Json& object) {
  Json merged = old_object;
  Json& spec = merged.edit("spec");
  const Json& sent_spec = object["spec"];
  for (const char* list : kLists) {
    const Json& sent = sent_spec[list];
    if (!same_containers(sent, old_object["spec"][list])) {
      copy_or_erase(sent_spec, list, spec);
      continue;
    }
    for (std::size_t i = 0; i < sent.size(); ++i)
      for (const char* key : {"resources", "resizePolicy"}) copy_or_erase(sent[i], key, spec.edit(list).edit(i));
  }
  copy_or_erase(sent_spec, "resources", spec);
  copy_or_erase(object["metadata"], "managedFields", merged.edit("metadata"));
  object = std::move(merged);
}

Json resize_configuration(const Json& body) {
  Json kept =
      Json::object({{"apiVersion", body["apiVersion"]}, {"kind", body["kind"]}, {"metadata", body["metadata"]}});
  for (const char* key : {"labels", "annotations", "finalizers", "ownerReferences"})
    if (kept["metadata"].has(key)) kept.edit("metadata").erase(key);
  if (const Json* whole = body["spec"].find("resources")) kept.edit("spec").set("resources", *whole);
  for (const char* list : kLists)
    for (const Json& container : body["spec"][list].items()) {
      Json one = Json::object({{"name", container["name"]}});
      for (const char* key : {"resources", "resizePolicy"})
        if (const Json* value = container.find(key)) one.set(key, *value);
      kept.edit("spec").edit(list).push_back(std::move(one));
    }
  return kept;
}

void check_resize(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  const Json &before = old_object["spec"], &spec = object["spec"];
  if (old_object["metadata"]["annotations"].has(kMirror))
    return errors.forbidden(kWhole, "static pods cannot be resized");
  if (before["os"]["name"].as_string() == "windows") return errors.forbidden(kWhole, "windows pods cannot be resized");
  Json judged = spec;
  judged.erase("ephemeralContainers");  // these were judged as they came
  errors.add(api::check_pod_spec(judged, "spec", {.host_sysctls = api::has_host_sysctls(before)}));
  const std::string_view given = old_object["status"]["qosClass"].as_string();
  const std::string_view old_class = given.empty() ? api::qos_class(before) : given;
  if (old_class != api::qos_class(spec))
    errors.add({"FieldValueInvalid",
                base::format("Invalid value: {}: Pod QOS Class may not change as a result of resizing",
                             Json(old_class).dump()),
                "spec"});
  if (!node_can_resize(old_object)) errors.forbidden("spec", "Pod running on node without support for resize");
  check_whole(before["resources"], spec["resources"], errors);
  const std::size_t so_far = errors.size();
  check_order(before, spec, errors);
  if (errors.size() == so_far) check_containers(before, spec, errors);
}

}  // namespace apiserver
