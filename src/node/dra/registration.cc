// Fields by their numbers, and the versions that are spoken here.
#include "node/dra/registration.h"

#include <algorithm>

#include "api/schema/names.h"
#include "base/format.h"
#include "node/devices/message_fields.h"

namespace node {

namespace {

constexpr std::size_t kTextMax = 253;
constexpr std::size_t kSocketMax = 107;  // of a socket's path
constexpr std::size_t kVersionsMax = 32;

struct Version {
  const char* name;  // as plugins offer it
  const char* service;
};
// The first that a plugin offers is used.
constexpr Version kVersions[] = {{"v1.DRAPlugin", "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin"},
                                 {"v1beta1.DRAPlugin", "/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin"}};

std::string quoted(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += base::format("{}{:?}", out.empty() ? "" : " ", word);
  return "[" + out + "]";
}

std::string spoken_here() {
  std::vector<std::string> names;
  for (const Version& version : kVersions) names.emplace_back(version.name);
  return quoted(names);
}

}  // namespace

base::Result<PluginInfo> plugin_info_from(std::string_view message) {
  PluginInfo info;
  TRY_VOID(each_field(message, [&](const base::WireField& field) -> base::Status {
    if (field.number == 1) info.type = field.bytes;
    if (field.number == 2) info.name = field.bytes;
    if (field.number == 3) info.endpoint = field.bytes;
    if (field.number != 4) return {};
    if (info.versions.size() == kVersionsMax)
      return base::make_error(base::Code::kTooLarge, base::format("supported_versions: more than {}", kVersionsMax));
    if (!is_plain_text(field.bytes, kTextMax))
      return wrong_field("supported_versions", field.bytes, "is not a version");
    info.versions.emplace_back(field.bytes);
    return {};
  }));
  if (!is_plain_text(info.type, kTextMax)) return wrong_field("type", info.type, "is not a type of plugin");
  if (!is_plain_text(info.name, kTextMax)) return wrong_field("name", info.name, "is not a name of a plugin");
  if (!info.endpoint.empty() && (!info.endpoint.starts_with('/') || !is_plain_text(info.endpoint, kSocketMax)))
    return wrong_field("endpoint", info.endpoint, "is not an absolute path of a socket");
  return info;
}

std::string registration_status(std::string_view error) {
  base::WireWriter status;
  status.add(1, error.empty());
  status.add(2, error);
  return status.take();
}

base::Result<DraPlugin> dra_plugin_from(const PluginInfo& info, const std::string& socket) {
  const auto invalid = [](std::string why) { return base::make_error(base::Code::kInvalid, std::move(why)); };
  if (info.type != "DRAPlugin")
    return invalid(base::format("RegisterPlugin error -- no handler registered for plugin type: {} at socket {}",
                                info.type, socket));
  DraPlugin plugin{info.name, info.endpoint.empty() ? socket : info.endpoint, {}};
  constexpr std::string_view kFailed = "RegisterPlugin error -- plugin validation failed with err: ";
  if (!api::is_dns_subdomain(info.name))
    return invalid(base::format("{}the name {:?} of a DRA driver is not a DNS subdomain", kFailed, info.name));
  for (const Version& version : kVersions) {
    if (std::ranges::find(info.versions, version.name) == info.versions.end()) continue;
    plugin.service = version.service;
    return plugin;
  }
  const std::string why = info.versions.empty()
                              ? "empty list of supported gRPC services (aka supported versions)"
                              : base::format(
                                    "none of services supported by the plugin ({}) are supported by the "
                                    "kubelet ({})",
                                    quoted(info.versions), spoken_here());
  return invalid(base::format("{}invalid supported gRPC versions of DRA driver plugin {} at endpoint {}: {}", kFailed,
                              info.name, plugin.endpoint, why));
}

}  // namespace node
