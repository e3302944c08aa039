// Reading docker's files.
#include "node/machine/registry_keys.h"

#include "base/base64.h"
#include "base/format.h"

namespace node {

using api::Json;

namespace {

// "https://index.docker.io/v1/" is what docker writes for docker.io.
std::string registry_name(std::string_view key) {
  for (const std::string_view scheme : {"https://", "http://"})
    if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
  while (key.ends_with('/')) key.remove_suffix(1);
  for (const std::string_view version : {"/v1", "/v2"})
    if (key.ends_with(version)) key.remove_suffix(version.size());
  if (key == "index.docker.io" || key == "registry-1.docker.io") return "docker.io";
  return std::string(key);
}

Json credentials_of(const Json& entry) {
  if (entry["identitytoken"].is_string() || entry["auth"].is_string()) {
    Json kept = Json::object();
    for (const char* field : {"auth", "identitytoken"})
      if (entry[field].is_string()) kept.set(field, entry[field]);
    return kept;
  }
  if (!entry["username"].is_string()) return {};
  return Json::object({{"auth", base::base64_encode(base::format("{}:{}", entry["username"].as_string(),
                                                                 entry["password"].as_string()))}});
}

// The entries of one Secret, by registry.
Json entries_of(const Json& secret) {
  const std::string_view type = secret["type"].as_string();
  const bool is_config = type == "kubernetes.io/dockerconfigjson";
  if (!is_config && type != "kubernetes.io/dockercfg") return {};
  const auto text = base::base64_decode(secret["data"][is_config ? ".dockerconfigjson" : ".dockercfg"].as_string());
  if (!text.ok()) return {};
  const auto json = api::parse_json(*text);
  if (!json.ok()) return {};
  return is_config ? (*json)["auths"] : *json;
}

}  // namespace

std::string registry_keys(const std::vector<const Json*>& secrets) {
  Json all = Json::object();
  for (const Json* secret : secrets) {
    const Json entries = entries_of(*secret);
    for (const Json::Member& member : entries.members()) {
      const std::string registry = registry_name(member.name());
      Json credentials = credentials_of(member.value);
      if (!registry.empty() && !credentials.is_null() && !all.has(registry)) all.set(registry, std::move(credentials));
    }
  }
  return all.empty() ? std::string() : Json::object({{"auths", std::move(all)}}).dump();
}

}  // namespace node
