// Volumes that pods and PersistentVolumes both have, and what a claim asks of one.
#include "api/pods/volume_sources.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "api/pods/parts.h"
#include "api/schema/names.h"
#include "api/schema/quantity.h"
#include "api/schema/selector_rules.h"
#include "base/format.h"
#include "base/split.h"

namespace api {

namespace {

using Words = std::vector<std::string_view>;

// The fields that each source cannot be without.
const std::map<std::string_view, Words>& needed_fields() {
  static const std::map<std::string_view, Words> table = {
      {"awsElasticBlockStore", {"volumeID"}},
      {"azureDisk", {"diskName", "diskURI"}},
      {"azureFile", {"secretName", "shareName"}},
      {"cephfs", {"monitors"}},
      {"cinder", {"volumeID"}},
      {"flexVolume", {"driver"}},
      {"gcePersistentDisk", {"pdName"}},
      {"gitRepo", {"repository"}},
      {"glusterfs", {"endpoints", "path"}},
      {"hostPath", {"path"}},
      {"iscsi", {"targetPortal", "iqn"}},
      {"local", {"path"}},
      {"nfs", {"server", "path"}},
      {"photonPersistentDisk", {"pdID"}},
      {"portworxVolume", {"volumeID"}},
      {"quobyte", {"registry", "volume"}},
      {"rbd", {"monitors", "image"}},
      {"scaleIO", {"gateway", "system", "volumeName"}},
      {"storageos", {"volumeName"}},
      {"vsphereVolume", {"volumePath"}},
  };
  return table;
}

bool is_missing(const Json& value) {
  return value.is_null() || (value.is_string() ? value.str().empty() : value.empty());
}

void check_range(const Json& source, std::string_view field, const std::string& path, FieldErrors& errors) {
  if (const Json& number = source[field]; number.is_number() && (number.as_int() < 0 || number.as_int() > 255))
    errors.invalid(in(path, field), number, "must be between 0 and 255, inclusive");
}

void check_host_path(const Json& source, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 8> kTypes = {
      "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"};
  check_no_way_up(in(path, "path"), source["path"].as_string(), errors);
  errors.one_of(in(path, "type"), source["type"].as_string(), kTypes);
}

void check_fibre_channel(const Json& source, const std::string& path, FieldErrors& errors) {
  const bool names = !source["targetWWNs"].empty(), ids = !source["wwids"].empty();
  if (!names && !ids) errors.required(in(path, "targetWWNs"), "must specify either targetWWNs or wwids, but not both");
  if (names && ids)
    errors.invalid(in(path, "targetWWNs"), source["targetWWNs"],
                   "targetWWNs and wwids can not be specified simultaneously");
  if (names && source["lun"].is_null()) errors.required(in(path, "lun"), "lun is required if targetWWNs is specified");
  if (names) check_range(source, "lun", path, errors);
}

void check_iscsi(const Json& source, const std::string& path, FieldErrors& errors) {
  const auto check_name = [&](std::string_view field) {
    const std::string name = source[field].str();
    if (name.empty()) return;
    const bool known = name.starts_with("iqn.") || (name.starts_with("eui.") && name.size() == 20) ||
                       (name.starts_with("naa.") && name.size() == 36);
    if (!known) errors.invalid(in(path, field), name, "must be valid format");
  };
  check_name("iqn");
  check_name("initiatorName");
  check_range(source, "lun", path, errors);
  const bool secret = source["chapAuthDiscovery"].as_bool() || source["chapAuthSession"].as_bool();
  if (secret && source["secretRef"].is_null()) errors.required(in(path, "secretRef"));
  if (source["secretRef"].is_object() && source["secretRef"]["name"].as_string().empty())
    errors.required(in(in(path, "secretRef"), "name"));
}

void check_azure_disk(const Json& source, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kCaching = {"None", "ReadOnly", "ReadWrite"};
  constexpr std::array<std::string_view, 3> kKinds = {"Dedicated", "Managed", "Shared"};
  check_choice(source, path, "cachingMode", kCaching, errors);
  check_choice(source, path, "kind", kKinds, errors);
  const std::string disk = source["diskURI"].str();
  if (disk.empty() || !source["kind"].is_string()) return;
  if (source["kind"].as_string() == "Managed" && !disk.starts_with("/subscriptions/"))
    errors.unsupported(in(path, "diskURI"), disk,
                       R"("/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/)"
                       R"({disk-id}")");
  if (source["kind"].as_string() != "Managed" && !disk.starts_with("https://"))
    errors.unsupported(in(path, "diskURI"), disk,
                       R"("https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")");
}

// "host:port,host:port".
void check_quobyte(const Json& source, const std::string& path, FieldErrors& errors) {
  if (source["registry"].as_string().empty()) return;  // is needed
  for (const std::string_view pair : base::split(source["registry"].as_string(), ','))
    if (std::ranges::count(pair, ':') != 1 && !(pair.starts_with('[') && pair.find("]:") != std::string_view::npos))
      errors.invalid(in(path, "registry"), source["registry"],
                     "must be a host:port pair or multiple pairs separated by commas");
}

void check_flocker(const Json& source, const std::string& path, FieldErrors& errors) {
  const bool name = !source["datasetName"].as_string().empty(), id = !source["datasetUUID"].as_string().empty();
  if (!name && !id) errors.required(path, "one of datasetName and datasetUUID is required");
  if (name && id) errors.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously");
  if (source["datasetName"].as_string().find('/') != std::string_view::npos)
    errors.invalid(in(path, "datasetName"), source["datasetName"], "must not contain '/'");
}

void check_git(const Json& source, const std::string& path, FieldErrors& errors) {
  const std::string directory = source["directory"].str();
  if (directory.starts_with("/")) errors.invalid(in(path, "directory"), directory, "must be a relative path");
  check_no_way_up(in(path, "directory"), directory, errors);
}

void check_data_source(const Json& source, const std::string& path, FieldErrors& errors) {
  if (!source.is_object()) return;
  for (const char* field : {"name", "kind"})
    if (source[field].as_string().empty()) errors.required(in(path, field));
  const std::string group = source["apiGroup"].str();
  if (group.empty() && source["kind"].as_string() != "PersistentVolumeClaim")
    errors.invalid(path, source["kind"], "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  else if (!group.empty())
    errors.invalid(in(path, "apiGroup"), group, check_dns_subdomain(group));
}

}  // namespace

void check_csi_driver(const Json& name, const std::string& path, FieldErrors& errors) {
  std::string lower = name.str();
  if (lower.empty()) return errors.required(path);
  if (lower.size() > 63) errors.too_long(path, 63);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (const auto problems = check_dns_subdomain(lower); !problems.empty()) errors.invalid(path, name, problems);
}

void check_volume_source(std::string_view kind, const Json& source, const std::string& path, FieldErrors& errors) {
  if (const auto needed = needed_fields().find(kind); needed != needed_fields().end())
    for (const std::string_view field : needed->second)
      if (is_missing(source[field])) errors.required(in(path, field));
  if (kind == "hostPath") check_host_path(source, path, errors);
  if (kind == "local") check_no_way_up(in(path, "path"), source["path"].as_string(), errors);
  if (kind == "nfs")
    if (const std::string file = source["path"].str(); !file.empty() && file.front() != '/')
      errors.invalid(in(path, "path"), file, "must be an absolute path");
  if (kind == "awsElasticBlockStore" || kind == "gcePersistentDisk") check_range(source, "partition", path, errors);
  if (kind == "fc") check_fibre_channel(source, path, errors);
  if (kind == "iscsi") check_iscsi(source, path, errors);
  if (kind == "azureDisk") check_azure_disk(source, path, errors);
  if (kind == "quobyte") check_quobyte(source, path, errors);
  if (kind == "flocker") check_flocker(source, path, errors);
  if (kind == "gitRepo") check_git(source, path, errors);
  if (kind == "csi") check_csi_driver(source["driver"], in(path, "driver"), errors);
}

void check_access_modes(const Json& spec, const std::string& path, std::string_view why, FieldErrors& errors) {
  constexpr std::array<std::string_view, 4> kModes = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                                      "ReadWriteOncePod"};
  const std::string where = in(path, "accessModes");
  if (spec["accessModes"].empty()) errors.required(where, why);
  bool alone = false, shared = false;
  for (const Json& mode : spec["accessModes"].items()) {
    errors.one_of(where, mode.as_string(), kModes);
    (mode.as_string() == "ReadWriteOncePod" ? alone : shared) = true;
  }
  if (alone && shared) errors.forbidden(where, "may not use ReadWriteOncePod with other access modes");
}

void check_claim_spec(const Json& spec, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kVolumeModes = {"Block", "Filesystem"};
  check_label_selector(spec["selector"], in(path, "selector"), errors);
  check_access_modes(spec, path, "at least 1 access mode is required", errors);
  const Json& size = spec["resources"]["requests"]["storage"];
  const std::string storage = under(in(path, "resources"), "storage");
  if (size.is_null())
    errors.required(storage);
  else if (const auto amount = Quantity::from_json(size); amount && amount->sign() <= 0)
    errors.invalid(storage, size, "must be greater than zero");
  for (const char* field : {"storageClassName", "volumeAttributesClassName"})
    if (const std::string name = spec[field].str(); !name.empty())
      errors.invalid(in(path, field), name, check_dns_subdomain(name));
  check_choice(spec, path, "volumeMode", kVolumeModes, errors);
  // A stock server leaves out an old field that is neither a claim nor a snapshot.
  const Json& old_source = spec["dataSource"];
  if ((old_source["kind"].as_string() == "PersistentVolumeClaim" && old_source["apiGroup"].as_string().empty()) ||
      old_source["kind"].as_string() == "VolumeSnapshot")
    if (old_source["name"].as_string().empty()) errors.required(in(in(path, "dataSource"), "name"));
  check_data_source(spec["dataSourceRef"], in(path, "dataSourceRef"), errors);
}

}  // namespace api
