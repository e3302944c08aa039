// One row a field of the document; each adds to the pod what it says.
#include "controllers/pipelines/platform.h"

#include "base/format.h"
#include "base/number.h"
#include "pipelines/ir/fields.h"

namespace controllers::pipelines {

using api::Json;

namespace {

struct Work {
  const PlatformValue& value_of;
  PodParts pod;
};

base::Error wrong(std::string_view field, std::string_view why) {
  return base::make_error(base::Code::kInvalid, base::format("platforms.kubernetes.{}: {}", field, why));
}

Json& list_of(Json& object, std::string_view name) {
  Json& list = object.edit(name);
  if (!list.is_array()) list = Json::array();
  return list;
}

void add_volume(const Work& work, std::string name, const char* kind, Json source, const Json& mount) {
  // Two mounts of one claim share a volume.
  bool known = false;
  for (const Json& one : work.pod.spec["volumes"].items()) known = known || one["name"].as_string() == name;
  Json use = Json::object({{"name", name}, {"mountPath", mount["mountPath"]}});
  if (!mount["subPath"].as_string().empty()) use.set("subPath", mount["subPath"]);
  if (!known)
    list_of(work.pod.spec, "volumes").push_back(Json::object({{"name", std::move(name)}, {kind, std::move(source)}}));
  list_of(work.pod.container, "volumeMounts").push_back(std::move(use));
}

// The name in a field of a parameter's form, or in the plain field that documents had before it.
base::Result<std::string> name_in(const Work& work, const Json& item, std::string_view field, const char* parameter,
                                  const char* plain) {
  if (const Json& source = item[std::string_view(parameter)]; source.is_object()) {
    const auto value = work.value_of(source);
    if (!value || value->as_string().empty()) return wrong(field, base::format("{} has no value", parameter));
    return value->str();
  }
  const std::string name = item[std::string_view(plain)].str();
  if (name.empty()) return wrong(field, base::format("{} is required", plain));
  return name;
}

std::string volume_name(const Work& work) { return base::format("kfp-{}", work.pod.spec["volumes"].size()); }

base::Status claims(const Work& work, const Json& list) {
  for (const Json& item : list.items()) {
    std::optional<Json> name;
    if (item["pvcNameParameter"].is_object())
      name = work.value_of(item["pvcNameParameter"]);
    else if (item["constant"].is_string())
      name = item["constant"];
    else
      name = work.value_of(item);
    if (!name || name->as_string().empty()) return wrong("pvcMount", "the name of the claim has no value");
    if (item["mountPath"].as_string().empty()) return wrong("pvcMount", "mountPath is required");
    std::string volume = volume_name(work);
    for (const Json& one : work.pod.spec["volumes"].items())
      if (one["persistentVolumeClaim"]["claimName"] == *name) volume = one["name"].str();
    add_volume(work, volume, "persistentVolumeClaim", Json::object({{"claimName", *name}}), item);
  }
  return {};
}

struct Keyed {  // Secrets and ConfigMaps
  const char* field;
  const char* parameter;
  const char* plain;
  const char* key;       // of an entry of keyToEnv
  const char* volume;    // the kind of volume
  const char* name;      // the member of that volume
  const char* variable;  // the member of an environment variable
};

base::Status as_volume(const Work& work, const Json& list, const Keyed& kind) {
  for (const Json& item : list.items()) {
    TRY(const std::string name, name_in(work, item, kind.field, kind.parameter, kind.plain));
    if (item["mountPath"].as_string().empty()) return wrong(kind.field, "mountPath is required");
    Json source = Json::object({{kind.name, name}});
    if (item["optional"].as_bool()) source.set("optional", true);
    add_volume(work, volume_name(work), kind.volume, std::move(source), item);
  }
  return {};
}

base::Status as_env(const Work& work, const Json& list, const Keyed& kind) {
  for (const Json& item : list.items()) {
    TRY(const std::string name, name_in(work, item, kind.field, kind.parameter, kind.plain));
    for (const Json& pair : item["keyToEnv"].items()) {
      Json reference = Json::object({{"name", name}, {"key", pair[std::string_view(kind.key)]}});
      if (item["optional"].as_bool()) reference.set("optional", true);
      Json from = Json::object({{kind.variable, std::move(reference)}});
      list_of(work.pod.container, "env")
          .push_back(Json::object({{"name", pair["envVar"]}, {"valueFrom", std::move(from)}}));
    }
  }
  return {};
}

base::Status secrets_as_volumes(const Work& work, const Json& list) {
  return as_volume(work, list, {"secretAsVolume", "secretNameParameter", "secretName", "", "secret", "secretName", ""});
}
base::Status secrets_as_env(const Work& work, const Json& list) {
  return as_env(work, list, {"secretAsEnv", "secretNameParameter", "secretName", "secretKey", "", "", "secretKeyRef"});
}
base::Status config_maps_as_volumes(const Work& work, const Json& list) {
  return as_volume(work, list,
                   {"configMapAsVolume", "configMapNameParameter", "configMapName", "", "configMap", "name", ""});
}
base::Status config_maps_as_env(const Work& work, const Json& list) {
  return as_env(
      work, list,
      {"configMapAsEnv", "configMapNameParameter", "configMapName", "configMapKey", "", "", "configMapKeyRef"});
}

base::Status fields_as_env(const Work& work, const Json& list) {
  for (const Json& item : list.items()) {
    Json from = Json::object({{"fieldRef", Json::object({{"fieldPath", item["fieldPath"]}})}});
    list_of(work.pod.container, "env")
        .push_back(Json::object({{"name", item["name"]}, {"valueFrom", std::move(from)}}));
  }
  return {};
}

base::Status empty_folders(const Work& work, const Json& list) {
  for (const Json& item : list.items()) {
    Json source = Json::object();
    for (const char* key : {"medium", "sizeLimit"})
      if (!item[std::string_view(key)].as_string().empty()) source.set(key, item[std::string_view(key)]);
    add_volume(work, item["volumeName"].str(), "emptyDir", std::move(source), item);
  }
  return {};
}

base::Status shared_memory(const Work& work, const Json& item) {
  Json source = Json::object({{"medium", "Memory"}});
  if (!item["size"].as_string().empty()) source.set("sizeLimit", item["size"]);
  const std::string name = item["volumeName"].as_string().empty() ? "shm" : item["volumeName"].str();
  add_volume(work, name, "emptyDir", std::move(source), Json::object({{"mountPath", "/dev/shm"}}));
  return {};
}

base::Status ephemeral_volumes(const Work& work, const Json& list) {
  for (const Json& item : list.items()) {
    Json requests = Json::object({{"requests", Json::object({{"storage", item["size"]}})}});
    Json claim = Json::object({{"accessModes", item["accessModes"]}, {"resources", std::move(requests)}});
    if (!item["defaultStorageClass"].as_bool()) claim.set("storageClassName", item["storageClassName"].as_string());
    Json in = Json::object({{"spec", std::move(claim)}});
    if (item["metadata"].is_object()) in.set("metadata", item["metadata"]);
    add_volume(work, item["volumeName"].str(), "ephemeral", Json::object({{"volumeClaimTemplate", std::move(in)}}),
               item);
  }
  return {};
}

base::Status metadata(const Work& work, const Json& parts) {
  for (const char* map : {"labels", "annotations"})
    for (const Json::Member& one : parts[std::string_view(map)].members())
      work.pod.metadata.edit(map).set(one.name(), one.value);
  return {};
}

base::Status node_selector(const Work& work, const Json& parts) {
  Json labels = parts["labels"];
  if (parts["nodeSelectorJson"].is_object()) {
    const auto value = work.value_of(parts["nodeSelectorJson"]);
    if (!value || !value->is_object()) return wrong("nodeSelector", "nodeSelectorJson has no value");
    labels = *value;
  }
  for (const Json::Member& one : labels.members()) work.pod.spec.edit("nodeSelector").set(one.name(), one.value);
  return {};
}

// Entries of a list that a parameter gives: one, or several of them.
base::Result<std::vector<Json>> given(const Work& work, std::string_view field, const Json& source) {
  const auto value = work.value_of(source);
  if (!value || (!value->is_object() && !value->is_array())) return wrong(field, "its parameter has no value");
  if (value->is_object()) return std::vector<Json>{*value};
  const auto items = value->items();
  return std::vector<Json>(items.begin(), items.end());
}

base::Status tolerations(const Work& work, const Json& list) {
  for (const Json& item : list.items()) {
    std::vector<Json> all;
    if (item["tolerationJson"].is_object()) {
      TRY(all, given(work, "tolerations", item["tolerationJson"]));
    } else {
      Json one = item;
      // 64 bit numbers may be texts.
      if (const auto seconds = base::parse_number<std::int64_t>(item["tolerationSeconds"].as_string()))
        one.set("tolerationSeconds", *seconds);
      all.push_back(std::move(one));
    }
    for (Json& one : all) list_of(work.pod.spec, "tolerations").push_back(std::move(one));
  }
  return {};
}

base::Status node_affinity(const Work& work, const Json& list) {
  for (const Json& item : list.items()) {
    Json& affinity = work.pod.spec.edit("affinity").edit("nodeAffinity");
    if (item["nodeAffinityJson"].is_object()) {
      const auto value = work.value_of(item["nodeAffinityJson"]);
      if (!value || !value->is_object()) return wrong("nodeAffinity", "nodeAffinityJson has no value");
      for (const Json::Member& one : value->members()) affinity.set(one.name(), one.value);
      continue;
    }
    Json term = Json::object();
    for (const char* key : {"matchExpressions", "matchFields"})
      if (!item[std::string_view(key)].empty()) term.set(key, item[std::string_view(key)]);
    if (item["weight"].is_number())
      list_of(affinity, "preferredDuringSchedulingIgnoredDuringExecution")
          .push_back(Json::object({{"weight", item["weight"].as_int()}, {"preference", std::move(term)}}));
    else
      list_of(affinity.edit("requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms")
          .push_back(std::move(term));
  }
  return {};
}

Json selector_from(const Json& labels, const Json& expressions) {
  Json selector = Json::object();
  if (!labels.empty()) selector.set("matchLabels", labels);
  if (!expressions.empty()) selector.set("matchExpressions", expressions);
  return selector;
}

base::Status pod_affinity(const Work& work, const Json& list) {
  for (const Json& item : list.items()) {
    Json term = Json::object({{"topologyKey", item["topologyKey"]},
                              {"labelSelector", selector_from(item["matchPodLabels"], item["matchPodExpressions"])}});
    if (!item["namespaces"].empty()) term.set("namespaces", item["namespaces"]);
    Json spaces = selector_from(item["matchNamespaceLabels"], item["matchNamespaceExpressions"]);
    if (!spaces.empty()) term.set("namespaceSelector", std::move(spaces));
    Json& affinity = work.pod.spec.edit("affinity").edit(item["anti"].as_bool() ? "podAntiAffinity" : "podAffinity");
    if (item["weight"].is_number())
      list_of(affinity, "preferredDuringSchedulingIgnoredDuringExecution")
          .push_back(Json::object({{"weight", item["weight"].as_int()}, {"podAffinityTerm", std::move(term)}}));
    else
      list_of(affinity, "requiredDuringSchedulingIgnoredDuringExecution").push_back(std::move(term));
  }
  return {};
}

base::Status pull_secrets(const Work& work, const Json& list) {
  for (const Json& item : list.items()) {
    TRY(const std::string name, name_in(work, item, "imagePullSecret", "secretNameParameter", "secretName"));
    list_of(work.pod.spec, "imagePullSecrets").push_back(Json::object({{"name", name}}));
  }
  return {};
}

base::Status pull_policy(const Work& work, const Json& parts) {
  work.pod.container.set("imagePullPolicy", parts);
  return {};
}

base::Status deadline(const Work& work, const Json& parts) {
  TRY(const std::int64_t seconds, ::pipelines::Field(parts, "platforms.kubernetes.activeDeadlineSeconds").number());
  if (seconds > 0) work.pod.spec.set("activeDeadlineSeconds", seconds);
  return {};
}

base::Status security_context(const Work& work, const Json& parts) {
  Json context = Json::object();
  for (const char* key : {"runAsUser", "runAsGroup"}) {
    const Json& value = parts[std::string_view(key)];
    if (value.is_null()) continue;
    TRY(const std::int64_t id, ::pipelines::Field(value, "platforms.kubernetes.securityContext").number());
    context.set(key, id);
  }
  if (parts["runAsNonRoot"].is_bool()) context.set("runAsNonRoot", parts["runAsNonRoot"]);
  work.pod.container.set("securityContext", std::move(context));
  return {};
}

struct Row {
  std::string_view field;
  base::Status (*add)(const Work&, const Json&);
  bool is_list;
};

constexpr Row kRows[] = {
    {"pvcMount", claims, true},
    {"secretAsVolume", secrets_as_volumes, true},
    {"secretAsEnv", secrets_as_env, true},
    {"configMapAsVolume", config_maps_as_volumes, true},
    {"configMapAsEnv", config_maps_as_env, true},
    {"fieldPathAsEnv", fields_as_env, true},
    {"emptyDirMounts", empty_folders, true},
    {"enabledSharedMemory", shared_memory, false},
    {"genericEphemeralVolume", ephemeral_volumes, true},
    {"podMetadata", metadata, false},
    {"nodeSelector", node_selector, false},
    {"tolerations", tolerations, true},
    {"nodeAffinity", node_affinity, true},
    {"podAffinity", pod_affinity, true},
    {"imagePullSecret", pull_secrets, true},
    {"imagePullPolicy", pull_policy, false},
    {"activeDeadlineSeconds", deadline, false},
    {"securityContext", security_context, false},
};

}  // namespace

base::Status add_platform(const Json& platform, const PlatformValue& value_of, PodParts pod) {
  const Work work{value_of, pod};
  for (const Json::Member& member : platform.members()) {
    const Row* found = nullptr;
    for (const Row& row : kRows)
      if (row.field == member.name()) found = &row;
    if (found == nullptr) return wrong(member.name(), "it is not a field that is known here");
    if (found->is_list && !member.value.is_array()) return wrong(member.name(), "it is not a list");
    TRY_VOID(found->add(work, member.value));
  }
  return {};
}

}  // namespace controllers::pipelines
