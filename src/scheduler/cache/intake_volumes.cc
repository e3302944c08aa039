// API objects in, the model kept current: claims, volumes and storage classes.
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "scheduler/cache/intake_objects.h"

namespace scheduler {
namespace {

std::vector<std::string> texts_from(const api::Json& list) {
  std::vector<std::string> out;
  for (const api::Json& item : list.items()) out.push_back(item.str());
  return out;
}

std::int64_t bytes_of(const api::Json& quantity) {
  const auto parsed = api::Quantity::from_json(quantity);
  return parsed ? parsed->value() : 0;
}

std::string mode_of(const api::Json& spec) {
  const std::string mode = spec["volumeMode"].str();
  return mode.empty() ? "Filesystem" : mode;
}

std::string class_of(const api::Json& object) {
  if (const std::string_view old = api::annotation_of(object, "volume.beta.kubernetes.io/storage-class"); !old.empty())
    return std::string(old);
  return object["spec"]["storageClassName"].str();
}

Claim claim_from(const api::Json& object, Symbols& symbols) {
  const api::Json& spec = object["spec"];
  Claim out;
  out.key = api::key_of(object);
  out.uid = std::string(api::uid_of(object));
  const std::string_view phase = object["status"]["phase"].as_string();
  out.lost = phase == "Lost";
  // ItemsByName by the claim, and confirmed by its annotation or phase.
  const bool bound =
      phase == "Bound" || out.lost || !api::annotation_of(object, "pv.kubernetes.io/bind-completed").empty();
  if (bound) out.volume = spec["volumeName"].str();
  out.names_volume = !bound && !spec["volumeName"].as_string().empty();
  out.storage_class = class_of(object);
  out.attributes_class = spec["volumeAttributesClassName"].str();
  out.volume_mode = mode_of(spec);
  out.selected_node = std::string(api::annotation_of(object, "volume.kubernetes.io/selected-node"));
  out.access_modes = texts_from(spec["accessModes"]);
  out.bytes = bytes_of(spec["resources"]["requests"]["storage"]);
  out.selector = label_selector_from(spec["selector"], symbols);
  out.deleting = api::is_deleting(object);
  out.owner = api::controller_of(object)["uid"].str();
  return out;
}

// Volumes of the kinds that were built into Kubernetes are attached by the drivers that took them over.
std::pair<std::string, std::string> driver_and_handle(const api::Json& spec) {
  struct Migrated {
    std::string_view source, handle, driver;
  };
  static constexpr Migrated kMigrated[] = {{"csi", "volumeHandle", ""},
                                           {"awsElasticBlockStore", "volumeID", "ebs.csi.aws.com"},
                                           {"azureDisk", "diskURI", "disk.csi.azure.com"},
                                           {"cinder", "volumeID", "cinder.csi.openstack.org"},
                                           {"gcePersistentDisk", "pdName", "pd.csi.storage.gke.io"},
                                           {"portworxVolume", "volumeID", "pxd.portworx.com"},
                                           {"vsphereVolume", "volumePath", "csi.vsphere.vmware.com"}};
  for (const Migrated& kind : kMigrated) {
    const api::Json* source = spec.find(kind.source);
    if (source == nullptr || !source->is_object()) continue;
    return {kind.driver.empty() ? (*source)["driver"].str() : std::string(kind.driver), (*source)[kind.handle].str()};
  }
  return {};
}

Volume volume_from(const api::Json& object, Symbols& symbols) {
  const api::Json& spec = object["spec"];
  Volume out;
  out.name = std::string(api::name_of(object));
  out.storage_class = class_of(object);
  out.attributes_class = spec["volumeAttributesClassName"].str();
  std::tie(out.driver, out.handle) = driver_and_handle(spec);
  out.volume_mode = mode_of(spec);
  out.access_modes = texts_from(spec["accessModes"]);
  out.bytes = bytes_of(spec["capacity"]["storage"]);
  out.labels = labels_from(object["metadata"]["labels"], symbols);
  const api::Json& claim = spec["claimRef"];
  if (claim.is_object()) {
    out.claim = claim["namespace"].str() + "/" + claim["name"].str();
    out.claim_uid = claim["uid"].str();
  }
  const std::string_view phase = object["status"]["phase"].as_string();
  out.available = phase.empty() || phase == "Available";
  out.deleting = api::is_deleting(object);
  const api::Json& required = spec["nodeAffinity"]["required"];
  out.has_node_terms = required.is_object();
  for (const api::Json& term : required["nodeSelectorTerms"].items())
    out.node_terms.push_back(node_term_from(term, symbols));
  return out;
}

StorageClass class_from(const api::Json& object, Symbols& symbols) {
  StorageClass out;
  out.name = std::string(api::name_of(object));
  out.provisioner = object["provisioner"].str();
  out.waits_for_consumer = object["volumeBindingMode"].as_string() == "WaitForFirstConsumer";
  for (const api::Json& topology : object["allowedTopologies"].items()) {
    NodeTerm term;
    for (const api::Json& item : topology["matchLabelExpressions"].items()) {
      Requirement one{.key = symbols.intern(item["key"].as_string()), .op = Requirement::Op::kIn};
      for (const api::Json& value : item["values"].items()) one.values.push_back(symbols.intern(value.as_string()));
      std::sort(one.values.begin(), one.values.end());
      term.expressions.push_back(std::move(one));
    }
    out.allowed_topologies.push_back(std::move(term));
  }
  return out;
}

std::optional<std::int64_t> amount_from(const api::Json& quantity) {
  const auto parsed = api::Quantity::from_json(quantity);
  return parsed ? std::optional(parsed->value()) : std::nullopt;
}

StorageCapacity capacity_from(const api::Json& object, Symbols& symbols) {
  return {object["storageClassName"].str(), label_selector_from(object["nodeTopology"], symbols),
          amount_from(object["capacity"]), amount_from(object["maximumVolumeSize"])};
}

std::map<std::string, std::int64_t> attach_limits_from(const api::Json& object) {
  std::map<std::string, std::int64_t> out;
  for (const api::Json& driver : object["spec"]["drivers"].items()) {
    const api::Json& count = driver["allocatable"]["count"];
    if (count.is_int()) out[driver["name"].str()] = count.as_int();
  }
  return out;
}

template <class Object>
Object gated(Object object, const FeatureGates& gates) {
  if (!gates.on("VolumeAttributesClass")) object.attributes_class.clear();
  return object;
}

template <class Map, class Value>
void put(Map& map, const std::string& key, bool exists, Value&& value) {
  if (exists)
    map.insert_or_assign(key, value());
  else
    map.erase(key);
}

}  // namespace

bool set_storage(Model& model, const api::ResourceId& id, const api::Json& object, bool exists) {
  Volumes& volumes = model.volumes;
  const std::string key = api::key_of(object);
  volumes.count_change();
  if (id == api::resources::kPersistentVolumeClaims) {
    put(volumes.claims, key, exists, [&] { return gated(claim_from(object, model.symbols), model.gates); });
  } else if (id == api::resources::kPersistentVolumes) {
    put(volumes.volumes, key, exists, [&] { return gated(volume_from(object, model.symbols), model.gates); });
  } else if (id == api::resources::kStorageClasses) {
    if (exists)
      volumes.classes.insert_or_assign(key, class_from(object, model.symbols));
    else
      volumes.classes.erase(key);
  } else if (id == api::resources::kCsiNodes) {
    put(volumes.attach_limits, key, exists, [&] { return attach_limits_from(object); });
  } else if (id == api::resources::kCsiDrivers) {
    put(volumes.drivers, key, exists, [&] { return object["spec"]["storageCapacity"].as_bool(); });
  } else if (id == api::resources::kCsiStorageCapacities) {
    put(volumes.capacities, key, exists, [&] { return capacity_from(object, model.symbols); });
  } else if (id == api::resources::kVolumeAttachments) {
    const api::Json& spec = object["spec"];
    put(volumes.attachments, key, exists, [&] {
      return std::pair{spec["nodeName"].str(), spec["source"]["persistentVolumeName"].str()};
    });
  } else {
    return false;
  }
  return true;
}

}  // namespace scheduler
