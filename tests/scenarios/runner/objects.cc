// How do the short lines of a scenario become API objects?
#include "objects.h"

#include <cstdlib>

#include "base/format.h"
#include "base/time.h"
#include "device_objects.h"

namespace scenario {
namespace {

using api::Json;

bool is_resource(std::string_view key) {
  return key == "cpu" || key == "memory" || key == "pods" || key == "ephemeral-storage" ||
         key.find('/') != std::string_view::npos;
}

Json resources_of(const Line& line) {
  Json out = Json::object();
  for (const auto& [key, value] : line.fields) {
    if (is_resource(key)) out.set(key, value);
  }
  return out;
}

void add_metadata(const Line& line, std::int64_t order, Json& object) {
  Json& metadata = object.edit("metadata");
  // Objects are as old as their place in the file, unless the line says otherwise.
  const base::Time created =
      base::Time{} + base::seconds(1'700'000'000) + base::seconds(std::atoll(line.get("age", "0").c_str()) * -1);
  metadata.set("creationTimestamp", base::format_rfc3339(created));
  metadata.set("uid", line.get("uid", base::format("{:06}", order)));
  if (const std::string* labels = line.find("labels")) metadata.set("labels", map_from(*labels));
  if (const std::string* annotations = line.find("annotations")) metadata.set("annotations", map_from(*annotations));
}

Json taints_from(std::string_view text) {
  std::vector<Json> out;
  for (const std::string& one : split(text, ',')) {
    const std::vector<std::string> parts = split(one, ':');
    Json taint = Json::object({{"key", parts[0]}, {"effect", parts.back()}});
    if (parts.size() == 3) taint.set("value", parts[1]);
    out.push_back(std::move(taint));
  }
  return Json::array(std::move(out));
}

Json node_from(const Line& line, const std::string& name) {
  Json allocatable = resources_of(line);
  if (!allocatable.has("memory")) allocatable.set("memory", "100Gi");
  if (!allocatable.has("pods")) allocatable.set("pods", "110");
  Json object = Json::object({{"metadata", Json::object({{"name", name}})},
                              {"spec", Json::object()},
                              {"status", Json::object({{"allocatable", allocatable}, {"capacity", allocatable}})}});
  if (const std::string* taints = line.find("taints")) object.edit("spec").set("taints", taints_from(*taints));
  if (line.find("unschedulable") != nullptr) object.edit("spec").set("unschedulable", true);
  std::vector<Json> images;
  for (const std::string& image : split(line.get("images"), ',')) {
    const std::size_t at = image.rfind('@');
    images.push_back(
        Json::object({{"names", Json::array({Json(image.substr(0, at))})},
                      {"sizeBytes", static_cast<std::int64_t>(std::atoll(image.substr(at + 1).c_str()))}}));
  }
  if (!images.empty()) object.edit("status").set("images", Json::array(std::move(images)));
  return object;
}

Json queue_from(const Line& line, const std::string& name) {
  Json spec = Json::object({{"weight", static_cast<std::int64_t>(std::atoll(line.get("weight", "1").c_str()))}});
  for (const char* field : {"capability", "deserved"}) {
    if (const std::string* list = line.find(field)) spec.set(field, map_from(*list));
  }
  if (const std::string* list = line.find("guarantee"))
    spec.set("guarantee", Json::object({{"resource", map_from(*list)}}));
  if (const std::string* priority = line.find("priority"))
    spec.set("priority", static_cast<std::int64_t>(std::atoll(priority->c_str())));
  if (const std::string* parent = line.find("parent")) spec.set("parent", *parent);
  if (const std::string* reclaimable = line.find("reclaimable")) spec.set("reclaimable", *reclaimable == "true");
  return Json::object({{"metadata", Json::object({{"name", name}})},
                       {"spec", spec},
                       {"status", Json::object({{"state", line.get("state", "Open")}})}});
}

// "hard:2", "hard:rack", "soft"
Json topology_from(const std::string& text) {
  const std::size_t colon = text.find(':');
  Json out = Json::object({{"mode", text.substr(0, colon)}});
  if (colon == std::string::npos) return out;
  const std::string tier = text.substr(colon + 1);
  if (tier.find_first_not_of("0123456789") == std::string::npos)
    out.set("highestTierAllowed", static_cast<std::int64_t>(std::atoll(tier.c_str())));
  else
    out.set("highestTierName", tier);
  return out;
}

Json group_from(const Line& line, const std::string& name) {
  Json spec = Json::object({{"minMember", static_cast<std::int64_t>(std::atoll(line.get("min", "1").c_str()))},
                            {"queue", line.get("queue", "default")}});
  if (const std::string* list = line.find("minResources")) spec.set("minResources", map_from(*list));
  if (const std::string* roles = line.find("roles")) spec.set("minTaskMember", map_from(*roles, true));
  if (const std::string* priority = line.find("class")) spec.set("priorityClassName", *priority);
  if (const std::string* topology = line.find("topology")) spec.set("networkTopology", topology_from(*topology));
  return Json::object(
      {{"metadata", named(name)}, {"spec", spec}, {"status", Json::object({{"phase", line.get("phase", "Pending")}})}});
}

// "nodes=a,b", "hypernodes=s0,s1", "regex=^a" and "nodelabels=rack:r1" list members.
Json hyper_node_from(const Line& line, const std::string& name) {
  std::vector<Json> members;
  const auto add = [&](const char* type, const char* kind, Json selector) {
    members.push_back(Json::object({{"type", type}, {"selector", Json::object({{kind, std::move(selector)}})}}));
  };
  for (const std::string& one : split(line.get("nodes"), ',')) {
    for (const std::string& node : expand(one)) add("Node", "exactMatch", Json::object({{"name", node}}));
  }
  for (const std::string& one : split(line.get("hypernodes"), ',')) {
    for (const std::string& inner : expand(one)) add("HyperNode", "exactMatch", Json::object({{"name", inner}}));
  }
  if (const std::string* pattern = line.find("regex")) add("Node", "regexMatch", Json::object({{"pattern", *pattern}}));
  if (const std::string* labels = line.find("nodelabels"))
    add("Node", "labelMatch", Json::object({{"matchLabels", map_from(*labels)}}));
  Json spec = Json::object({{"tier", static_cast<std::int64_t>(std::atoll(line.get("tier", "1").c_str()))},
                            {"members", Json::array(std::move(members))}});
  if (const std::string* tier = line.find("tierName")) spec.set("tierName", *tier);
  return Json::object({{"metadata", Json::object({{"name", name}})}, {"spec", spec}});
}

void add_pod_spec(const Line& line, Json& spec) {
  if (const std::string* node = line.find("node")) spec.set("nodeName", *node);
  if (const std::string* selector = line.find("selector")) spec.set("nodeSelector", map_from(*selector));
  if (const std::string* priority = line.find("priority"))
    spec.set("priority", static_cast<std::int64_t>(std::atoll(priority->c_str())));
  if (const std::string* name = line.find("class")) spec.set("priorityClassName", *name);
  if (const std::string* policy = line.find("preemption")) spec.set("preemptionPolicy", *policy);
  std::vector<Json> tolerations, gates, ports, volumes;
  for (const std::string& claim : split(line.get("claims"), ',')) {
    volumes.push_back(Json::object({{"name", claim}, {"persistentVolumeClaim", Json::object({{"claimName", claim}})}}));
  }
  if (!volumes.empty()) spec.set("volumes", Json::array(std::move(volumes)));
  for (const std::string& key : split(line.get("tolerates"), ',')) {
    tolerations.push_back(Json::object({{"key", key}, {"operator", "Exists"}}));
  }
  for (const std::string& gate : split(line.get("gates"), ',')) gates.push_back(Json::object({{"name", gate}}));
  for (const std::string& port : split(line.get("hostPorts"), ',')) {
    ports.push_back(Json::object({{"hostPort", static_cast<std::int64_t>(std::atoll(port.c_str()))}}));
  }
  if (!tolerations.empty()) spec.set("tolerations", Json::array(std::move(tolerations)));
  if (!gates.empty()) spec.set("schedulingGates", Json::array(std::move(gates)));
  if (!ports.empty()) spec.edit("containers").edit(std::size_t{0}).set("ports", Json::array(std::move(ports)));
}

Json pod_from(const Line& line, const std::string& name) {
  Json container = Json::object({{"name", "main"}, {"resources", Json::object({{"requests", resources_of(line)}})}});
  if (const std::string* limits = line.find("limits")) container.edit("resources").set("limits", map_from(*limits));
  if (const std::string* image = line.find("image")) container.set("image", *image);
  Json spec =
      Json::object({{"schedulerName", line.get("scheduler", "volcano")}, {"containers", Json::array({container})}});
  add_pod_spec(line, spec);
  const std::string phase = line.get("status", line.find("node") != nullptr ? "Running" : "Pending");
  Json object = Json::object({{"metadata", named(name)}, {"spec", spec}, {"status", Json::object({{"phase", phase}})}});
  Json& metadata = object.edit("metadata");
  if (const std::string* annotations = line.find("annotations")) metadata.set("annotations", map_from(*annotations));
  Json& annotations = metadata.edit("annotations");
  if (const std::string* group = line.find("group")) annotations.set("scheduling.k8s.io/group-name", *group);
  if (const std::string* role = line.find("role")) annotations.set("volcano.sh/task-spec", *role);
  if (const std::string* preemptable = line.find("preemptable"))
    annotations.set("volcano.sh/preemptable", *preemptable);
  if (line.find("deleting") != nullptr) metadata.set("deletionTimestamp", "2023-11-14T22:13:20Z");
  return object;
}

void merge(Json& target, const Json& patch) {
  if (!patch.is_object() || !target.is_object()) {
    target = patch;
    return;
  }
  for (const auto& member : patch.members()) {
    if (member.value.is_null())
      target.erase(member.name());
    else if (member.value.is_array())
      target.set(member.name(), member.value);
    else
      merge(target.edit(member.name()), member.value);
  }
}

// Kinds that a scenario writes as a name and JSON.
struct PlainKind {
  std::string_view verb;
  const api::ResourceId* resource;
  bool namespaced;
};
const PlainKind kPlainKinds[] = {
    {"csinode", &api::resources::kCsiNodes, false},
    {"csidriver", &api::resources::kCsiDrivers, false},
    {"capacity", &api::resources::kCsiStorageCapacities, true},
    {"attachment", &api::resources::kVolumeAttachments, false},
    {"configmap", &api::resources::kConfigMaps, true},
    {"service", &api::resources::kServices, true},
    {"replicationcontroller", &api::resources::kReplicationControllers, true},
    {"replicaset", &api::resources::kReplicaSets, true},
    {"statefulset", &api::resources::kStatefulSets, true},
};

}  // namespace

Json named(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return Json::object({{"name", name}, {"namespace", "default"}});
  return Json::object({{"name", name.substr(slash + 1)}, {"namespace", name.substr(0, slash)}});
}

// Claims, volumes and their classes.
std::optional<Made> storage_from(const Line& line, const std::string& name) {
  if (line.verb == "claim") {
    Json spec = Json::object(
        {{"accessModes", Json::array({Json("ReadWriteOnce")})},
         {"storageClassName", line.get("storageClass")},
         {"resources", Json::object({{"requests", Json::object({{"storage", line.get("storage", "1Gi")}})}})}});
    if (const std::string* volume = line.find("volume")) spec.set("volumeName", *volume);
    return Made{
        api::resources::kPersistentVolumeClaims,
        Json::object({{"metadata", named(name)},
                      {"spec", spec},
                      {"status", Json::object({{"phase", line.find("volume") != nullptr ? "Bound" : "Pending"}})}})};
  }
  if (line.verb == "volume") {
    Json spec = Json::object({{"accessModes", Json::array({Json("ReadWriteOnce")})},
                              {"storageClassName", line.get("storageClass")},
                              {"capacity", Json::object({{"storage", line.get("storage", "1Gi")}})}});
    if (const std::string* node = line.find("on")) {
      Json expression =
          Json::object({{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({Json(*node)})}});
      Json term = Json::object({{"matchFields", Json::array({expression})}});
      spec.set("nodeAffinity",
               Json::object({{"required", Json::object({{"nodeSelectorTerms", Json::array({term})}})}}));
    }
    return Made{api::resources::kPersistentVolumes, Json::object({{"metadata", Json::object({{"name", name}})},
                                                                  {"spec", spec},
                                                                  {"status", Json::object({{"phase", "Available"}})}})};
  }
  if (line.verb == "storageclass") {
    return Made{api::resources::kStorageClasses,
                Json::object({{"metadata", Json::object({{"name", name}})},
                              {"provisioner", line.get("provisioner", "example.com/p")},
                              {"volumeBindingMode", line.get("mode", "WaitForFirstConsumer")}})};
  }
  return std::nullopt;
}

// A word that is misspelt would otherwise say nothing, and the scenario would prove less than it seems to.
base::Status check_words(const Line& line) {
  struct Words {
    std::string_view verb, words;
    bool amounts = false;
  };
  static constexpr Words kWords[] = {
      {"node", " taints unschedulable images vgpus vnpus ", true},
      {"queue", " weight capability deserved guarantee priority parent reclaimable state "},
      {"group", " min queue minResources roles class topology phase "},
      {"pod",
       " group role node priority class preemption selector tolerates gates hostPorts claims limits image preemptable "
       "deleting status scheduler guaranteed resourceclaims claimtemplates holds npu level dvpp ",
       true},
      {"hypernode", " tier tierName nodes hypernodes regex nodelabels "},
      {"class", " value default "},
      {"budget", " selector allowed disrupted "},
      {"quota", " hard used "},
      {"shard", " desired uses "},
      {"claim", " storageClass storage volume "},
      {"volume", " storageClass storage on "},
      {"storageclass", " provisioner mode "}};
  for (const Words& known : kWords) {
    if (known.verb != line.verb) continue;
    for (const auto& [key, value] : line.fields) {
      const bool common = key == "labels" || key == "annotations" || key == "age" || key == "uid";
      const bool own = known.words.find(" " + key + " ") != std::string_view::npos;
      if (!common && !own && !(known.amounts && is_resource(key)))
        return base::make_error(base::Code::kInvalid,
                                base::format("line {}: {} has no word {}", line.number, line.verb, key));
    }
  }
  return {};
}

base::Result<std::optional<Made>> object_for(const Line& line, const std::string& name, std::int64_t order) {
  TRY_VOID(check_words(line));
  std::optional<Made> out;
  if (line.verb == "node")
    out = Made{api::resources::kNodes, node_from(line, name)};
  else if (line.verb == "queue")
    out = Made{api::resources::kQueues, queue_from(line, name)};
  else if (line.verb == "group")
    out = Made{api::resources::kPodGroups, group_from(line, name)};
  else if (line.verb == "hypernode")
    out = Made{api::resources::kHyperNodes, hyper_node_from(line, name)};
  else if (line.verb == "pod")
    out = Made{api::resources::kPods, pod_from(line, name)};
  else if (line.verb == "namespace")
    out = Made{api::resources::kNamespaces, Json::object({{"metadata", Json::object({{"name", name}})}})};
  else if (line.verb == "class") {
    out = Made{api::resources::kPriorityClasses,
               Json::object({{"metadata", Json::object({{"name", name}})},
                             {"value", static_cast<std::int64_t>(std::atoll(line.get("value", "0").c_str()))},
                             {"globalDefault", line.find("default") != nullptr}})};
  } else if (line.verb == "budget") {
    out = Made{
        api::resources::kPodDisruptionBudgets,
        Json::object(
            {{"metadata", named(name)},
             {"spec", Json::object({{"selector", Json::object({{"matchLabels", map_from(line.get("selector"))}})}})},
             {"status", Json::object({{"disruptionsAllowed",
                                       static_cast<std::int64_t>(std::atoll(line.get("allowed", "0").c_str()))},
                                      {"disruptedPods", map_from(line.get("disrupted"))}})}})};
  } else if (line.verb == "shard") {
    const auto names = [](const std::string& text) {
      std::vector<Json> out;
      for (const std::string& one : split(text, ',')) out.push_back(Json(one));
      return Json::array(std::move(out));
    };
    out = Made{api::resources::kNodeShards,
               Json::object({{"metadata", Json::object({{"name", name}})},
                             {"spec", Json::object({{"nodesDesired", names(line.get("desired"))}})},
                             {"status", Json::object({{"nodesInUse", names(line.get("uses"))}})}})};
  } else if (line.verb == "quota") {
    out = Made{
        api::resources::kResourceQuotas,
        Json::object(
            {{"metadata", named(name)},
             {"status", Json::object({{"hard", map_from(line.get("hard"))}, {"used", map_from(line.get("used"))}})}})};
  } else if (auto storage = storage_from(line, name)) {
    out = std::move(storage);
  } else {
    TRY(out, device_object(line, name));
    for (const PlainKind& kind : kPlainKinds) {
      if (kind.verb != line.verb) continue;
      out = Made{*kind.resource,
                 Json::object({{"metadata", kind.namespaced ? named(name) : Json::object({{"name", name}})}})};
    }
    if (!out) return out;
  }
  Json annotations = out->object["metadata"]["annotations"];
  add_metadata(line, order, out->object);
  if (line.verb == "pod") {
    out->object.edit("metadata").set("annotations", annotations);
    add_device_requests(line, out->object);
  }
  if (line.verb == "node") add_cards(line, out->object);
  if (!line.patch.is_null()) merge(out->object, line.patch);
  return out;
}

}  // namespace scenario
