// From pods and claims to calls.
#include "node/dra/claim_plan.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

bool is_reserved_for(const Json& claim, std::string_view pod_uid) {
  for (const Json& holder : claim["status"]["reservedFor"].items())
    if (holder["resource"].as_string() == "pods" && holder["uid"].as_string() == pod_uid) return true;
  return false;
}

// It becomes the name of a file.
bool is_uid(std::string_view text) {
  return !text.empty() && text.size() <= 128 && text.find('/') == std::string_view::npos && !text.starts_with('.');
}

const std::string* generated_name(const Json& pod, std::string_view name, std::string& out) {
  for (const Json& status : pod["status"]["resourceClaimStatuses"].items()) {
    if (status["name"].as_string() != name) continue;
    out = status["resourceClaimName"].str();
    return &out;
  }
  return nullptr;
}

void add_call(std::map<std::string, DriverCall>& calls, const LocalClaim& claim) {
  for (const auto& [driver, devices] : claim.drivers) {
    calls[driver].driver = driver;
    calls[driver].claims.push_back(claim.key);
  }
}

std::vector<DriverCall> in_order(std::map<std::string, DriverCall> calls) {
  std::vector<DriverCall> list;
  for (auto& [driver, call] : calls) list.push_back(std::move(call));
  return list;
}

const LocalClaim* find_claim(const LocalClaims& local, std::string_view ns, std::string_view name,
                             std::string_view pod_uid) {
  for (const auto& [uid, claim] : local)
    if (claim.key.ns == ns && claim.key.name == name && claim.pods.contains(std::string(pod_uid))) return &claim;
  return nullptr;
}

// Which requests of a claim a container uses, and how its status names each; an empty one: all of them.
struct RequestUse {
  std::string request;
  std::string named;
};
std::vector<RequestUse> requests_of(const Json& pod, const Json& container, const ClaimUse& use) {
  std::vector<RequestUse> requests;
  if (!use.name.empty()) {
    for (const Json& one : container["resources"]["claims"].items()) {
      if (one["name"].as_string() != use.name) continue;
      const std::string request = one["request"].str();
      requests.push_back({request, "claim:" + use.name + (request.empty() ? "" : "/" + request)});
    }
    return requests;
  }
  for (const Json& mapping : pod["status"]["extendedResourceClaimStatus"]["requestMappings"].items())
    if (mapping["containerName"] == container["name"] &&
        container["resources"]["requests"].has(mapping["resourceName"].as_string()))
      requests.push_back({mapping["requestName"].str(), mapping["resourceName"].str()});
  return requests;
}

bool is_of(const PreparedDevice& device, const std::string& request) {
  return request.empty() || device.requests.empty() ||
         std::ranges::find(device.requests, request) != device.requests.end();
}

void add_names(const LocalClaim& claim, const std::string& request, std::vector<std::string>& names) {
  for (const auto& [driver, devices] : claim.drivers)
    for (const PreparedDevice& device : devices) {
      if (!is_of(device, request)) continue;
      for (const std::string& name : device.cdi_names)
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
}

}  // namespace

bool has_claims(const Json& pod) {
  return !pod["spec"]["resourceClaims"].empty() || pod["status"]["extendedResourceClaimStatus"].is_object();
}

base::Result<std::vector<ClaimUse>> claims_of(const Json& pod) {
  std::vector<ClaimUse> uses;
  for (const Json& one : pod["spec"]["resourceClaims"].items()) {
    ClaimUse use{one["name"].str(), one["resourceClaimName"].str(), false};
    if (use.claim.empty()) {
      use.generated = true;
      if (generated_name(pod, use.name, use.claim) == nullptr)
        return make_error(Code::kNotFound, base::format("pod \"{}\": ResourceClaim not created yet", api::key_of(pod)));
      if (use.claim.empty()) continue;  // none is needed, says who makes them
    }
    uses.push_back(std::move(use));
  }
  const std::string extended = pod["status"]["extendedResourceClaimStatus"]["resourceClaimName"].str();
  if (!extended.empty()) uses.push_back({{}, extended, false});
  return uses;
}

base::Result<LocalClaim> claim_for(const Json& pod, const ClaimUse& use, const Json& claim) {
  const std::string uid(api::uid_of(claim)), pod_uid(api::uid_of(pod));
  if (use.generated && api::controller_of(claim)["uid"].as_string() != pod_uid)
    return make_error(Code::kInvalid, base::format("ResourceClaim {} was not created for pod {} (pod is not owner)",
                                                   api::key_of(claim), api::key_of(pod)));
  if (!is_uid(uid) || !is_reserved_for(claim, pod_uid))
    return make_error(Code::kForbidden, base::format("pod {} ({}) is not allowed to use ResourceClaim {} ({})",
                                                     api::name_of(pod), pod_uid, use.claim, uid));
  const Json& allocation = claim["status"]["allocation"];
  if (!allocation.is_object())
    return make_error(Code::kUnavailable, base::format("ResourceClaim {}: not allocated", use.claim));
  LocalClaim out{.key = {std::string(api::namespace_of(claim)), std::string(api::name_of(claim)), uid},
                 .pods = {pod_uid}};
  for (const Json& result : allocation["devices"]["results"].items()) {
    out.drivers[result["driver"].str()];
    out.allocation +=
        base::format("{}/{}/{} {} {}\n", result["driver"].as_string(), result["pool"].as_string(),
                     result["device"].as_string(), result["request"].as_string(), result["shareID"].as_string());
  }
  return out;
}

base::Result<PreparePlan> plan_prepare(const std::vector<LocalClaim>& wanted, const LocalClaims& local,
                                       const std::function<bool(const std::string& driver)>& has_driver) {
  PreparePlan plan;
  std::map<std::string, DriverCall> calls;
  for (const LocalClaim& want : wanted) {
    for (const auto& [driver, devices] : want.drivers)
      if (!has_driver(driver))
        return make_error(Code::kUnavailable, base::format("DRA driver {} is not registered", driver));
    for (const auto& [uid, claim] : local)
      if (claim.key.ns == want.key.ns && claim.key.name == want.key.name && uid != want.key.uid)
        return make_error(Code::kConflict, base::format("old ResourceClaim with same name {} and different UID {} "
                                                        "still exists (previous pod force-deleted?!)",
                                                        want.key.name, uid));
    const auto known = local.find(want.key.uid);
    if (known != local.end() && known->second.allocation != want.allocation)
      return make_error(Code::kConflict, base::format("ResourceClaim {} is still prepared for the allocation that it "
                                                      "had before",
                                                      want.key.name));
    const bool again = plan.claims.contains(want.key.uid);  // two names in one pod may mean one claim
    LocalClaim& claim = plan.claims[want.key.uid];
    if (again) continue;
    claim = known == local.end() ? want : known->second;
    claim.pods.insert(want.pods.begin(), want.pods.end());
    if (!claim.confirmed) add_call(calls, claim);
  }
  plan.calls = in_order(std::move(calls));
  return plan;
}

UnpreparePlan plan_unprepare(const std::string& pod_uid, const LocalClaims& local) {
  UnpreparePlan plan;
  std::map<std::string, DriverCall> calls;
  for (const auto& [uid, claim] : local) {
    if (!claim.pods.contains(pod_uid)) continue;
    if (claim.pods.size() > 1) {
      plan.shared.push_back(uid);
      continue;
    }
    plan.last.push_back(uid);
    add_call(calls, claim);
  }
  plan.calls = in_order(std::move(calls));
  return plan;
}

std::vector<ClaimedDevices> devices_by_claims(const Json& pod, const Json& container, const LocalClaims& local) {
  std::vector<ClaimedDevices> all;
  const auto uses = claims_of(pod);
  if (!uses.ok()) return all;
  for (const ClaimUse& use : *uses) {
    const LocalClaim* claim = find_claim(local, api::namespace_of(pod), use.claim, api::uid_of(pod));
    if (claim == nullptr || !claim->prepared) continue;
    for (const RequestUse& one : requests_of(pod, container, use)) {
      ClaimedDevices& row = all.emplace_back(ClaimedDevices{one.named, {}});
      for (const auto& [driver, devices] : claim->drivers)
        for (const PreparedDevice& device : devices)
          if (is_of(device, one.request)) row.devices.emplace_back(driver, &device);
    }
  }
  return all;
}

base::Result<std::vector<std::string>> cdi_names_of(const Json& pod, const Json& container, const LocalClaims& local) {
  std::vector<std::string> names;
  TRY(const std::vector<ClaimUse> uses, claims_of(pod));
  for (const ClaimUse& use : uses) {
    const std::vector<RequestUse> requests = requests_of(pod, container, use);
    if (requests.empty()) continue;
    const LocalClaim* claim = find_claim(local, api::namespace_of(pod), use.claim, api::uid_of(pod));
    if (claim == nullptr || !claim->prepared)
      return make_error(Code::kUnavailable, base::format("ResourceClaim {} is not prepared", use.claim));
    for (const RequestUse& one : requests) add_names(*claim, one.request, names);
  }
  return names;
}

}  // namespace node
