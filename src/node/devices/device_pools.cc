// Choosing and counting.
#include "node/devices/device_pools.h"

#include <algorithm>
#include <set>

#include "api/schema/quantity.h"
#include "base/format.h"

namespace node {

using api::Json;

namespace {

// The first `count` of `from`, which loses them.
void move_some(std::vector<std::string>& from, std::int64_t count, std::vector<std::string>& to) {
  const auto end = from.begin() + std::min<std::int64_t>(count, static_cast<std::int64_t>(from.size()));
  to.insert(to.end(), from.begin(), end);
  from.erase(from.begin(), end);
}

}  // namespace

std::vector<std::string> DevicePools::set(const std::string& resource, std::vector<Device> devices) {
  std::vector<Device>& known = pools_[resource];
  std::vector<std::string> concerned;
  for (const auto& [uid, containers] : held_) {
    const bool has_some = std::ranges::any_of(
        containers, [&](const ContainerDevices& container) { return container.ids.contains(resource); });
    if (has_some && known != devices) concerned.push_back(uid);
  }
  known = std::move(devices);
  return concerned;
}

bool DevicePools::is_held(const std::string& resource) const {
  return std::ranges::any_of(held_, [&](const auto& pod) {
    return std::ranges::any_of(pod.second,
                               [&](const ContainerDevices& container) { return container.ids.contains(resource); });
  });
}

std::map<std::string, DeviceAmount> DevicePools::amounts() const {
  std::map<std::string, DeviceAmount> amounts;
  for (const auto& [resource, devices] : pools_) {
    DeviceAmount& amount = amounts[resource];
    amount.capacity = static_cast<std::int64_t>(devices.size());
    amount.allocatable = std::ranges::count_if(devices, [](const Device& device) { return device.healthy; });
  }
  return amounts;
}

std::map<std::string, std::int64_t> DevicePools::asked(const Json& container) const {
  std::map<std::string, std::int64_t> asked;
  for (const Json::Member& member : container["resources"]["limits"].members()) {
    if (!knows(member.name())) continue;
    const auto amount = api::Quantity::from_json(member.value);
    if (amount && amount->value() > 0) asked[std::string(member.name())] = amount->value();
  }
  return asked;
}

bool DevicePools::asks(const Json& pod) const {
  for (const char* list : {"initContainers", "containers"})
    for (const Json& container : pod["spec"][list].items())
      if (!asked(container).empty()) return true;
  return false;
}

std::vector<std::string> DevicePools::free_of(std::string_view resource) const {
  std::set<std::string_view> taken;
  for (const auto& [uid, containers] : held_)
    for (const ContainerDevices& container : containers)
      if (const auto ids = container.ids.find(resource); ids != container.ids.end())
        taken.insert(ids->second.begin(), ids->second.end());
  std::vector<std::string> free;
  for (const Device& device : pools_.find(resource)->second)
    if (device.healthy && !taken.contains(device.id)) free.push_back(device.id);
  return free;
}

base::Result<std::vector<ContainerDevices>> DevicePools::choose(const Json& pod) const {
  std::map<std::string, std::vector<std::string>> free, reusable;
  std::vector<ContainerDevices> chosen;
  for (const char* list : {"initContainers", "containers"}) {
    const bool init = std::string_view(list) == "initContainers";
    for (const Json& container : pod["spec"][list].items()) {
      const bool passes = init && container["restartPolicy"].as_string() != "Always";
      ContainerDevices devices{container["name"].str(), {}};
      for (const auto& [resource, count] : asked(container)) {
        if (!free.contains(resource)) free[resource] = free_of(resource);
        std::vector<std::string>& left = free[resource];
        std::vector<std::string>& again = reusable[resource];
        const auto available = static_cast<std::int64_t>(left.size() + again.size());
        if (available < count)
          return base::make_error(base::Code::kUnavailable,
                                  base::format("Allocate failed due to requested number of devices unavailable for {}. "
                                               "Requested: {}, Available: {}, which is unexpected",
                                               resource, count, available));
        std::vector<std::string>& ids = devices.ids[resource];
        move_some(again, count, ids);
        move_some(left, count - static_cast<std::int64_t>(ids.size()), ids);
        if (passes) again.insert(again.end(), ids.begin(), ids.end());
      }
      if (!devices.ids.empty()) chosen.push_back(std::move(devices));
    }
  }
  return chosen;
}

void DevicePools::hold(const std::string& uid, const std::vector<ContainerDevices>& devices) { held_[uid] = devices; }

std::int64_t DevicePools::held_count() const {
  std::set<std::pair<std::string_view, std::string_view>> held;
  for (const auto& [uid, containers] : held_)
    for (const ContainerDevices& container : containers)
      for (const auto& [resource, ids] : container.ids)
        for (const std::string& id : ids) held.emplace(resource, id);
  return static_cast<std::int64_t>(held.size());
}

Json DevicePools::health_of(const std::string& uid, std::string_view container) const {
  Json list = Json::array();
  const auto pod = held_.find(uid);
  if (pod == held_.end()) return list;
  for (const ContainerDevices& one : pod->second) {
    if (one.container != container) continue;
    for (const auto& [resource, ids] : one.ids) {
      std::map<std::string_view, bool> healthy;
      if (const auto pool = pools_.find(resource); pool != pools_.end())
        for (const Device& device : pool->second) healthy.emplace(device.id, device.healthy);
      Json devices = Json::array();
      for (const std::string& id : ids) {
        const auto known = healthy.find(id);
        const char* health = known == healthy.end() ? "Unknown" : known->second ? "Healthy" : "Unhealthy";
        devices.push_back(Json::object({{"resourceID", id}, {"health", health}}));
      }
      list.push_back(Json::object({{"name", resource}, {"resources", std::move(devices)}}));
    }
  }
  return list;
}

void DevicePools::release(const std::string& uid) { held_.erase(uid); }

}  // namespace node
