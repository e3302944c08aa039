// Fields by their numbers.
#include "node/devices/plugin_messages.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/utf8.h"
#include "node/devices/message_fields.h"

namespace node {

using base::Code;
using base::make_error;
using base::WireField;

namespace {

constexpr std::size_t kEditsMax = 1024;  // of each kind
constexpr std::size_t kTextMax = 4096;
constexpr std::size_t kValueMax = 65536;

base::Status check_path(std::string_view field, std::string_view path) {
  if (path.starts_with('/') && is_plain_text(path, kTextMax)) return {};
  return wrong_field(field, path, "is not an absolute path");
}

// As Kubernetes has names of extended resources: DOMAIN/NAME.
bool is_resource(std::string_view name) {
  const std::size_t slash = name.find('/');
  const auto is_word = [](std::string_view word, std::string_view more) {
    const auto plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !word.empty() && plain(word.front()) && plain(word.back()) &&
           std::ranges::all_of(word, [&](char c) { return plain(c) || more.find(c) != std::string_view::npos; });
  };
  if (slash == std::string_view::npos) return false;
  const std::string_view domain = name.substr(0, slash), word = name.substr(slash + 1);
  return domain.size() <= 253 && word.size() <= 63 && is_word(domain, "-.") && is_word(word, "-_.") &&
         domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io") && !name.starts_with("requests.");
}

base::Result<std::pair<std::string, std::string>> pair_from(std::string_view message) {
  std::pair<std::string, std::string> pair;
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number == 1) pair.first = field.bytes;
    if (field.number == 2) pair.second = field.bytes;
    return {};
  }));
  return pair;
}

base::Result<Device> device_from(std::string_view message) {
  Device device{.id = {}, .healthy = false};
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number == 1) device.id = field.bytes;
    if (field.number == 2) device.healthy = field.bytes == "Healthy";
    return {};
  }));
  if (device.id.empty() || !is_plain_text(device.id, kDeviceIdBytesMax))
    return wrong_field("devices.ID", device.id, "is not a name of a device");
  return device;
}

base::Status read_mount(std::string_view message, DeviceGrant& grant) {
  DeviceMount mount{{}, {}, false};
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number == 1) mount.target = field.bytes;
    if (field.number == 2) mount.source = field.bytes;
    if (field.number == 3) mount.read_only = field.integer != 0;
    return {};
  }));
  TRY_VOID(check_path("mounts.container_path", mount.target));
  TRY_VOID(check_path("mounts.host_path", mount.source));
  grant.mounts.push_back(std::move(mount));
  return {};
}

base::Status read_node(std::string_view message, DeviceGrant& grant) {
  DeviceNode node;
  node.permissions.clear();
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number == 1) node.container_path = field.bytes;
    if (field.number == 2) node.host_path = field.bytes;
    if (field.number == 3) node.permissions = field.bytes;
    return {};
  }));
  TRY_VOID(check_path("devices.container_path", node.container_path));
  TRY_VOID(check_path("devices.host_path", node.host_path));
  if (node.permissions.empty() || node.permissions.size() > 3 ||
      node.permissions.find_first_not_of("rwm") != std::string::npos)
    return wrong_field("devices.permissions", node.permissions, "is not of r, w, m");
  grant.nodes.push_back(std::move(node));
  return {};
}

base::Status read_variable(std::string_view message, DeviceGrant& grant) {
  TRY(auto pair, pair_from(message));
  if (pair.first.empty() || pair.first.find('=') != std::string::npos || !is_plain_text(pair.first, kTextMax) ||
      pair.second.size() > kValueMax || !base::is_utf8(pair.second) || pair.second.find('\0') != std::string::npos)
    return wrong_field("envs", pair.first, "cannot be a variable");
  grant.environment.push_back(std::move(pair));
  return {};
}

base::Result<PluginAllocation> container_from(std::string_view message) {
  PluginAllocation allocation;
  std::size_t edits = 0;
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (++edits > kEditsMax) return make_error(Code::kTooLarge, base::format("more than {} entries", kEditsMax));
    if (field.number == 1) return read_variable(field.bytes, allocation.grant);
    if (field.number == 2) return read_mount(field.bytes, allocation.grant);
    if (field.number == 3) return read_node(field.bytes, allocation.grant);
    if (field.number != 5) return {};  // annotations are for container runtimes
    std::string name;
    TRY_VOID(each_field(field.bytes, [&](const WireField& inner) -> base::Status {
      if (inner.number == 1) name = inner.bytes;
      return {};
    }));
    TRY_VOID(check_cdi_name("cdi_devices.name", name));
    allocation.cdi_names.push_back(std::move(name));
    return {};
  }));
  return allocation;
}

}  // namespace

base::Result<PluginOptions> plugin_options_from(std::string_view message) {
  PluginOptions options;
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number == 1) options.pre_start_required = field.integer != 0;
    if (field.number == 2) options.prefers = field.integer != 0;
    return {};
  }));
  return options;
}

base::Result<PluginRegistration> registration_from(std::string_view message) {
  PluginRegistration registration;
  std::string version;
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number == 1) version = field.bytes;
    if (field.number == 2) registration.endpoint = field.bytes;
    if (field.number == 3) registration.resource = field.bytes;
    if (field.number != 4) return {};
    TRY(registration.options, plugin_options_from(field.bytes));
    return {};
  }));
  if (version != "v1beta1") return wrong_field("version", version, "is not v1beta1");
  const std::string& endpoint = registration.endpoint;
  if (endpoint.empty() || endpoint.find('/') != std::string::npos || endpoint == "." || endpoint == ".." ||
      endpoint == "kubelet.sock" || !is_plain_text(endpoint, 107))
    return wrong_field("endpoint", endpoint, "is not the name of a socket beside kubelet.sock");
  if (!is_resource(registration.resource))
    return wrong_field("resource_name", registration.resource, "is not the name of an extended resource");
  return registration;
}

base::Result<std::vector<Device>> devices_from(std::string_view message) {
  std::vector<Device> devices;
  std::set<std::string> ids;
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number != 1) return {};
    if (devices.size() == kPluginDevicesMax)
      return make_error(Code::kTooLarge, base::format("devices: more than {}", kPluginDevicesMax));
    TRY(Device device, device_from(field.bytes));
    if (!ids.insert(device.id).second) return wrong_field("devices.ID", device.id, "is there twice");
    devices.push_back(std::move(device));
    return {};
  }));
  return devices;
}

std::string pre_start_request(const std::vector<std::string>& ids) {
  base::WireWriter request;
  for (const std::string& id : ids) request.add_entry(1, id);
  return request.take();
}

std::string allocate_request(const std::vector<std::string>& ids) {
  base::WireWriter request;
  request.add_entry(1, pre_start_request(ids));
  return request.take();
}

base::Result<PluginAllocation> allocation_from(std::string_view message) {
  std::vector<PluginAllocation> containers;
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number != 1) return {};
    TRY(PluginAllocation one, container_from(field.bytes));
    containers.push_back(std::move(one));
    return containers.size() < 2 ? base::Status() : make_error(Code::kInvalid, "container_responses: more than one");
  }));
  if (containers.empty()) return make_error(Code::kInvalid, "container_responses: none");
  return std::move(containers.front());
}

std::string preference_request(const std::vector<std::string>& available, std::int64_t count) {
  base::WireWriter container, request;
  for (const std::string& id : available) container.add_entry(1, id);
  container.add(3, static_cast<std::uint64_t>(count));
  request.add_entry(1, container.take());
  return request.take();
}

base::Result<std::vector<std::string>> preference_from(std::string_view message,
                                                       const std::vector<std::string>& available, std::int64_t count) {
  std::vector<std::string> ids;
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number != 1) return {};
    return each_field(field.bytes, [&](const WireField& inner) -> base::Status {
      if (inner.number != 1) return {};
      const std::string id(inner.bytes);
      if (std::ranges::find(available, id) == available.end()) return wrong_field("deviceIDs", id, "is not available");
      if (std::ranges::find(ids, id) != ids.end()) return wrong_field("deviceIDs", id, "is there twice");
      ids.push_back(id);
      return {};
    });
  }));
  if (static_cast<std::int64_t>(ids.size()) != count)
    return make_error(Code::kInvalid, base::format("deviceIDs: {}, not {}", ids.size(), count));
  return ids;
}

}  // namespace node
