// Which ConfigMaps tell of devices, by the configuration?
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "scheduler/framework/config.h"

namespace scheduler {

// A selection of ConfigMaps; empty parts select all.
struct DeviceConfigSource {
  std::string ns = {};
  std::string label_selector = {};
  std::string field_selector = {};
  auto operator<=>(const DeviceConfigSource&) const = default;
};

// Empty if no plugin shares devices out.
std::vector<DeviceConfigSource> device_config_sources(const Config& config);

}  // namespace scheduler
