// Resource claims and device classes, as the API writes them (v1, and the shapes of v1beta1 and v1beta2).
#include <algorithm>

#include "api/cel/patterns.h"
#include "api/meta/resource.h"
#include "scheduler/model/devices/dra.h"

namespace scheduler {
namespace {

using api::Json;
using api::cel::Patterns;

constexpr std::size_t kRequestsMax = 32;  // as the API has it; more are not looked at

void make_unreadable(ResourceClaim& claim) {
  for (DeviceRequest& request : claim.requests) {
    for (DeviceAlternative& alternative : request.alternatives) alternative.selectors = {unreadable_selector()};
  }
}

DeviceAlternative request_from(const Json& json, std::string name, DeviceSelectors& selectors, Patterns& patterns) {
  DeviceAlternative out{.name = std::move(name),
                        .device_class = json["deviceClassName"].str(),
                        .selectors = selectors.read(json["selectors"], patterns)};
  out.all = json["allocationMode"].as_string() == "All";
  out.count = std::max<std::int64_t>(json["count"].as_int(1), 1);
  out.admin_access = json["adminAccess"].as_bool();
  out.capacity = quantities_from(json["capacity"]["requests"]);
  out.tolerations = json["tolerations"];
  return out;
}

Allocation allocation_from(const Json& json, Symbols& symbols) {
  Allocation out;
  for (const Json& one : json["devices"]["results"].items()) {
    out.grants.push_back({.device = {one["driver"].str(), one["pool"].str(), one["device"].str()},
                          .request = one["request"].str(),
                          .admin_access = one["adminAccess"].as_bool(),
                          .share_id = one["shareID"].str(),
                          .consumed = quantities_from(one["consumedCapacity"]),
                          .tolerations = one["tolerations"]});
  }
  out.node_selector = json["nodeSelector"];
  out.node_terms = terms_from(out.node_selector, symbols);
  return out;
}

}  // namespace

void ResourceClaims::set_claim(const Json& object, Symbols& symbols) {
  ResourceClaim out;
  out.key = api::key_of(object);
  out.uid = std::string(api::uid_of(object));
  out.owner = api::controller_of(object)["uid"].str();
  out.deleting = api::is_deleting(object);
  const Json& devices = object["spec"]["devices"];
  Patterns patterns;
  for (const Json& json : devices["requests"].items()) {
    if (out.requests.size() >= kRequestsMax) break;
    DeviceRequest request{.name = json["name"].str(), .alternatives = {}};
    if (json["firstAvailable"].empty()) {
      request.alternatives.push_back(
          request_from(json["exactly"].is_object() ? json["exactly"] : json, request.name, selectors_, patterns));
    }
    for (const Json& sub : json["firstAvailable"].items()) {
      request.alternatives.push_back(request_from(sub, request.name + "/" + sub["name"].str(), selectors_, patterns));
    }
    out.requests.push_back(std::move(request));
  }
  if (patterns.is_full()) {
    make_unreadable(out);
    selectors_.drop_unused();  // or as many more of them would be read each time the claim comes
  }
  for (const Json& json : devices["constraints"].items()) {
    DeviceConstraint constraint;
    for (const Json& name : json["requests"].items()) constraint.requests.push_back(name.str());
    constraint.distinct = json.has("distinctAttribute");
    constraint.attribute = constraint.distinct ? json["distinctAttribute"].str() : json["matchAttribute"].str();
    out.constraints.push_back(std::move(constraint));
  }
  out.config = devices["config"];
  if (object["status"]["allocation"].is_object())
    out.allocation = allocation_from(object["status"]["allocation"], symbols);
  for (const Json& consumer : object["status"]["reservedFor"].items())
    out.reserved_for.push_back(consumer["uid"].str());
  const ResourceClaim* known = find_claim(out.key);
  if (known == nullptr || known->uid != out.uid) ++comings_and_goings_;
  const bool freed = known != nullptr && known->allocation && !out.allocation;
  take_out(out.key);
  if (freed) promises_.erase(out.key);  // also those of pods that are done and still there
  if (const ResourceClaim& kept = claims_.emplace(out.key, std::move(out)).first->second;
      const Allocation* has = allocation_of(kept))
    taken_.use(*has, true);
}

void ResourceClaims::set_class(const Json& object) {
  const Json& spec = object["spec"];
  Patterns patterns;
  DeviceClass out{selectors_.read(spec["selectors"], patterns), spec["config"]};
  if (patterns.is_full()) {
    out.selectors = {unreadable_selector()};
    selectors_.drop_unused();
  }
  classes_.insert_or_assign(std::string(api::name_of(object)), std::move(out));
}

}  // namespace scheduler
