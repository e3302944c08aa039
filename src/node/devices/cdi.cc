// Reading specs.
#include "node/devices/cdi.h"

#include <dirent.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "api/json/yaml.h"
#include "base/format.h"
#include "base/log.h"
#include "rt/files/rooted_files.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kEditsMax = 4096;  // of each kind, a device
constexpr std::size_t kFilesMax = 1024;  // a folder
// The limit of all devices of a spec together, each with those that all have; and of all that one container gets.
constexpr std::size_t kAllEditsMax = std::size_t{1} << 18;
constexpr std::size_t kGrantEditsMax = std::size_t{1} << 14;
constexpr std::size_t kWarnedMax = 1024;
constexpr const char* kHooks[] = {"prestart",       "createRuntime", "createContainer",
                                  "startContainer", "poststart",     "poststop"};

base::Error wrong(std::string_view field, std::string_view why) {
  return make_error(Code::kInvalid, base::format("{}: {}", field, why));
}

bool is_path(std::string_view text) {
  return text.starts_with('/') && text.size() < 4096 && text.find('\0') == std::string_view::npos;
}

bool is_word(std::string_view text, std::string_view more) {
  return !text.empty() && text.size() <= 253 && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

base::Status check_size(const Json& edits) {
  for (const char* list : {"env", "deviceNodes", "mounts", "hooks"})
    if (edits[list].size() > kEditsMax) return wrong(list, base::format("more than {} entries", kEditsMax));
  return {};
}

base::Status read_nodes(const Json& list, DeviceGrant& grant) {
  for (const Json& json : list.items()) {
    DeviceNode node{json["hostPath"].str(), json["path"].str(), json["permissions"].str()};
    if (node.host_path.empty()) node.host_path = node.container_path;
    if (node.permissions.empty()) node.permissions = "rwm";
    if (!is_path(node.container_path)) return wrong("deviceNodes.path", "this is not an absolute path");
    if (!is_path(node.host_path)) return wrong("deviceNodes.hostPath", "this is not an absolute path");
    if (node.permissions.find_first_not_of("rwm") != std::string::npos || node.permissions.size() > 3)
      return wrong("deviceNodes.permissions", base::format("{:?} is not of r, w, m", node.permissions));
    grant.nodes.push_back(std::move(node));
  }
  return {};
}

base::Status read_mounts(const Json& list, DeviceGrant& grant) {
  for (const Json& json : list.items()) {
    DeviceMount mount{json["hostPath"].str(), json["containerPath"].str(), false};
    for (const Json& option : json["options"].items()) mount.read_only |= option.as_string() == "ro";
    if (!is_path(mount.source)) return wrong("mounts.hostPath", "this is not an absolute path");
    if (!is_path(mount.target)) return wrong("mounts.containerPath", "this is not an absolute path");
    grant.mounts.push_back(std::move(mount));
  }
  return {};
}

base::Status read_hooks(const Json& list, DeviceGrant& grant) {
  for (const Json& json : list.items()) {
    DeviceHook hook{.name = json["hookName"].str(), .path = json["path"].str()};
    if (std::ranges::find(kHooks, hook.name) == std::end(kHooks))
      return wrong("hooks.hookName", base::format("{:?} is none of OCI's", hook.name));
    if (!is_path(hook.path)) return wrong("hooks.path", "this is not an absolute path");
    for (const Json& word : json["args"].items()) hook.arguments.push_back(word.str());
    for (const Json& word : json["env"].items()) hook.environment.push_back(word.str());
    hook.timeout_seconds = static_cast<int>(std::clamp<std::int64_t>(json["timeout"].as_int(), 0, 600));
    grant.hooks.push_back(std::move(hook));
  }
  return {};
}

base::Result<DeviceGrant> read_edits(const Json& edits) {
  TRY_VOID(check_size(edits));
  DeviceGrant grant;
  for (const Json& entry : edits["env"].items()) {
    const std::string text = entry.str();
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || text.find('\0') != std::string::npos)
      return wrong("env", base::format("{:?} is not NAME=value", text.substr(0, 100)));
    grant.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  TRY_VOID(read_nodes(edits["deviceNodes"], grant));
  TRY_VOID(read_mounts(edits["mounts"], grant));
  TRY_VOID(read_hooks(edits["hooks"], grant));
  return grant;
}

std::size_t edits_in(const DeviceGrant& grant) {
  return grant.environment.size() + grant.nodes.size() + grant.mounts.size() + grant.hooks.size();
}

}  // namespace

base::Status CdiDevices::read(std::string_view text, int priority) {
  auto parsed = api::parse_yaml(text);  // JSON is YAML
  if (!parsed.ok()) return parsed.take_error();
  const Json& spec = *parsed;
  if (!spec["cdiVersion"].is_string()) return wrong("cdiVersion", "missing");
  const std::string kind = spec["kind"].str();
  const std::size_t slash = kind.find('/');
  if (slash == std::string::npos || !is_word(std::string_view(kind).substr(0, slash), "-_.") ||
      !is_word(std::string_view(kind).substr(slash + 1), "-_"))
    return wrong("kind", base::format("{:?} is not VENDOR/CLASS", kind.substr(0, 100)));
  if (spec["devices"].size() > kCdiDevicesMax)
    return wrong("devices", base::format("more than {} entries", kCdiDevicesMax));
  auto common = read_edits(spec["containerEdits"]);
  if (!common.ok()) return base::within(common.take_error(), "containerEdits");
  std::vector<std::pair<std::string, DeviceGrant>> read;
  std::size_t all_edits = 0;
  for (const Json& device : spec["devices"].items()) {
    const std::string name = device["name"].str();
    if (!is_word(name, "-_.:")) return wrong("devices.name", base::format("{:?}", name.substr(0, 100)));
    auto edits = read_edits(device["containerEdits"]);
    if (!edits.ok()) return base::within(edits.take_error(), base::format("devices {:?}", name));
    all_edits += edits_in(*edits) + edits_in(*common);
    if (all_edits > kAllEditsMax)
      return wrong("containerEdits", base::format("more than {} entries of all devices together", kAllEditsMax));
    edits->add(*common);
    read.emplace_back(kind + "=" + name, std::move(*edits));
  }
  for (auto& [name, grant] : read) {
    const auto known = devices_.find(name);
    if (known == devices_.end()) {
      if (devices_.size() >= kCdiDevicesMax)
        return wrong("devices", base::format("more than {} in all", kCdiDevicesMax));
      devices_[name] = {std::move(grant), priority, false};
    } else if (known->second.priority == priority) {
      known->second.ambiguous = true;
    } else if (known->second.priority < priority) {
      known->second = {std::move(grant), priority, false};
    }
  }
  return {};
}

const DeviceGrant* CdiDevices::find(std::string_view qualified_name) const {
  const auto found = devices_.find(qualified_name);
  return found == devices_.end() || found->second.ambiguous ? nullptr : &found->second.grant;
}

base::Result<DeviceGrant> CdiDevices::grant_of(const std::vector<std::string>& qualified_names) const {
  DeviceGrant grant;
  for (const std::string& name : qualified_names) {
    const DeviceGrant* found = find(name);
    if (found == nullptr) return make_error(Code::kNotFound, base::format("unresolvable CDI devices {}", name));
    if (edits_in(grant) + edits_in(*found) > kGrantEditsMax)
      return make_error(Code::kTooLarge,
                        base::format("CDI device {}: more than {} edits with those before it", name, kGrantEditsMax));
    grant.add(*found);
  }
  grant.unlimited_memlock |= has_infiniband(grant);
  return grant;
}

bool CdiDevices::has_kind(std::string_view kind) const {
  const std::string prefix = std::string(kind) + "=";
  const auto first = devices_.lower_bound(prefix);
  return first != devices_.end() && first->first.starts_with(prefix);
}

CdiDevices read_cdi_folders(const std::vector<std::string>& folders, std::vector<std::string>& trouble) {
  CdiDevices devices;
  int priority = 0;
  for (const std::string& folder : folders) {
    ++priority;
    DIR* open = ::opendir(folder.c_str());
    if (open == nullptr) continue;
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(open)) {
      const std::string_view name = entry->d_name;
      if ((name.ends_with(".json") || name.ends_with(".yaml")) && names.size() < kFilesMax) names.emplace_back(name);
    }
    ::closedir(open);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const auto text = rt::read_rooted_file({folder, name}, kCdiSpecBytesMax);
      base::Status read = text.ok() ? devices.read(*text, priority) : base::Status(text.error());
      if (!read.ok()) trouble.push_back(base::format("{}/{}: {}", folder, name, read.error().message));
    }
  }
  return devices;
}

void log_cdi_trouble(const std::vector<std::string>& trouble) {
  static std::mutex mutex;
  static auto& warned = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  for (const std::string& line : trouble) {
    if (warned.size() >= kWarnedMax) warned.clear();
    if (warned.insert(line).second) base::log_warning("node", "CDI spec is left out: " + line);
  }
}

}  // namespace node
