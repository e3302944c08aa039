// The parts of a dump: volumes and what belongs to them; services and the controllers of pods.
#include "scheduler/dump/dump_parts.h"

namespace scheduler {
namespace {

using api::Json;

Json texts_json(const std::vector<std::string>& texts) {
  std::vector<Json> out;
  for (const std::string& text : texts) out.emplace_back(text);
  return Json::array(std::move(out));
}

void set_unless_empty(Json& object, std::string_view key, const std::string& value) {
  if (!value.empty()) object.set(key, value);
}

// Promises to placed pods, until the API says them: volumes by name, and nodes by claim.
struct Promises {
  std::map<std::string, std::string> claim_of_volume;
  std::map<std::string, std::string> node_of_claim;

  explicit Promises(const Model& model) {
    for (std::uint32_t i = 0; i < model.task_capacity(); ++i) {
      const Task& task = model.task(TaskId{i});
      if (!task.in_use || !task.node.is_set()) continue;
      const auto* choices = model.volumes.promises_of(task.id);
      if (choices == nullptr) continue;
      for (const VolumeChoice& one : *choices) {
        if (one.volume.empty())
          node_of_claim[one.claim] = model.nodes[task.node].name;
        else
          claim_of_volume[one.volume] = one.claim;
      }
    }
  }
};

Json claim_json(const Claim& claim, const Promises& promises, const Symbols& symbols) {
  const auto [ns, name] = split_key(claim.key);
  Json out = object_of({"v1", "PersistentVolumeClaim", ns, name, claim.uid});
  std::string node = claim.selected_node;
  if (auto found = promises.node_of_claim.find(claim.key); node.empty() && found != promises.node_of_claim.end())
    node = found->second;
  if (!node.empty()) out.edit_path({"metadata", "annotations", "volume.kubernetes.io/selected-node"}) = node;
  if (claim.deleting) out.edit("metadata").set("deletionTimestamp", "1970-01-01T00:00:00Z");
  set_owner(out, claim.owner);
  Json spec = Json::object({{"storageClassName", claim.storage_class},
                            {"volumeMode", claim.volume_mode},
                            {"accessModes", texts_json(claim.access_modes)},
                            {"resources", Json::object({{"requests", Json::object({{"storage", claim.bytes}})}})}});
  set_unless_empty(spec, "volumeAttributesClassName", claim.attributes_class);
  set_unless_empty(spec, "volumeName", claim.names_volume ? "(named)" : claim.volume);
  if (claim.selector.present) spec.set("selector", selector_json(claim.selector, symbols));
  out.set("spec", std::move(spec));
  out.set("status", Json::object({{"phase", claim.lost ? "Lost" : claim.volume.empty() ? "Pending" : "Bound"}}));
  return out;
}

Json volume_json(const Volume& volume, const Promises& promises, const Symbols& symbols) {
  Json out = object_of({"v1", "PersistentVolume", "", volume.name, ""});
  if (!volume.labels.empty()) out.edit("metadata").set("labels", labels_json(volume.labels, symbols));
  if (volume.deleting) out.edit("metadata").set("deletionTimestamp", "1970-01-01T00:00:00Z");
  Json spec = Json::object({{"storageClassName", volume.storage_class},
                            {"volumeMode", volume.volume_mode},
                            {"accessModes", texts_json(volume.access_modes)},
                            {"capacity", Json::object({{"storage", volume.bytes}})}});
  set_unless_empty(spec, "volumeAttributesClassName", volume.attributes_class);
  if (!volume.driver.empty())
    spec.set("csi", Json::object({{"driver", volume.driver}, {"volumeHandle", volume.handle}}));
  std::string claim = volume.claim;
  if (auto found = promises.claim_of_volume.find(volume.name); claim.empty() && found != promises.claim_of_volume.end())
    claim = found->second;
  if (!claim.empty()) {
    const auto [ns, name] = split_key(claim);
    Json of = Json::object({{"namespace", ns}, {"name", name}});
    set_unless_empty(of, "uid", volume.claim_uid);
    spec.set("claimRef", std::move(of));
  }
  if (volume.has_node_terms) {
    Json terms = Json::object({{"nodeSelectorTerms", terms_json(volume.node_terms, symbols)}});
    spec.set("nodeAffinity", Json::object({{"required", std::move(terms)}}));
  }
  out.set("spec", std::move(spec));
  out.set("status", Json::object({{"phase", volume.available ? "Available" : "Bound"}}));
  return out;
}

Json class_json(const StorageClass& one, const Symbols& symbols) {
  Json out = object_of({"storage.k8s.io/v1", "StorageClass", "", one.name, ""});
  out.set("provisioner", one.provisioner);
  out.set("volumeBindingMode", one.waits_for_consumer ? "WaitForFirstConsumer" : "Immediate");
  std::vector<Json> topologies;
  for (const NodeTerm& term : one.allowed_topologies) {
    std::vector<Json> expressions;
    for (const Requirement& requirement : term.expressions) {
      std::vector<Json> values;
      for (const Symbol value : requirement.values) values.emplace_back(symbols.text(value));
      expressions.push_back(
          Json::object({{"key", symbols.text(requirement.key)}, {"values", Json::array(std::move(values))}}));
    }
    topologies.push_back(Json::object({{"matchLabelExpressions", Json::array(std::move(expressions))}}));
  }
  if (!topologies.empty()) out.set("allowedTopologies", Json::array(std::move(topologies)));
  return out;
}

void dump_csi(const Model& model, Objects& out) {
  const Volumes& volumes = model.volumes;
  for (const auto& [name, limits] : volumes.attach_limits) {
    std::vector<Json> drivers;
    for (const auto& [driver, count] : limits)
      drivers.push_back(Json::object({{"name", driver}, {"allocatable", Json::object({{"count", count}})}}));
    out.push_back(object_of({"storage.k8s.io/v1", "CSINode", "", name, ""}));
    out.back().set("spec", Json::object({{"drivers", Json::array(std::move(drivers))}}));
  }
  for (const auto& [name, publishes] : volumes.drivers) {
    out.push_back(object_of({"storage.k8s.io/v1", "CSIDriver", "", name, ""}));
    out.back().set("spec", Json::object({{"storageCapacity", publishes}}));
  }
  for (const auto& [key, capacity] : volumes.capacities) {
    const auto [ns, name] = split_key(key);
    Json one = object_of({"storage.k8s.io/v1", "CSIStorageCapacity", ns, name, ""});
    one.set("storageClassName", capacity.storage_class);
    if (capacity.nodes.present) one.set("nodeTopology", selector_json(capacity.nodes, model.symbols));
    if (capacity.bytes) one.set("capacity", *capacity.bytes);
    if (capacity.largest_bytes) one.set("maximumVolumeSize", *capacity.largest_bytes);
    out.push_back(std::move(one));
  }
  for (const auto& [name, attached] : volumes.attachments) {
    const auto& [node, volume] = attached;
    out.push_back(object_of({"storage.k8s.io/v1", "VolumeAttachment", "", name, ""}));
    out.back().set("spec",
                   Json::object({{"nodeName", node}, {"source", Json::object({{"persistentVolumeName", volume}})}}));
  }
}

}  // namespace

void dump_storage(const Model& model, Objects& out) {
  const Volumes& volumes = model.volumes;
  const Promises promises(model);
  for (const auto& [name, one] : volumes.classes) out.push_back(class_json(one, model.symbols));
  for (const auto& [name, one] : volumes.volumes) out.push_back(volume_json(one, promises, model.symbols));
  for (const auto& [key, one] : volumes.claims) out.push_back(claim_json(one, promises, model.symbols));
  dump_csi(model, out);
}

void dump_workloads(const Model& model, Objects& out) {
  // Selectors over labels alone can be written as expressions wherever they are read, but for services and replication
  // controllers, which say "key: value" and nothing else.
  const auto plain = [&](const LabelSelector& selector) {
    Json map = Json::object();
    for (const Requirement& one : selector.requirements)
      map.set(model.symbols.text(one.key), model.symbols.text(one.values.front()));
    return map;
  };
  model.workloads.for_each([&](const std::string& kind, const std::string& key, const LabelSelector& selector) {
    const auto [ns, name] = split_key(key);
    const bool by_labels = kind == "Service" || kind == "ReplicationController";
    Json one = object_of({by_labels ? "v1" : "apps/v1", kind, ns, name, ""});
    if (selector.present)
      one.set("spec",
              Json::object({{"selector", by_labels ? plain(selector) : selector_json(selector, model.symbols)}}));
    out.push_back(std::move(one));
  });
}

}  // namespace scheduler
