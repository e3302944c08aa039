// One-shot runs (`volcano schedule`): objects from files, completed as admission and the controllers would.
#include <algorithm>
#include <cctype>

#include "api/json/yaml.h"
#include "api/kinds.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/number.h"
#include "scheduler/cache/intake_fields.h"
#include "scheduler/dump/dump.h"
#include "scheduler/one_shot/one_shot.h"

namespace scheduler {
namespace {

constexpr std::string_view kGroupAnnotation = "scheduling.k8s.io/group-name";

struct KindRow {
  std::string_view kind;
  std::string_view group;  // API group
  const api::ResourceId* resource;
};
const KindRow kKinds[] = {
    {"Pod", "", &api::resources::kPods},
    {"Node", "", &api::resources::kNodes},
    {"Namespace", "", &api::resources::kNamespaces},
    {"PodGroup", "scheduling.volcano.sh", &api::resources::kPodGroups},
    {"Queue", "scheduling.volcano.sh", &api::resources::kQueues},
    {"PersistentVolumeClaim", "", &api::resources::kPersistentVolumeClaims},
    {"PersistentVolume", "", &api::resources::kPersistentVolumes},
    {"StorageClass", "storage.k8s.io", &api::resources::kStorageClasses},
    {"CSINode", "storage.k8s.io", &api::resources::kCsiNodes},
    {"CSIDriver", "storage.k8s.io", &api::resources::kCsiDrivers},
    {"CSIStorageCapacity", "storage.k8s.io", &api::resources::kCsiStorageCapacities},
    {"VolumeAttachment", "storage.k8s.io", &api::resources::kVolumeAttachments},
    {"ConfigMap", "", &api::resources::kConfigMaps},
    {"ResourceClaim", "resource.k8s.io", &api::resources::kResourceClaims},
    {"ResourceSlice", "resource.k8s.io", &api::resources::kResourceSlices},
    {"DeviceClass", "resource.k8s.io", &api::resources::kDeviceClasses},
    {"Numatopology", "nodeinfo.volcano.sh", &api::resources::kNumatopologies},
    {"Service", "", &api::resources::kServices},
    {"ReplicationController", "", &api::resources::kReplicationControllers},
    {"ReplicaSet", "apps", &api::resources::kReplicaSets},
    {"StatefulSet", "apps", &api::resources::kStatefulSets},
    {"PriorityClass", "scheduling.k8s.io", &api::resources::kPriorityClasses},
    {"HyperNode", "topology.volcano.sh", &api::resources::kHyperNodes},
    {"PodDisruptionBudget", "policy", &api::resources::kPodDisruptionBudgets},
    {"ResourceQuota", "", &api::resources::kResourceQuotas},
    {"NodeShard", "shard.volcano.sh", &api::resources::kNodeShards},
};

const KindRow* row_for(const api::Json& object) {
  const std::string_view version = object["apiVersion"].as_string();
  const std::size_t slash = version.find('/');
  const std::string_view group = slash == std::string_view::npos ? "" : version.substr(0, slash);
  for (const KindRow& row : kKinds) {
    if (row.kind == object["kind"].as_string() && row.group == group) return &row;
  }
  return nullptr;
}

// Names cannot hold an underscore, so distinct objects get distinct uids.
std::string derived_uid(const api::Json& object) {
  const std::string_view ns = api::namespace_of(object);
  return ns.empty() ? std::string(api::name_of(object)) : std::string(ns) + "_" + std::string(api::name_of(object));
}

bool is_namespaced(const KindRow& row) {
  constexpr std::string_view kNamespaced[] = {"Pod",
                                              "PodGroup",
                                              "PersistentVolumeClaim",
                                              "CSIStorageCapacity",
                                              "ResourceClaim",
                                              "ConfigMap",
                                              "Service",
                                              "ReplicationController",
                                              "ReplicaSet",
                                              "StatefulSet",
                                              "PodDisruptionBudget",
                                              "ResourceQuota"};
  return std::find(std::begin(kNamespaced), std::end(kNamespaced), row.kind) != std::end(kNamespaced);
}

base::Error bad(const std::string& where, std::string_view what) {
  return base::make_error(base::Code::kInvalid, base::format("{}: {}", where, what));
}

// The topology that a bare pod's annotations ask for; null when they say nothing.
api::Json topology_for(const api::Json& pod) {
  const std::string_view tier = api::annotation_of(pod, "volcano.sh/network-topology-highest-tier");
  const std::string mode = base::lower(api::annotation_of(pod, "volcano.sh/network-topology-mode"));
  if (tier.empty() && mode.empty()) return {};
  api::Json out = api::Json::object({{"mode", mode == "soft" ? "soft" : "hard"}});
  if (const auto number = base::parse_number<std::int64_t>(tier)) out.set("highestTierAllowed", *number);
  return out;
}

bool looks_like_lines(const std::string& file, std::string_view text) {
  if (file.ends_with(".jsonl")) return true;
  if (file.ends_with(".yaml") || file.ends_with(".yml") || file.ends_with(".json")) return false;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return false;
  const std::size_t end = text.find('\n', first);
  return end != std::string_view::npos && text[end - 1] == '}' &&
         text.find_first_not_of(" \t\r\n", end) != std::string_view::npos &&
         api::parse_json(text.substr(first, end - first)).ok();
}

}  // namespace

base::Status OneShot::load(const std::string& file, std::string_view text) {
  const auto before = stopwatch_();
  const auto count = [&] {
    const auto after = stopwatch_();
    if (!started_) {
      stats_.load_wall_s += after.first - before.first;
      stats_.load_cpu_s += after.second - before.second;
    } else {
      intake_wall_s_ += after.first - before.first;
      intake_cpu_s_ += after.second - before.second;
    }
  };
  std::string name = file;
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (looks_like_lines(name, text)) {
    int line = 1;
    for (std::size_t start = 0; start < text.size(); ++line) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      const std::string_view one = text.substr(start, end - start);
      start = end + 1;
      if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      // Programs write lines, so of pods and nodes only what is read is built, and only that is checked.
      auto object = api::parse_json(one, api::ChooseProjection([](std::string_view version, std::string_view kind) {
                                      return fields_read(version, kind);
                                    }));
      if (!object.ok()) return bad(base::format("{}:{}", file, line), object.error().message);
      TRY_VOID(load_object(file, line, std::move(*object)));
    }
  } else if (auto whole = name.ends_with(".json") ? api::parse_json(text) : base::Result<api::Json>(bad(file, ""));
             whole.ok()) {
    TRY_VOID(load_object(file, 1, std::move(*whole)));
  } else {
    auto documents = api::parse_yaml_documents(text);
    if (!documents.ok()) return base::within(documents.take_error(), file);
    for (api::YamlDocument& document : *documents)
      TRY_VOID(load_object(file, document.line, std::move(document.value)));
  }
  count();
  return {};
}

base::Status OneShot::check(const std::string& where, const api::ResourceId& id, const api::Json& object) {
  if (!object["metadata"].is_object()) return bad(where, "metadata: must be a map");
  if (!object["metadata"]["name"].is_string() || object["metadata"]["name"].as_string().empty()) {
    return bad(where, "metadata.name: is required");
  }
  const api::KindInfo* info = api::find_kind(id);
  if (info == nullptr || info->schema == nullptr) return {};
  if (const auto wrong = api::find_wrong_type(*info->schema, object, checked_))
    return bad(where, base::format("{}: {}", wrong->field, wrong->message));
  return {};
}

base::Status OneShot::load_object(const std::string& file, int line, api::Json object) {
  const std::string where = base::format("{}:{}", file, line);
  if (!object.is_object()) return bad(where, "not an object");
  const std::string kind = object["kind"].str();
  if (kind.empty() || !object["apiVersion"].is_string()) return bad(where, "apiVersion and kind are required");
  if (kind.ends_with("List") && object["items"].is_array()) {
    for (const api::Json& item : object["items"].items()) {
      api::Json one = item;
      if (!one.is_object()) return bad(where, "items: not an object");
      if (!one.has("kind") && kind != "List") {
        one.set("kind", kind.substr(0, kind.size() - 4));
        one.set("apiVersion", object["apiVersion"]);
      }
      TRY_VOID(load_object(file, line, std::move(one)));
    }
    return {};
  }
  if (kind == kStateKind && object["apiVersion"].as_string() == kStateVersion) return load_state(where, object);
  const KindRow* row = row_for(object);
  // Their part is in the pods already.
  const bool is_filled_in = options_.complete_pod && (kind == "LimitRange" || kind == "RuntimeClass");
  if (row == nullptr && is_filled_in) return {};
  if (row == nullptr) {
    const std::string name = base::format("{} {}", object["apiVersion"].as_string(), kind);
    if (skipped_kinds_.insert(name).second)
      warnings_.push_back(base::format("{}: {} is not read here and is skipped", where, name));
    return {};
  }
  TRY_VOID(check(where, *row->resource, object));
  if (is_namespaced(*row) && api::namespace_of(object).empty()) object.edit_path({"metadata", "namespace"}) = "default";
  if (api::uid_of(object).empty()) object.edit_path({"metadata", "uid"}) = derived_uid(object);
  if (api::is_deleting(object) && object["metadata"]["finalizers"].empty() && started_) {
    intake_.remove(*row->resource, object);
    return {};
  }
  if (!options_.as_is) complete(object);
  if (!options_.as_is && row->kind == "Pod") {
    if (options_.complete_pod) options_.complete_pod(object);
    add_group_for(object);
  }
  if (const std::string_view node = object["spec"]["nodeName"].as_string(); row->kind == "Pod" && !node.empty()) {
    const NodeId known = model_.nodes.find(node);
    if (!known.is_set() || !model_.nodes[known].known) {
      early_pods_.push_back(std::move(object));
      return {};
    }
  }
  take_in(*row->resource, object);
  return {};
}

// The CPUs of a pod in a dump are believed here alone: in a cluster anybody could say it of his pod.
void OneShot::take_in(const api::ResourceId& id, const api::Json& object) {
  intake_.set(id, object);
  if (id != api::resources::kPods) return;
  const std::string_view cpus = api::annotation_of(object, kDumpedCpus);
  if (cpus.empty()) return;
  if (const TaskId task = model_.find_task(api::key_of(object)); task.is_set())
    model_.devices.give_cpus(task, cpu_set_from(cpus));
}

// A dump says with which configuration and at what time it was made; what was asked for on the command line counts
// more.
base::Status OneShot::load_state(const std::string& where, const api::Json& state) {
  restore_state(state, model_);
  if (!options_.config && state["configuration"].is_string()) {
    if (base::Status taken = decider_.configure(state["configuration"].as_string()); !taken.ok())
      return base::within(taken.take_error(), where + ": configuration");
    for (const std::string& warning : decider_.warnings()) warnings_.push_back(warning);
  }
  if (const auto now = base::parse_rfc3339(state["now"].as_string()); now && !options_.now_given) now_ = *now;
  std::string flags;
  for (const api::Json& argument : state["arguments"].items()) flags += " " + argument.str();
  if (!flags.empty()) warnings_.push_back(base::format("{}: made by a scheduler with the flags{}", where, flags));
  return {};
}

void OneShot::complete(api::Json& object) const {
  const std::string_view kind = object["kind"].as_string();
  if (kind == "PodGroup" && object["status"]["phase"].as_string().empty())
    object.edit_path({"status", "phase"}) = "Pending";
  if (kind == "Queue" && object["status"]["state"].as_string().empty()) object.edit_path({"status", "state"}) = "Open";
}

void OneShot::add_missing_queues() {
  for (const std::string& name : {std::string("root"), options_.scheduler.default_queue}) {
    if (model_.find_queue(name).is_set()) continue;
    api::Json queue = api::Json::object({{"metadata", api::Json::object({{"name", name}, {"uid", name}})},
                                         {"spec", api::Json::object({{"weight", 1}, {"reclaimable", name != "root"}})},
                                         {"status", api::Json::object({{"state", "Open"}})}});
    intake_.set(api::resources::kQueues, queue);
  }
}

// A bare pod of ours gets the group that the podgroup controller would make.
void OneShot::add_group_for(api::Json& pod) {
  const auto names = options_.scheduler.names();
  if (std::find(names.begin(), names.end(), pod["spec"]["schedulerName"].as_string()) == names.end()) return;
  if (!api::annotation_of(pod, kGroupAnnotation).empty()) return;
  const api::Json& owner = api::controller_of(pod);
  const std::string name = "podgroup-" + (owner.is_object() ? owner["uid"].str() : std::string(api::uid_of(pod)));
  pod.edit_path({"metadata", "annotations", kGroupAnnotation}) = name;
  const std::string ns(api::namespace_of(pod));
  if (const JobId known = model_.find_job(ns + "/" + name); known.is_set() && model_.job(known).has_group) return;
  api::Json minimum = api::Json::object();
  for (const Part& part : pod_request(pod, model_.dimensions).parts) {
    if (part.amount == 0) continue;
    minimum.set(model_.dimensions.name(part.dim),
                Dimensions::quantity_of(part.dim, static_cast<double>(part.amount)).to_json());
  }
  api::Json spec = api::Json::object({{"minMember", 1}, {"minResources", minimum}});
  const std::string_view queue = api::annotation_of(pod, "scheduling.volcano.sh/queue-name");
  spec.set("queue", queue.empty() ? options_.scheduler.default_queue : std::string(queue));
  if (pod["spec"].has("priorityClassName")) spec.set("priorityClassName", pod["spec"]["priorityClassName"]);
  if (api::Json topology = topology_for(pod); !topology.is_null()) spec.set("networkTopology", std::move(topology));
  api::Json metadata = api::Json::object({{"namespace", ns}, {"name", name}, {"uid", ns + "_" + name}});
  for (const std::string_view key : {"volcano.sh/preemptable", "volcano.sh/cooldown-time", "volcano.sh/revocable-zone",
                                     "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"}) {
    if (const std::string_view value = api::annotation_of(pod, key); !value.empty()) {
      metadata.edit("annotations").set(key, value);
    }
  }
  metadata.set("creationTimestamp", pod["metadata"]["creationTimestamp"]);
  intake_.set(api::resources::kPodGroups,
              api::Json::object(
                  {{"metadata", metadata}, {"spec", spec}, {"status", api::Json::object({{"phase", "Pending"}})}}));
}

}  // namespace scheduler
