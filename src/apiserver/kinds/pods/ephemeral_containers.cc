// The containers that may be added to a pod that runs.
#include "apiserver/kinds/pods/ephemeral_containers.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "api/json/problems.h"
#include "api/pods/pod_spec.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "api/schema/unwritten.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;

namespace {

constexpr std::string_view kField = "spec.ephemeralContainers";
constexpr const char* kList = "ephemeralContainers";

// Other fields of a container promise something to the scheduler or to the pod's life, which has begun.
constexpr std::array<std::string_view, 18> kAllowed = {"args",
                                                       "command",
                                                       "env",
                                                       "envFrom",
                                                       "image",
                                                       "name",
                                                       "imagePullPolicy",
                                                       "securityContext",
                                                       "stdin",
                                                       "stdinOnce",
                                                       "tty",
                                                       "targetContainerName",
                                                       "terminationMessagePath",
                                                       "terminationMessagePolicy",
                                                       "volumeDevices",
                                                       "volumeMounts",
                                                       "workingDir",
                                                       "resources"};  // resources: empty ones are a default

void check_fields_of(const Json& container, const std::string& path, api::FieldErrors& errors) {
  const auto cannot_be_set = [&](std::string field) {
    errors.add({"FieldValueForbidden", "Forbidden: cannot be set for an Ephemeral Container", std::move(field)});
  };
  for (const Json::Member& member : container.members()) {
    const bool allowed = std::ranges::find(kAllowed, member.name()) != kAllowed.end();
    const bool list = member.value.is_object() || member.value.is_array();
    const bool filled = list ? !member.value.empty() : !member.value.is_null();
    if (filled && (!allowed || member.name() == "resources")) cannot_be_set(base::format("{}.{}", path, member.name()));
  }
  std::size_t at = 0;
  for (const Json& mount : container["volumeMounts"].items()) {
    const std::string mount_path = base::format("{}.volumeMounts[{}]", path, at++);
    for (const char* key : {"subPath", "subPathExpr"})
      if (!mount[key].as_string().empty()) cannot_be_set(base::format("{}.{}", mount_path, key));
  }
}

using Names = std::set<std::string, std::less<>>;

void check_mounts(const Names& volumes, const Json& container, const std::string& path, api::FieldErrors& errors) {
  std::size_t at = 0;
  for (const Json& mount : container["volumeMounts"].items()) {
    const std::string mount_path = base::format("{}.volumeMounts[{}]", path, at++);
    if (!volumes.contains(mount["name"].as_string()))
      errors.add(
          {"FieldValueNotFound", base::format("Not found: {}", api::shown(mount["name"])), mount_path + ".name"});
    if (mount["mountPath"].as_string().empty())
      errors.add({"FieldValueRequired", "Required value", mount_path + ".mountPath"});
  }
}

void check_list(const Json& spec, api::FieldErrors& errors) {
  Names targets, names, volumes;
  for (const Json& volume : spec["volumes"].items()) volumes.emplace(volume["name"].as_string());
  for (const char* list : {"initContainers", "containers"})
    for (const Json& container : spec[list].items()) targets.emplace(container["name"].as_string());
  names = targets;
  api::check_image_blanks(spec[kList], std::string(kField), errors);
  std::size_t at = 0;
  for (const Json& container : spec[kList].items()) {
    const std::string path = base::format("{}[{}]", kField, at++);
    const std::string_view name = container["name"].as_string();
    if (name.empty())
      errors.add({"FieldValueRequired", "Required value", path + ".name"});
    else if (!api::is_dns_label(name))
      errors.add(
          {"FieldValueInvalid", base::format("Invalid value: \"{}\": {}", name, api::kDnsLabelRule), path + ".name"});
    else if (!names.emplace(name).second)
      errors.add({"FieldValueDuplicate", base::format("Duplicate value: \"{}\"", name), path + ".name"});
    if (container["image"].as_string().empty()) errors.add({"FieldValueRequired", "Required value", path + ".image"});
    const std::string_view target = container["targetContainerName"].as_string();
    if (!target.empty() && !targets.contains(target))
      errors.add({"FieldValueNotFound", base::format("Not found: \"{}\"", target), path + ".targetContainerName"});
    check_fields_of(container, path, errors);
    check_mounts(volumes, container, path, errors);
  }
}

}  // namespace

void take_ephemeral_containers(const Json& old_object, Json& object) {
  Json merged = old_object;
  const Json* list = object["spec"].find(kList);
  if (list)
    merged.edit("spec").set(kList, *list);
  else
    merged.edit("spec").erase(kList);
  const Json* managed = object["metadata"].find("managedFields");
  if (managed)
    merged.edit("metadata").set("managedFields", *managed);
  else
    merged.edit("metadata").erase("managedFields");
  object = std::move(merged);
}

void check_ephemeral_containers(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  check_list(object["spec"], errors);
  const api::Schema& schema = api::core_schema("core.v1.EphemeralContainer");
  std::map<std::string_view, const Json*> by_name;
  for (const Json& one : object["spec"][kList].items()) by_name.insert_or_assign(one["name"].as_string(), &one);
  for (const Json& before : old_object["spec"][kList].items()) {
    const auto found = by_name.find(before["name"].as_string());
    const Json* after = found == by_name.end() ? nullptr : found->second;
    if (after == nullptr || !api::same_as_written(schema, *after, before))
      errors.add({"FieldValueForbidden",
                  base::format("Forbidden: existing ephemeral containers \"{}\" may not be {}",
                               before["name"].as_string(), after == nullptr ? "removed" : "changed"),
                  std::string(kField)});
  }
}

}  // namespace apiserver
