// Volumes of a pod template: a name, and exactly one source.
#include <array>

#include "api/pods/names.h"
#include "api/pods/parts.h"
#include "api/schema/quantity.h"
#include "base/format.h"

namespace api {

namespace {

void check_mode(const Json& mode, const std::string& path, FieldErrors& errors) {
  if (mode.is_number() && (mode.as_int() < 0 || mode.as_int() > 0777))
    errors.invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive");
}

void check_items(const Json& items, const std::string& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string where = at(path, i);
    if (items[i]["key"].as_string().empty()) errors.required(in(where, "key"));
    const std::string file = items[i]["path"].str();
    if (file.empty()) errors.required(in(where, "path"));
    if (file.starts_with("/")) errors.invalid(in(where, "path"), file, "must be a relative path");
    if (file.starts_with("..")) errors.invalid(in(where, "path"), file, "must not start with '..'");
    check_mode(items[i]["mode"], in(where, "mode"), errors);
  }
}

void check_source(std::string_view kind, const Json& source, const std::string& path, FieldErrors& errors) {
  const auto need = [&](std::string_view field) {
    if (source[field].as_string().empty()) errors.required(in(path, field));
  };
  if (kind == "hostPath") {
    constexpr std::array<std::string_view, 8> kTypes = {
        "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"};
    need("path");
    check_no_way_up(in(path, "path"), source["path"].as_string(), errors);
    errors.one_of(in(path, "type"), source["type"].as_string(), kTypes);
  } else if (kind == "secret") {
    need("secretName");
    check_mode(source["defaultMode"], in(path, "defaultMode"), errors);
    check_items(source["items"], in(path, "items"), errors);
  } else if (kind == "configMap") {
    need("name");
    check_mode(source["defaultMode"], in(path, "defaultMode"), errors);
    check_items(source["items"], in(path, "items"), errors);
  } else if (kind == "downwardAPI") {
    check_mode(source["defaultMode"], in(path, "defaultMode"), errors);
  } else if (kind == "persistentVolumeClaim") {
    need("claimName");
  } else if (kind == "emptyDir") {
    if (const auto size = Quantity::from_json(source["sizeLimit"]); size && size->sign() < 0)
      errors.forbidden(in(path, "sizeLimit"), "SizeLimit field must be a valid resource quantity");
  } else if (kind == "nfs") {
    need("server");
    need("path");
    if (const std::string file = source["path"].str(); !file.empty() && file.front() != '/')
      errors.invalid(in(path, "path"), file, "must be an absolute path");
  } else if (kind == "csi") {
    need("driver");
  } else if (kind == "iscsi") {
    need("targetPortal");
    need("iqn");
  } else if (kind == "glusterfs") {
    need("endpoints");
    need("path");
  } else if (kind == "awsElasticBlockStore") {
    need("volumeID");
  } else if (kind == "gcePersistentDisk") {
    need("pdName");
  } else if (kind == "projected") {
    check_mode(source["defaultMode"], in(path, "defaultMode"), errors);
  }
}

}  // namespace

std::set<std::string> check_pod_volumes(const Json& spec, const std::string& path, FieldErrors& errors) {
  std::set<std::string> names;
  const Json& volumes = spec["volumes"];
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string where = at(in(path, "volumes"), i);
    int sources = 0;  // none: an emptyDir, as Kubernetes fills in
    for (const Json::Member& member : volumes[i].members()) {
      if (member.name() == "name" || !member.value.is_object()) continue;
      if (++sources > 1)
        errors.forbidden(in(where, member.name()), "may not specify more than 1 volume type");
      else
        check_source(member.name(), member.value, in(where, member.name()), errors);
    }
    const std::string name = volumes[i]["name"].str();
    if (name.empty())
      errors.required(in(where, "name"));
    else if (const auto problems = check_dns_label(name); !problems.empty())
      errors.invalid(in(where, "name"), name, problems);
    else if (!names.insert(name).second)
      errors.duplicate(in(where, "name"), name);
  }
  return names;
}

}  // namespace api
