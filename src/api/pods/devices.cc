// What containers of a pod template take from outside by name: block devices and resource claims.
#include "api/pods/names.h"
#include "api/pods/parts.h"
#include "base/split.h"

namespace api {

namespace {

const Json* named(const Json& list, std::string_view name) {
  for (const Json& one : list.items())
    if (one["name"].as_string() == name) return &one;
  return nullptr;
}

bool is_mounted_at(const Json& mounts, std::string_view path) {
  for (const Json& mount : mounts.items())
    if (mount["mountPath"].as_string() == path) return true;
  return false;
}

}  // namespace

void check_devices(const Json& container, const Json& volumes, const std::string& path, FieldErrors& errors) {
  const Json& devices = container["volumeDevices"];
  std::set<std::string> names;
  std::set<std::string> places;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string where = at(path, i);
    const std::string name = devices[i]["name"].str();
    const std::string place = devices[i]["devicePath"].str();
    if (name.empty()) {
      errors.required(in(where, "name"));
    } else {
      if (!names.insert(name).second) errors.invalid(in(where, "name"), name, "must be unique");
      const Json* volume = named(volumes, name);
      if (!volume)
        errors.not_found(in(where, "name"), name);
      else if (!(*volume)["persistentVolumeClaim"].is_object() && !(*volume)["ephemeral"].is_object())
        errors.invalid(in(where, "name"), name,
                       "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    }
    if (place.empty())
      errors.required(in(where, "devicePath"));
    else if (!places.insert(place).second)
      errors.invalid(in(where, "devicePath"), place, "must be unique");
    else if (is_mounted_at(container["volumeMounts"], place))
      errors.invalid(in(where, "devicePath"), place, "must not already exist in volumeMounts");
  }
}

void check_claims(const Json& claims, const Json& claims_of_pod, const std::string& path, FieldErrors& errors) {
  std::set<std::string> known;
  for (const Json& claim : claims_of_pod.items()) known.insert(claim["name"].str());
  std::set<std::string> seen;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const std::string name = claims[i]["name"].str();
    const std::string request = claims[i]["request"].str();
    if (name.empty()) {
      errors.required(at(path, i));
      continue;
    }
    if (const std::string key = request.empty() ? name : name + "/" + request; !seen.insert(key).second)
      errors.duplicate(at(path, i), key);
    if (!known.count(name))
      errors.not_found(at(path, i), name,
                       known.empty() ? "must be one of the names in pod.spec.resourceClaims which is empty"
                                     : "must be one of the names in pod.spec.resourceClaims: " +
                                           base::join({known.begin(), known.end()}, ", "));
  }
}

void check_pod_claims(const Json& claims, const std::string& path, FieldErrors& errors) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const std::string where = at(path, i);
    const std::string name = claims[i]["name"].str();
    if (name.empty())
      errors.required(in(where, "name"));
    else if (const auto problems = check_dns_label(name); !problems.empty())
      errors.invalid(in(where, "name"), name, problems);
    else if (!names.insert(name).second)
      errors.duplicate(in(where, "name"), name);
    const Json& claim = claims[i]["resourceClaimName"];
    const Json& from = claims[i]["resourceClaimTemplateName"];
    if (!claim.is_null() && !from.is_null())
      errors.invalid(where, claims[i],
                     "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
    if (claim.is_null() && from.is_null())
      errors.invalid(where, claims[i], "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    for (const auto& [field, value] : {std::pair{"resourceClaimName", &claim}, {"resourceClaimTemplateName", &from}})
      if (value->is_string()) errors.invalid(in(where, field), *value, check_dns_subdomain(value->as_string()));
  }
}

}  // namespace api
