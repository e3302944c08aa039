// A container's devices in the words of the OCI runtime specification.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "node/machine/device_grant.h"

namespace node {

struct OciDevice {
  std::string path;  // of the container
  char type = 'c';   // or b
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::int64_t mode = 0666;
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  std::string access;  // of r, w, m
};

// Looks the nodes up on the host. An error names one that is not there, or is none.
base::Result<std::vector<OciDevice>> find_devices(const DeviceGrant& grant);
api::Json devices_json(const std::vector<OciDevice>& devices);
// Lets the control group's programs open it.
api::Json device_rule_json(const OciDevice& device);
api::Json hooks_json(const std::vector<DeviceHook>& hooks);
api::Json memlock_json(std::uint64_t limit);  // bytes; all bits: none
// Variable and the folders that are added to the end of it.
std::vector<std::pair<std::string, std::string>> device_folders(const DeviceGrant& grant);

}  // namespace node
