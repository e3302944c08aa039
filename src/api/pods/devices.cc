// The parts that containers of a pod template take from outside by name: block devices and resource claims.
#include "api/json/problems.h"
#include "api/pods/names.h"
#include "api/pods/parts.h"

namespace api {

PodNames::PodNames(const Json& spec) {
  for (const Json& volume : spec["volumes"].items()) volumes.emplace(volume["name"].as_string(), &volume);
  for (const Json& claim : spec["resourceClaims"].items()) claims.insert(claim["name"].as_string());
  for (const std::string_view claim : claims) {
    if (claims_text.size() > kShownBytesMax) break;
    claims_text += (claims_text.empty() ? "" : ", ") + std::string(claim);
  }
  claims_text = shortened(claims_text);
}

void check_devices(const Json& container, const PodNames& known, const std::string& path, FieldErrors& errors) {
  const Json& devices = container["volumeDevices"];
  if (devices.empty()) return;
  std::set<std::string_view> mounted;
  for (const Json& mount : container["volumeMounts"].items()) mounted.insert(mount["mountPath"].as_string());
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
      const auto volume = known.volumes.find(name);
      if (volume == known.volumes.end())
        errors.not_found(in(where, "name"), name);
      else if (!(*volume->second)["persistentVolumeClaim"].is_object() && !(*volume->second)["ephemeral"].is_object())
        errors.invalid(in(where, "name"), name,
                       "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    }
    if (place.empty())
      errors.required(in(where, "devicePath"));
    else if (!places.insert(place).second)
      errors.invalid(in(where, "devicePath"), place, "must be unique");
    else if (mounted.contains(place))
      errors.invalid(in(where, "devicePath"), place, "must not already exist in volumeMounts");
  }
}

void check_claims(const Json& claims, const PodNames& known, const std::string& path, FieldErrors& errors) {
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
    if (!request.empty()) errors.invalid(in(at(path, i), "request"), request, check_dns_label(request));
    if (known.claims.contains(name)) continue;
    errors.not_found(at(path, i), name,
                     known.claims.empty()
                         ? "must be one of the names in pod.spec.resourceClaims which is empty"
                         : "must be one of the names in pod.spec.resourceClaims: " + known.claims_text);
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
