// Looking device nodes up.
#include "node/os/runc/device_nodes.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"

namespace node {

using api::Json;

namespace {

Json texts(const std::vector<std::string>& list) {
  Json json = Json::array();
  for (const std::string& one : list) json.push_back(one);
  return json;
}

std::string joined(const std::vector<std::string>& folders) {
  std::string out;
  for (const std::string& folder : folders) out += (out.empty() ? "" : ":") + folder;
  return out;
}

}  // namespace

base::Result<std::vector<OciDevice>> find_devices(const DeviceGrant& grant) {
  std::vector<OciDevice> devices;
  for (const DeviceNode& node : grant.nodes) {
    struct stat facts {};
    if (::stat(node.host_path.c_str(), &facts) != 0)
      return base::make_error(base::Code::kUnavailable,
                              base::format("device {}: {}", node.host_path, std::strerror(errno)));
    if (!S_ISCHR(facts.st_mode) && !S_ISBLK(facts.st_mode))
      return base::make_error(base::Code::kUnavailable, base::format("{} is not a device", node.host_path));
    devices.push_back({node.container_path, S_ISCHR(facts.st_mode) ? 'c' : 'b', major(facts.st_rdev),
                       minor(facts.st_rdev), static_cast<std::int64_t>(facts.st_mode & 0777), facts.st_uid,
                       facts.st_gid, node.permissions});
  }
  return devices;
}

Json devices_json(const std::vector<OciDevice>& devices) {
  Json list = Json::array();
  for (const OciDevice& device : devices)
    list.push_back(Json::object({{"path", device.path},
                                 {"type", std::string(1, device.type)},
                                 {"major", device.major},
                                 {"minor", device.minor},
                                 {"fileMode", device.mode},
                                 {"uid", device.uid},
                                 {"gid", device.gid}}));
  return list;
}

Json device_rule_json(const OciDevice& device) {
  return Json::object({{"allow", true},
                       {"type", std::string(1, device.type)},
                       {"major", device.major},
                       {"minor", device.minor},
                       {"access", device.access}});
}

Json hooks_json(const std::vector<DeviceHook>& hooks) {
  Json by_name = Json::object();
  for (const DeviceHook& hook : hooks) {
    Json json = Json::object({{"path", hook.path}, {"args", texts(hook.arguments)}, {"env", texts(hook.environment)}});
    // A hook that hangs would hold the start up for as long.
    json.set("timeout", hook.timeout_seconds > 0 ? hook.timeout_seconds : 30);
    by_name.edit(hook.name).push_back(std::move(json));
  }
  return by_name;
}

Json memlock_json(std::uint64_t limit) {
  return Json::array({Json::object({{"type", "RLIMIT_MEMLOCK"}, {"hard", limit}, {"soft", limit}})});
}

std::vector<std::pair<std::string, std::string>> device_folders(const DeviceGrant& grant) {
  std::vector<std::pair<std::string, std::string>> folders;
  if (!grant.library_folders.empty()) folders.emplace_back("LD_LIBRARY_PATH", joined(grant.library_folders));
  if (!grant.program_folders.empty()) folders.emplace_back("PATH", joined(grant.program_folders));
  return folders;
}

}  // namespace node
