// The parts of a dump: resource claims, device classes, resource slices (resource.k8s.io).
#include <algorithm>
#include <map>

#include "scheduler/dump/dump_parts.h"

namespace scheduler {
namespace {

using api::Json;

constexpr std::string_view kVersion = "resource.k8s.io/v1";

Json quantities_json(const Quantities& quantities) {
  Json out = Json::object();
  for (const auto& [name, amount] : quantities) out.set(name, amount.to_json());
  return out;
}

class ClaimWriter {
 public:
  explicit ClaimWriter(const Model& model) : model_(model) {
    for (const auto& [text, selector] : model.claims.selectors().by_text()) texts_[selector.id] = text;
    for (const auto& [task, claims] : model.claims.claims_of_tasks()) {
      for (const std::string& claim : claims) users_[claim].push_back(model.text(TaskId{task}).uid.str());
    }
  }

  Json device_class(const std::string& name, const DeviceClass& one) const {
    Json out = object_of({kVersion, "DeviceClass", "", name, ""});
    Json spec = Json::object();
    if (!one.selectors.empty()) spec.set("selectors", selectors(one.selectors));
    if (!one.config.is_null()) spec.set("config", one.config);
    out.set("spec", std::move(spec));
    return out;
  }

  Json claim(const ResourceClaim& one) const {
    const auto [ns, name] = split_key(one.key);
    Json out = object_of({kVersion, "ResourceClaim", ns, name, one.uid});
    if (one.deleting) out.edit("metadata").set("deletionTimestamp", "1970-01-01T00:00:00Z");
    set_owner(out, one.owner);
    Json devices = Json::object();
    std::vector<Json> requests;
    for (const DeviceRequest& request : one.requests) requests.push_back(request_json(request));
    if (!requests.empty()) devices.set("requests", Json::array(std::move(requests)));
    for (const DeviceConstraint& constraint : one.constraints) {
      Json item = Json::object({{constraint.distinct ? "distinctAttribute" : "matchAttribute", constraint.attribute}});
      for (const std::string& request : constraint.requests) item.edit("requests").push_back(request);
      devices.edit("constraints").push_back(std::move(item));
    }
    if (!one.config.is_null()) devices.set("config", one.config);
    out.set("spec", Json::object({{"devices", std::move(devices)}}));
    if (const Allocation* has = model_.claims.allocation_of(one))
      out.edit("status").set("allocation", to_json(*has, one, model_.claims));
    std::vector<std::string> uids = one.reserved_for;
    if (auto found = users_.find(one.key); found != users_.end()) {
      for (const std::string& uid : found->second) {
        if (std::find(uids.begin(), uids.end(), uid) == uids.end()) uids.push_back(uid);
      }
    }
    for (const std::string& uid : uids)
      out.edit("status").edit("reservedFor").push_back(Json::object({{"resource", "pods"}, {"uid", uid}}));
    return out;
  }

  static Json slice(const std::string& name, const ResourceSlice& one) {
    Json out = object_of({kVersion, "ResourceSlice", "", name, ""});
    Json pool = Json::object({{"name", one.pool}, {"generation", one.generation}, {"resourceSliceCount", one.slices}});
    Json spec = Json::object({{"driver", one.driver}, {"pool", std::move(pool)}, {"perDeviceNodeSelection", true}});
    std::vector<Json> devices;
    for (const Device& device : one.devices) devices.push_back(device_json(device));
    spec.set("devices", Json::array(std::move(devices)));
    for (const auto& [set, counters] : one.counters)
      spec.edit("sharedCounters").push_back(Json::object({{"name", set}, {"counters", counters_json(counters)}}));
    out.set("spec", std::move(spec));
    return out;
  }

 private:
  Json selectors(const std::vector<DeviceSelector>& list) const {
    std::vector<Json> out;
    for (const DeviceSelector& one : list) {
      const auto text = texts_.find(one.id);
      const std::string expression = text == texts_.end() ? "" : std::string(text->second);
      out.push_back(Json::object({{"cel", Json::object({{"expression", expression}})}}));
    }
    return Json::array(std::move(out));
  }

  Json alternative_json(const DeviceAlternative& alternative) const {
    Json out = Json::object({{"deviceClassName", alternative.device_class},
                             {"allocationMode", alternative.all ? "All" : "ExactCount"},
                             {"count", alternative.count}});
    if (!alternative.selectors.empty()) out.set("selectors", selectors(alternative.selectors));
    if (alternative.admin_access) out.set("adminAccess", true);
    if (!alternative.capacity.empty())
      out.set("capacity", Json::object({{"requests", quantities_json(alternative.capacity)}}));
    if (!alternative.tolerations.is_null()) out.set("tolerations", alternative.tolerations);
    return out;
  }

  Json request_json(const DeviceRequest& request) const {
    Json out = Json::object({{"name", request.name}});
    if (request.alternatives.size() == 1 && request.alternatives[0].name == request.name) {
      out.set("exactly", alternative_json(request.alternatives[0]));
      return out;
    }
    for (const DeviceAlternative& alternative : request.alternatives) {
      Json one = alternative_json(alternative);
      one.set("name", alternative.name.substr(std::min(alternative.name.size(), request.name.size() + 1)));
      out.edit("firstAvailable").push_back(std::move(one));
    }
    return out;
  }

  static Json counters_json(const Quantities& counters) {
    Json out = Json::object();
    for (const auto& [name, amount] : counters) out.set(name, Json::object({{"value", amount.to_json()}}));
    return out;
  }

  static Json policy_json(const CapacityPolicy& policy) {
    Json out = Json::object();
    if (policy.usual) out.set("default", policy.usual->to_json());
    for (const api::Quantity& value : policy.valid) out.edit("validValues").push_back(value.to_json());
    if (policy.min) out.edit("validRange").set("min", policy.min->to_json());
    if (policy.max) out.edit("validRange").set("max", policy.max->to_json());
    if (policy.step) out.edit("validRange").set("step", policy.step->to_json());
    return out;
  }

  static Json device_json(const Device& device) {
    Json out = Json::object({{"name", device.name.device}});
    for (const auto& [name, value] : device.attributes) out.edit("attributes").set(name, value);
    for (const auto& [name, amount] : device.capacity) {
      Json one = Json::object({{"value", amount.first.to_json()}});
      if (Json policy = policy_json(amount.second); !policy.empty()) one.set("requestPolicy", std::move(policy));
      out.edit("capacity").set(name, std::move(one));
    }
    if (device.shared) out.set("allowMultipleAllocations", true);
    if (!device.taints.is_null()) out.set("taints", device.taints);
    for (const auto& [set, counters] : device.counters)
      out.edit("consumesCounters")
          .push_back(Json::object({{"counterSet", set}, {"counters", counters_json(counters)}}));
    if (!device.node.empty()) out.set("nodeName", device.node);
    if (!device.node_selector.is_null()) out.set("nodeSelector", device.node_selector);
    if (device.everywhere) out.set("allNodes", true);
    return out;
  }

  const Model& model_;
  std::map<std::uint32_t, std::string_view> texts_;
  std::map<std::string, std::vector<std::string>, std::less<>> users_;  // uids of pods, by claim
};

}  // namespace

void dump_claims(const Model& model, Objects& out) {
  const ClaimWriter writer(model);
  for (const auto& [name, one] : model.claims.classes()) out.push_back(writer.device_class(name, one));
  for (const auto& [name, one] : model.claims.pools().slices()) out.push_back(ClaimWriter::slice(name, one));
  for (const auto& [key, one] : model.claims.claims()) out.push_back(writer.claim(one));
}

}  // namespace scheduler
