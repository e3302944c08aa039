// A plugin's account of itself when it registers with a node (Kubernetes' pluginregistration v1), and whether it is one
// that this agent can use. Values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace node {

inline constexpr const char* kGetInfo = "/pluginregistration.Registration/GetInfo";
inline constexpr const char* kNotifyStatus = "/pluginregistration.Registration/NotifyRegistrationStatus";

struct PluginInfo {
  std::string type;      // "DRAPlugin"
  std::string name;      // of a DRA driver, the driver's
  std::string endpoint;  // path of the socket that answers; empty: the one that was asked
  std::vector<std::string> versions;

  bool operator==(const PluginInfo&) const = default;
};
// Errors name the field.
base::Result<PluginInfo> plugin_info_from(std::string_view message);

// RegistrationStatus; empty: it is registered.
std::string registration_status(std::string_view error);

// A driver of Dynamic Resource Allocation, as it is called.
struct DraPlugin {
  std::string driver;
  std::string endpoint;
  std::string service;  // "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin"

  bool operator==(const DraPlugin&) const = default;
};
// `socket`: where it was asked. The error is a kubelet's.
base::Result<DraPlugin> dra_plugin_from(const PluginInfo& info, const std::string& socket);

}  // namespace node
