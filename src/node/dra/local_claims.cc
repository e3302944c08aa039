// Their form.
#include "node/dra/local_claims.h"

#include <unistd.h>

#include "api/json/json.h"
#include "base/format.h"
#include "base/log.h"
#include "node/os/pod_folders.h"
#include "rt/files/files.h"

namespace node {

using api::Json;

namespace {

constexpr std::string_view kEnd = ".json";

std::string path_of(const std::string& folder, const std::string& uid) {
  return folder + "/" + uid + std::string(kEnd);
}

template <class Texts>
Json texts(const Texts& list) {
  Json json = Json::array();
  for (const std::string& one : list) json.push_back(one);
  return json;
}

std::vector<std::string> texts_from(const Json& json) {
  std::vector<std::string> list;
  for (const Json& one : json.items()) list.push_back(one.str());
  return list;
}

Json json_from(const LocalClaim& claim) {
  Json drivers = Json::object();
  for (const auto& [driver, devices] : claim.drivers) {
    Json list = Json::array();
    for (const PreparedDevice& device : devices)
      list.push_back(Json::object({{"requests", texts(device.requests)},
                                   {"pool", device.pool},
                                   {"device", device.device},
                                   {"cdi", texts(device.cdi_names)}}));
    drivers.set(driver, std::move(list));
  }
  return Json::object({{"namespace", claim.key.ns},
                       {"name", claim.key.name},
                       {"pods", texts(claim.pods)},
                       {"allocation", claim.allocation},
                       {"drivers", std::move(drivers)},
                       {"prepared", claim.prepared}});
}

LocalClaim claim_from(const std::string& uid, const Json& json) {
  LocalClaim claim{.key = {json["namespace"].str(), json["name"].str(), uid}};
  for (const std::string& pod : texts_from(json["pods"])) claim.pods.insert(pod);
  claim.allocation = json["allocation"].str();
  for (const Json::Member& driver : json["drivers"].members()) {
    std::vector<PreparedDevice>& devices = claim.drivers[std::string(driver.name())];
    for (const Json& device : driver.value.items())
      devices.push_back(
          {texts_from(device["requests"]), device["pool"].str(), device["device"].str(), texts_from(device["cdi"])});
  }
  claim.prepared = json["prepared"].as_bool();
  return claim;
}

}  // namespace

base::Status write_local_claim(const std::string& folder, const LocalClaim& claim) {
  if (folder.empty()) return {};
  TRY_VOID(rt::make_folders(folder, 0700));
  return rt::write_file(path_of(folder, claim.key.uid), json_from(claim).dump(), 0600);
}

void erase_local_claim(const std::string& folder, const std::string& uid) {
  if (!folder.empty()) ::unlink(path_of(folder, uid).c_str());
}

LocalClaims read_local_claims(const std::string& folder) {
  LocalClaims claims;
  if (folder.empty()) return claims;
  for (const std::string& name : list_folder(folder)) {
    if (!name.ends_with(kEnd) || name.starts_with('.')) continue;  // a uid becomes a path
    const std::string uid = name.substr(0, name.size() - kEnd.size());
    const auto json = api::parse_json(read_text(folder + "/" + name));
    if (json.ok() && json->is_object())
      claims[uid] = claim_from(uid, *json);
    else
      base::log_warning("node", base::format("{}/{} cannot be read: the claim is taken for unprepared", folder, name));
  }
  return claims;
}

}  // namespace node
