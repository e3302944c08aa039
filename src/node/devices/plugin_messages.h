// The messages of Kubernetes' device plugin API v1beta1, as far as a node agent needs them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/devices/device_pools.h"
#include "node/machine/device_grant.h"

namespace node {

// The limits of a plugin's messages; more is refused.
inline constexpr std::size_t kPluginDevicesMax = 4096;
inline constexpr std::size_t kDeviceIdBytesMax = 256;

struct PluginOptions {
  bool pre_start_required = false;
  bool prefers = false;  // get_preferred_allocation_available
};
struct PluginRegistration {
  std::string endpoint;  // name of a socket beside ours
  std::string resource;  // "vendor.com/device"
  PluginOptions options;
};
// Errors name the field.
base::Result<PluginRegistration> registration_from(std::string_view message);
base::Result<PluginOptions> plugin_options_from(std::string_view message);
// ListAndWatchResponse.
base::Result<std::vector<Device>> devices_from(std::string_view message);

// AllocateRequest for one container; PreStartContainerRequest is the same list without the container around it.
std::string allocate_request(const std::vector<std::string>& ids);
std::string pre_start_request(const std::vector<std::string>& ids);
struct PluginAllocation {
  DeviceGrant grant;
  std::vector<std::string> cdi_names = {};
};
base::Result<PluginAllocation> allocation_from(std::string_view message);

std::string preference_request(const std::vector<std::string>& available, std::int64_t count);
// `count` of `available`; an error where the plugin says anything else.
base::Result<std::vector<std::string>> preference_from(std::string_view message,
                                                       const std::vector<std::string>& available, std::int64_t count);

}  // namespace node
