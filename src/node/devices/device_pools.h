// Which devices there are, who has which, and who gets which. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace node {

struct Device {
  std::string id;
  bool healthy = true;
  int numa = -1;  // -1: not known

  bool operator==(const Device&) const = default;
};

// The devices of each container: ids by resource.
using DeviceIds = std::map<std::string, std::vector<std::string>, std::less<>>;
struct ContainerDevices {
  std::string container;
  DeviceIds ids;

  bool operator==(const ContainerDevices&) const = default;
};

struct DeviceAmount {
  std::int64_t capacity = 0;
  std::int64_t allocatable = 0;  // of healthy ones
};

class DevicePools {
 public:
  // Devices are given out in this order. A resource that is set once is known from then on. The uids of pods that hold
  // some, where the devices are not as they were.
  std::vector<std::string> set(const std::string& resource, std::vector<Device> devices);
  bool knows(std::string_view resource) const { return pools_.find(resource) != pools_.end(); }
  bool is_held(const std::string& resource) const;  // some pod has devices of it
  void forget(const std::string& resource) { pools_.erase(resource); }
  const std::map<std::string, std::vector<Device>, std::less<>>& all() const { return pools_; }
  std::map<std::string, DeviceAmount> amounts() const;

  // Which resources of ours a container asks for, by its limits.
  std::map<std::string, std::int64_t> asked(const api::Json& container) const;
  bool asks(const api::Json& pod) const;
  // Healthy devices that nobody has, for each container that asks. Init containers' devices are used again by those
  // that run after them, as with a kubelet, whose words the error has.
  base::Result<std::vector<ContainerDevices>> choose(const api::Json& pod) const;
  void hold(const std::string& uid, const std::vector<ContainerDevices>& devices);
  void release(const std::string& uid);
  std::int64_t held_count() const;  // devices that pods hold, each once
  bool holds(const std::string& uid) const { return held_.contains(uid); }
  // How the devices of the container are, as the allocatedResourcesStatus of its status; no items: it has none.
  api::Json health_of(const std::string& uid, std::string_view container) const;
  // Healthy and nobody's.
  std::vector<std::string> free_of(std::string_view resource) const;

 private:
  std::map<std::string, std::vector<Device>, std::less<>> pools_;
  std::map<std::string, std::vector<ContainerDevices>> held_;  // by pod uid
};

}  // namespace node
