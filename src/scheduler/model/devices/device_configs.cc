// The ConfigMaps that describe devices.
#include "scheduler/model/devices/device_configs.h"

namespace scheduler {

bool DeviceConfigs::set(std::string_view key, const api::Json& data) {
  auto found = configs_.find(key);
  if (found == configs_.end()) found = configs_.emplace(key, Config{}).first;
  if (found->second.version != 0 && found->second.data == data) return false;
  found->second = {data, ++version_};
  return true;
}

bool DeviceConfigs::remove(std::string_view key) {
  auto found = configs_.find(key);
  if (found == configs_.end()) return false;
  configs_.erase(found);
  ++version_;
  return true;
}

const api::Json& DeviceConfigs::data_of(std::string_view key) const {
  static const api::Json kNone;
  auto found = configs_.find(key);
  return found == configs_.end() ? kNone : found->second.data;
}

}  // namespace scheduler
