// Volumes have one source, and local ones say where they are.
#include "apiserver/kinds/storage/storage_rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "api/meta/resource.h"
#include "api/pods/volume_sources.h"
#include "api/schema/names.h"
#include "api/schema/quantity.h"
#include "api/schema/selector_rules.h"
#include "api/schema/unwritten.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"
#include "base/split.h"

namespace apiserver {

using api::at;
using api::FieldErrors;
using api::in;
using api::Json;

namespace {

constexpr std::array<std::string_view, 9> kPlain = {"accessModes",      "capacity",
                                                    "claimRef",         "mountOptions",
                                                    "nodeAffinity",     "persistentVolumeReclaimPolicy",
                                                    "storageClassName", "volumeAttributesClassName",
                                                    "volumeMode"};

void check_csi(const Json& source, FieldErrors& errors) {
  if (source["volumeHandle"].as_string().empty()) errors.required("spec.csi.volumeHandle");
  for (const char* field :
       {"controllerPublishSecretRef", "nodePublishSecretRef", "controllerExpandSecretRef", "nodeExpandSecretRef"}) {
    if (!source[field].is_object()) continue;
    for (const char* part : {"name", "namespace"})
      if (source[field][part].as_string().empty()) errors.required(in(in("spec.csi", field), part));
  }
}

void check_source(const Json& spec, FieldErrors& errors) {
  int sources = 0;
  for (const Json::Member& member : spec.members()) {
    if (std::ranges::find(kPlain, member.name()) != kPlain.end() || !member.value.is_object()) continue;
    const std::string path = in("spec", member.name());
    if (++sources > 1) {
      errors.forbidden(path, "may not specify more than 1 volume type");
      continue;
    }
    api::check_volume_source(member.name(), member.value, path, errors);
    if (member.name() == "csi") check_csi(member.value, errors);
  }
  if (sources == 0) errors.required("spec", "must specify a volume type");
}

}  // namespace

void check_claim(const Json& object, FieldErrors& errors) { api::check_claim_spec(object["spec"], "spec", errors); }

void check_volume(const Json& object, FieldErrors& errors) {
  const Json& spec = object["spec"];
  api::check_access_modes(spec, "spec", "", errors);
  const Json& size = spec["capacity"]["storage"];
  if (spec["capacity"].empty())
    errors.required("spec.capacity");
  else if (size.is_null() || spec["capacity"].size() > 1)
    errors.invalid("spec.capacity", spec["capacity"], "supported values: \"storage\"");
  else if (const auto amount = api::Quantity::from_json(size); amount && amount->sign() <= 0)
    errors.invalid("spec.capacity[storage]", size, "must be greater than zero");
  if (const Json& place = spec["nodeAffinity"]; place.is_object()) {
    if (place["required"].is_object())
      api::check_node_selector(place["required"], "spec.nodeAffinity.required", errors);
    else
      errors.required("spec.nodeAffinity.required", "must specify required node constraints");
  } else if (spec["local"].is_object()) {
    errors.required("spec.nodeAffinity", "Local volume requires node affinity");
  }
  check_source(spec, errors);
  constexpr std::array<std::string_view, 3> kReclaim = {"Delete", "Recycle", "Retain"};
  constexpr std::array<std::string_view, 2> kModes = {"Block", "Filesystem"};
  if (const std::string policy = spec["persistentVolumeReclaimPolicy"].str(); !policy.empty())
    errors.one_of("spec.persistentVolumeReclaimPolicy", policy, kReclaim);
  if (spec["hostPath"]["path"].as_string() == "/" && spec["persistentVolumeReclaimPolicy"].as_string() == "Recycle")
    errors.forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'");
  for (const char* field : {"storageClassName", "volumeAttributesClassName"})
    if (const std::string name = spec[field].str(); !name.empty())
      errors.invalid(in("spec", field), name, api::check_dns_subdomain(name));
  if (const Json& mode = spec["volumeMode"]; mode.is_string())
    errors.one_of("spec.volumeMode", mode.as_string(), kModes);
}

void check_volume_change(const Json& old_object, const Json& object, FieldErrors& errors) {
  Json before = old_object["spec"], after = object["spec"];
  for (Json* spec : {&before, &after})
    for (const std::string_view field : kPlain) spec->erase(field);
  if (!api::same_as_written(api::core_schema("core.v1.PersistentVolumeSpec"), before, after))
    errors.forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation");
}

void check_storage_class(const Json& object, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kModes = {"Immediate", "WaitForFirstConsumer"};
  constexpr std::array<std::string_view, 2> kReclaim = {"Delete", "Retain"};
  constexpr std::size_t kParametersMax = 512;
  if (const std::string name = object["provisioner"].str(); name.empty()) {
    errors.required("provisioner");
  } else {
    std::string lower = name;
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    errors.invalid("provisioner", name, api::check_qualified_name(lower));
  }
  if (object["parameters"].size() > kParametersMax)
    errors.invalid("parameters", "Provisioner Parameters exceeded max allowed", "must have at most 512 entries");
  for (const Json::Member& parameter : object["parameters"].members())
    if (parameter.name().empty()) errors.invalid("parameters", "", "field can not be empty.");
  if (const std::string policy = object["reclaimPolicy"].str(); !policy.empty())
    errors.one_of("reclaimPolicy", policy, kReclaim);
  if (const Json& mode = object["volumeBindingMode"]; mode.is_string())
    errors.one_of("volumeBindingMode", mode.as_string(), kModes);
  const Json& topologies = object["allowedTopologies"];
  std::set<std::string> seen;
  for (std::size_t i = 0; i < topologies.size(); ++i) {
    const std::string where = at("allowedTopologies", i);
    if (!seen.insert(topologies[i].dump()).second) errors.duplicate(in(where, "matchLabelExpressions"), "");
    const Json& rows = topologies[i]["matchLabelExpressions"];
    if (rows.empty()) errors.required(in(where, "matchLabelExpressions"));
    std::set<std::string> keys;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::string row = at(in(where, "matchLabelExpressions"), k);
      const std::string key = rows[k]["key"].str();
      errors.invalid(in(row, "key"), key, api::check_qualified_name(key));
      if (!keys.insert(key).second) errors.duplicate(in(row, "key"), key);
      if (rows[k]["values"].empty()) errors.required(in(row, "values"));
      std::set<std::string> values;
      for (std::size_t v = 0; v < rows[k]["values"].size(); ++v)
        if (!values.insert(rows[k]["values"][v].str()).second)
          errors.duplicate(at(in(row, "values"), v), rows[k]["values"][v]);
    }
  }
}

namespace {

void default_claim(Json& object) { set_if_absent(object.edit("spec"), "volumeMode", "Filesystem"); }

void default_volume_object(Json& object) {
  set_if_absent(object.edit("spec"), "volumeMode", "Filesystem");
  set_if_absent(object.edit("spec"), "persistentVolumeReclaimPolicy", "Retain");
  if (object["spec"]["hostPath"].is_object()) set_if_absent(object.edit_path({"spec", "hostPath"}), "type", "");
}

void default_storage_class(Json& object) {
  set_if_absent(object, "reclaimPolicy", "Delete");
  set_if_absent(object, "volumeBindingMode", "Immediate");
}

base::Status prepare_pending(const Context&, Json& object, api::FieldErrors&) {
  object.set("status", Json::object({{"phase", "Pending"}}));
  return {};
}

void check_claim_update(const Json& old_object, const Json& object, api::FieldErrors& errors) {
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
    errors.forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden");
  if (!api::same_as_written(api::core_schema("core.v1.PersistentVolumeClaimSpec"), before, after))
    errors.forbidden(
        "spec",
        "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims");
}

void check_volume_update(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  if (old_object["spec"].is_object() && object["spec"].is_object()) check_volume_change(old_object, object, errors);
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

void check_csi_driver(const Json&, const Json& object, FieldErrors& errors) {
  constexpr std::int64_t kLeast = 600, kMost = std::int64_t{1} << 32;
  const Json& requests = object["spec"]["tokenRequests"];
  std::set<std::string, std::less<>> audiences;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string path = at("spec.tokenRequests", i);
    if (!audiences.emplace(requests[i]["audience"].as_string()).second) {
      errors.duplicate(in(path, "audience"), requests[i]["audience"].str());
      continue;
    }
    const Json& seconds = requests[i]["expirationSeconds"];
    if (seconds.is_null()) continue;
    if (seconds.as_int() < kLeast)
      errors.invalid(in(path, "expirationSeconds"), seconds, "may not specify a duration less than 10 minutes");
    if (seconds.as_int() > kMost)
      errors.invalid(in(path, "expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds");
  }
}

void check_topology_keys(const Json& keys, const std::string& path, FieldErrors& errors) {
  std::set<std::string, std::less<>> seen;
  for (const Json& key : keys.items()) {
    if (key.as_string().empty()) errors.required(path);
    if (!seen.emplace(key.as_string()).second) errors.duplicate(path, key);
    errors.invalid(path, key, api::check_qualified_name(key.as_string()));
  }
}

void check_csi_node(const Json&, const Json& object, FieldErrors& errors) {
  constexpr std::size_t kIdBytesMax = 192;
  const Json& drivers = object["spec"]["drivers"];
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < drivers.size(); ++i) {
    const std::string path = at("spec.drivers", i);
    const std::string name = drivers[i]["name"].str(), id = drivers[i]["nodeID"].str();
    api::check_csi_driver(drivers[i]["name"], in(path, "name"), errors);
    if (!names.insert(name).second) errors.duplicate(in(path, "name"), name);
    if (id.empty()) errors.required(in(path, "nodeID"));
    if (id.size() > kIdBytesMax)
      errors.invalid(in(path, "nodeID"), id, base::format("must be {} characters or less", kIdBytesMax));
    if (const Json& count = drivers[i]["allocatable"]["count"]; !count.is_null())
      errors.not_negative(in(in(path, "allocatable"), "count"), count);
    check_topology_keys(drivers[i]["topologyKeys"], path, errors);
  }
}

constexpr FixedField kFixedOfVolume[] = {{"spec.volumeMode", "field is immutable"}};

constexpr FixedField kFixedOfStorageClass[] = {{"parameters", "updates to parameters are forbidden.", true},
                                               {"provisioner", "updates to provisioner are forbidden.", true},
                                               {"reclaimPolicy", "updates to reclaimPolicy are forbidden.", true},
                                               {"volumeBindingMode", "field is immutable"}};

std::string short_modes(const Json& modes) {
  constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> known;
  for (const Json& mode : modes.items())
    for (const auto& [name, text] : kModes)
      if (mode.as_string() == name) known.emplace_back(text);
  return base::join(known, ",");
}

std::vector<Json> claim_cells(const Json& claim, base::Time now) {
  const bool bound = !claim["spec"]["volumeName"].as_string().empty();
  const std::string phase = api::is_deleting(claim) ? "Terminating" : claim["status"]["phase"].str();
  return {Json(phase),
          Json(claim["spec"]["volumeName"].as_string()),
          Json(bound ? claim["status"]["capacity"]["storage"].as_string() : ""),
          Json(bound ? short_modes(claim["status"]["accessModes"]) : ""),
          Json(claim["spec"]["storageClassName"].as_string()),
          Json("<unset>"),
          age_of(claim, now),
          text_or(claim["spec"]["volumeMode"], "<unset>")};
}
constexpr api::Column kColumnsOfClaim[] = {{"Status", ""},       {"Volume", ""},
                                           {"Capacity", ""},     {"Access Modes", ""},
                                           {"StorageClass", ""}, {"VolumeAttributesClass", ""},
                                           {"Age", ""},          {"VolumeMode", "", "string", 1}};

std::vector<Json> volume_cells(const Json& volume, base::Time now) {
  const Json& claim = volume["spec"]["claimRef"];
  return {volume["spec"]["capacity"]["storage"],
          Json(short_modes(volume["spec"]["accessModes"])),
          volume["spec"]["persistentVolumeReclaimPolicy"],
          volume["status"]["phase"],
          Json(claim.is_object() ? claim["namespace"].str() + "/" + claim["name"].str() : ""),
          Json(volume["spec"]["storageClassName"].as_string()),
          Json("<unset>"),
          Json(volume["status"]["reason"].as_string()),
          age_of(volume, now),
          text_or(volume["spec"]["volumeMode"], "<unset>")};
}
constexpr api::Column kColumnsOfVolume[] = {
    {"Capacity", ""}, {"Access Modes", ""},           {"Reclaim Policy", ""},        {"Status", ""},
    {"Claim", ""},    {"StorageClass", ""},           {"VolumeAttributesClass", ""}, {"Reason", ""},
    {"Age", ""},      {"VolumeMode", "", "string", 1}};

std::vector<Json> storage_class_cells(const Json& one, base::Time now) {
  return {one["provisioner"], one["reclaimPolicy"], one["volumeBindingMode"],
          Json(one["allowVolumeExpansion"].as_bool()), age_of(one, now)};
}
constexpr api::Column kColumnsOfStorageClass[] = {
    {"Provisioner", ""}, {"ReclaimPolicy", ""}, {"VolumeBindingMode", ""}, {"AllowVolumeExpansion", ""}, {"Age", ""}};

}  // namespace

const KindRules kPersistentVolumeClaim = {
    .kind = "PersistentVolumeClaim",
    .defaults = default_claim,
    .prepare = prepare_pending,
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_claim(object, errors); },
    .check_update = check_claim_update,
    .table = {kColumnsOfClaim, claim_cells}};

const KindRules kPersistentVolume = {
    .kind = "PersistentVolume",
    .defaults = default_volume_object,
    .prepare = prepare_pending,
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_volume(object, errors); },
    .check_update = check_volume_update,
    .fixed = kFixedOfVolume,
    .table = {kColumnsOfVolume, volume_cells}};

const KindRules kStorageClass = {
    .kind = "StorageClass",
    .defaults = default_storage_class,
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_storage_class(object, errors); },
    .fixed = kFixedOfStorageClass,
    .table = {kColumnsOfStorageClass, storage_class_cells}};

const KindRules kCsiDriver = {.kind = "CSIDriver", .defaults = default_csi_driver, .check = check_csi_driver};

const KindRules kCsiNode = {.kind = "CSINode", .check = check_csi_node};

}  // namespace apiserver
