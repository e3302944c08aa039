// Which pod has which devices, as files: DATA/devices/UID.json. They outlive the agent.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "node/devices/device_pools.h"
#include "node/machine/device_grant.h"

namespace node {

struct HeldContainer {
  ContainerDevices devices;
  DeviceGrant grant;
};
struct HeldPod {
  std::string uid;
  std::vector<HeldContainer> containers;
};

// All of them block.
base::Status write_held(const std::string& folder, const HeldPod& pod);
void erase_held(const std::string& folder, const std::string& uid);
// A file that cannot be read is left out.
std::vector<HeldPod> read_held(const std::string& folder);

}  // namespace node
