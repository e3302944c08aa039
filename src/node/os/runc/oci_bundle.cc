// How a container's wishes are written in the OCI runtime specification.
#include "node/os/runc/oci_bundle.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/format.h"
#include "base/utf8.h"
#include "node/machine/capabilities.h"
#include "node/machine/security_context.h"
#include "node/os/cgroups.h"
#include "node/os/runc/seccomp.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::int64_t kIdMax = 2147483647;
constexpr std::size_t kImageGroupsMax = 1024;
constexpr const char* kMasked[] = {"/proc/acpi",       "/proc/asound",      "/proc/interrupts",
                                   "/proc/kcore",      "/proc/keys",        "/proc/latency_stats",
                                   "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
                                   "/proc/scsi",       "/sys/firmware",     "/sys/devices/virtual/powercap"};
constexpr const char* kReadOnly[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"};

template <class List>
Json strings(const List& list) {
  Json json = Json::array();
  for (const auto& item : list) json.push_back(Json(item));
  return json;
}

Json mount_json(const char* target, const char* type, const char* source, std::initializer_list<const char*> options) {
  return Json::object({{"destination", target}, {"type", type}, {"source", source}, {"options", strings(options)}});
}

std::vector<std::string> options_of(const MountSpec& mount) {
  const char* way = mount.propagation == MountSpec::Propagation::kBoth ? "rshared"
                    : mount.propagation == MountSpec::Propagation::kIn ? "rslave"
                                                                       : "rprivate";
  const bool below = mount.read_only && mount.read_only_below != MountSpec::Recursion::kNone;
  return {"rbind", way, below ? "rro" : mount.read_only ? "ro" : "rw"};
}

// The root has to take part in what one of its mounts takes part in.
const char* root_propagation(const std::vector<MountSpec>& mounts) {
  const auto any = [&](MountSpec::Propagation way) {
    return std::ranges::any_of(mounts, [&](const MountSpec& mount) { return mount.propagation == way; });
  };
  return any(MountSpec::Propagation::kBoth) ? "rshared" : any(MountSpec::Propagation::kIn) ? "rslave" : nullptr;
}

Json mounts_json(const BundleInput& input) {
  const bool privileged = input.spec->privileged;
  Json list = Json::array();
  list.push_back(mount_json("/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}));
  // The host's devices are its users'; in a user namespace nobody could open one, or put a file beside it.
  if (privileged && input.user_namespace.empty()) {
    list.push_back(mount_json("/dev", "bind", "/dev", {"rbind", "nosuid"}));
  } else {
    list.push_back(mount_json("/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}));
    list.push_back(mount_json("/dev/pts", "devpts", "devpts",
                              {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}));
    list.push_back(mount_json("/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}));
    list.push_back(mount_json("/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}));
  }
  // The host's network cannot be shown by a sysfs of ours. Mounts below the host's would stay writable.
  if (input.network_namespace.empty())
    list.push_back(privileged ? mount_json("/sys", "bind", "/sys", {"rbind", "nosuid", "noexec", "nodev"})
                              : mount_json("/sys", "bind", "/sys", {"bind", "nosuid", "noexec", "nodev", "ro"}));
  else
    list.push_back(privileged ? mount_json("/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev"})
                              : mount_json("/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}));
  if (!input.network_namespace.empty() || !privileged)
    list.push_back(mount_json("/sys/fs/cgroup", "cgroup", "cgroup",
                              {"nosuid", "noexec", "nodev", "relatime", privileged ? "rw" : "ro"}));
  std::vector<MountSpec> mounts = input.mounts;
  // A mount below another comes after it.
  std::stable_sort(mounts.begin(), mounts.end(), [](const MountSpec& a, const MountSpec& b) {
    return std::count(a.target.begin(), a.target.end(), '/') < std::count(b.target.begin(), b.target.end(), '/');
  });
  for (const MountSpec& mount : mounts)
    list.push_back(Json::object({{"destination", mount.target},
                                 {"type", "bind"},
                                 {"source", mount.source},
                                 {"options", strings(options_of(mount))}}));
  return list;
}

Json resources_json(const BundleInput& input) {
  const ContainerSpec& spec = *input.spec;
  Json cpu = Json::object({{"shares", cpu_shares(spec.cpu_request_milli)}});
  if (spec.cpu_limit_milli > 0) {
    cpu.set("period", 100'000);
    cpu.set("quota", cpu_quota(spec.cpu_limit_milli));
  }
  Json memory = Json::object();
  if (spec.memory_limit_bytes > 0) memory.set("limit", spec.memory_limit_bytes);
  Json devices = Json::array({Json::object({{"allow", spec.privileged}, {"access", "rwm"}})});
  for (const OciDevice& device : input.devices) devices.push_back(device_rule_json(device));
  Json out = Json::object(
      {{"devices", devices}, {"cpu", cpu}, {"memory", memory}, {"pids", Json::object({{"limit", kPidsMax}})}});
  // Half a container is of no use to anybody: as with a kubelet, all of it ends where the kernel can do so.
  if (input.unified_cgroups) out.set("unified", Json::object({{"memory.oom.group", "1"}}));
  if (!input.limits_huge_pages || spec.huge_page_limits.empty()) return out;
  Json pages = Json::array();
  for (const auto& [size, bytes] : spec.huge_page_limits)
    pages.push_back(Json::object({{"pageSize", size}, {"limit", bytes}}));
  out.set("hugepageLimits", std::move(pages));
  return out;
}

Json namespaces_json(const BundleInput& input) {
  Json list = Json::array({Json::object({{"type", "mount"}}), Json::object({{"type", "uts"}})});
  if (!input.user_namespace.empty()) list.push_back(Json::object({{"type", "user"}, {"path", input.user_namespace}}));
  if (!input.pid_namespace.empty())
    list.push_back(Json::object({{"type", "pid"}, {"path", input.pid_namespace}}));
  else if (!input.host_pid)
    list.push_back(Json::object({{"type", "pid"}}));
  if (!input.network_namespace.empty())
    list.push_back(Json::object({{"type", "network"}, {"path", input.network_namespace}}));
  if (!input.ipc_namespace.empty())
    list.push_back(Json::object({{"type", "ipc"}, {"path", input.ipc_namespace}}));
  else if (input.own_ipc)
    list.push_back(Json::object({{"type", "ipc"}}));
  // Its own group is the root of what it sees below /sys/fs/cgroup, where programs look for their limits.
  if (input.unified_cgroups && !input.spec->privileged) list.push_back(Json::object({{"type", "cgroup"}}));
  return list;
}

// A process in a user namespace cannot have an id that the kernel cannot translate.
base::Status check_ids(const BundleInput& input, const std::vector<std::int64_t>& groups) {
  if (input.user_namespace.empty()) return {};
  std::vector<std::int64_t> ids = groups;
  ids.insert(ids.end(), {input.user.uid, input.user.gid});
  const std::int64_t last = *std::max_element(ids.begin(), ids.end());
  if (last < kPodIds) return {};
  return make_error(Code::kInvalid,
                    base::format("id {} is not one of the {} that a pod with hostUsers: false has", last, kPodIds));
}

Json environment_json(const BundleInput& input) {
  std::vector<std::pair<std::string, std::string>> merged;
  std::map<std::string, std::size_t, std::less<>> places;  // in `merged`: an image can name hundreds of thousands
  const auto put = [&](const std::string& name, std::string value) {
    const auto [place, is_new] = places.emplace(name, merged.size());
    if (is_new)
      merged.emplace_back(name, std::move(value));
    else
      merged[place->second].second = std::move(value);
  };
  put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  put("HOSTNAME", input.hostname);
  put("HOME", input.user.home);
  for (const std::string& entry : input.image.environment) {
    const std::size_t equals = entry.find('=');
    put(entry.substr(0, equals), equals == std::string::npos ? "" : entry.substr(equals + 1));
  }
  for (const auto& [name, value] : input.spec->devices.environment) put(name, value);
  for (const auto& [name, value] : input.spec->environment) put(name, value);
  for (const auto& [name, folder] : device_folders(input.spec->devices)) {
    const auto known = places.find(name);
    const std::string list = known == places.end() ? std::string() : merged[known->second].second;
    put(name, list.empty() ? folder : list + ":" + folder);
  }
  Json list = Json::array();
  for (const auto& [name, value] : merged) list.push_back(name + "=" + value);
  return list;
}

// The texts that cannot be the words of a process.
base::Status check_texts(const std::vector<std::string>& words, const std::string& folder) {
  for (const std::string& word : words)
    if (word.find('\0') != std::string::npos)
      return make_error(Code::kInvalid, "the command or its arguments contain a NUL character");
  if (folder.find('\0') != std::string::npos || !folder.starts_with('/'))
    return make_error(Code::kInvalid, base::format("working directory {:?} is not an absolute path", folder));
  return {};
}

// Field `index` of the passwd or group line whose field `by` is `value`.
std::string lookup(const std::string& text, std::size_t by, std::string_view value, std::size_t index) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    std::vector<std::string_view> fields;
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    for (;;) {
      const std::size_t colon = line.find(':');
      fields.push_back(line.substr(0, colon));
      if (colon == std::string_view::npos) break;
      line.remove_prefix(colon + 1);
    }
    if (fields.size() > std::max(by, index) && fields[by] == value) return std::string(fields[index]);
    begin = end + 1;
  }
  return {};
}

// A user's or group's id. Others than these the kernel does not have.
bool is_id(std::string_view text, std::int64_t& out) {
  std::int64_t value = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value < 0 || value > kIdMax) return false;
  out = value;
  return true;
}

// The groups whose members include `user`.
std::vector<std::int64_t> groups_of(std::string_view text, std::string_view user) {
  std::vector<std::int64_t> found;
  while (!text.empty() && !user.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t last = line.rfind(':');
    if (last == std::string_view::npos) continue;
    const std::string members = base::format(",{},", line.substr(last + 1));
    const std::string id = lookup(std::string(line), 0, line.substr(0, line.find(':')), 2);
    std::int64_t group = 0;
    if (members.find(base::format(",{},", user)) != std::string::npos && is_id(id, group) &&
        found.size() < kImageGroupsMax)
      found.push_back(group);
  }
  return found;
}

}  // namespace

ImageConfig image_config_from(const Json& json) {
  const Json& config = json["config"];
  ImageConfig image;
  for (const Json& word : config["Entrypoint"].items()) image.entrypoint.push_back(word.str());
  for (const Json& word : config["Cmd"].items()) image.command.push_back(word.str());
  for (const Json& word : config["Env"].items()) image.environment.push_back(word.str());
  image.working_directory = config["WorkingDir"].str();
  image.stop_signal = config["StopSignal"].str();
  image.user = config["User"].str();
  return image;
}

base::Result<UserIds> resolve_user(const ContainerSpec& spec, const ImageConfig& image, const std::string& passwd,
                                   const std::string& groups) {
  UserIds ids;
  const std::string user = image.user.substr(0, image.user.find(':'));
  const std::string group =
      image.user.find(':') == std::string::npos ? "" : image.user.substr(image.user.find(':') + 1);
  if (!user.empty() && !is_id(user, ids.uid)) {
    if (!is_id(lookup(passwd, 0, user, 2), ids.uid))
      return make_error(Code::kInvalid,
                        base::format("unable to find user {}: no matching entries in passwd file", user));
  }
  (void)is_id(lookup(passwd, 2, std::to_string(ids.uid), 3), ids.gid);
  if (!group.empty() && !is_id(group, ids.gid)) {
    if (!is_id(lookup(groups, 0, group, 2), ids.gid))
      return make_error(Code::kInvalid,
                        base::format("unable to find group {}: no matching entries in group file", group));
  }
  if (spec.user) {
    ids.uid = *spec.user;
    ids.gid = 0;
    (void)is_id(lookup(passwd, 2, std::to_string(ids.uid), 3), ids.gid);
  }
  if (spec.group) ids.gid = *spec.group;
  if (spec.must_not_be_root && ids.uid == 0)
    return make_error(Code::kForbidden, "container has runAsNonRoot and image will run as root");
  const std::string home = lookup(passwd, 2, std::to_string(ids.uid), 5);
  ids.home = home.empty() ? "/" : base::to_utf8(base::utf8_prefix(home, 4096));
  ids.groups = groups_of(groups, lookup(passwd, 2, std::to_string(ids.uid), 0));
  return ids;
}

base::Result<Json> make_bundle(const BundleInput& input) {
  const ContainerSpec& spec = *input.spec;
  std::vector<std::string> words = spec.command.empty() ? input.image.entrypoint : spec.command;
  // A command of the pod's own leaves the image's arguments out.
  const bool image_arguments = spec.command.empty() && spec.arguments.empty();
  for (const std::string& word : image_arguments ? input.image.command : spec.arguments) words.push_back(word);
  if (words.empty())
    return make_error(Code::kInvalid, "no command specified: neither the pod nor the image says what to run");
  std::string folder = spec.working_directory.empty() ? input.image.working_directory : spec.working_directory;
  if (folder.empty()) folder.assign(1, '/');
  TRY_VOID(check_texts(words, folder));
  const std::vector<std::string> capabilities = capabilities_of(spec, input.privileges.bounding);
  Json user = Json::object({{"uid", input.user.uid}, {"gid", input.user.gid}});
  std::vector<std::int64_t> groups = spec.extra_groups;
  if (spec.image_groups) groups.insert(groups.end(), input.user.groups.begin(), input.user.groups.end());
  TRY_VOID(check_ids(input, groups));
  if (!groups.empty()) user.set("additionalGids", strings(groups));
  Json process = Json::object({{"terminal", spec.terminal},
                               {"user", user},
                               {"args", strings(words)},
                               {"env", environment_json(input)},
                               {"cwd", folder},
                               {"capabilities", Json::object({{"bounding", strings(capabilities)},
                                                              {"effective", strings(capabilities)},
                                                              {"permitted", strings(capabilities)}})},
                               {"noNewPrivileges", spec.no_new_privileges},
                               {"oomScoreAdj", permitted_oom_score(spec.oom_score_adjustment, input.privileges)}});
  if (spec.devices.unlimited_memlock) process.set("rlimits", memlock_json(input.privileges.memlock_max));
  if (!input.apparmor_profile.empty()) process.set("apparmorProfile", input.apparmor_profile);
  Json linux = Json::object({{"cgroupsPath", input.cgroup_path},
                             {"resources", resources_json(input)},
                             {"namespaces", namespaces_json(input)}});
  if (!input.devices.empty()) linux.set("devices", devices_json(input.devices));
  if (!input.user_namespace.empty()) {
    const Json map = Json::array({Json::object({{"containerID", 0}, {"hostID", input.first_id}, {"size", kPodIds}})});
    linux.set("uidMappings", map);
    linux.set("gidMappings", map);
  }
  if (!spec.privileged && !spec.unmasked_proc) {
    linux.set("maskedPaths", strings(kMasked));
    linux.set("readonlyPaths", strings(kReadOnly));
  }
  if (!input.seccomp.is_null())
    linux.set("seccomp", input.seccomp);
  else if (spec.seccomp.kind == Confinement::Kind::kDefault && input.privileges.seccomp)
    linux.set("seccomp", default_seccomp(capabilities));
  if (!spec.sysctls.empty()) {
    Json settings = Json::object();
    for (const auto& [name, value] : spec.sysctls) settings.set(name, value);
    linux.set("sysctl", std::move(settings));
  }
  if (const char* way = root_propagation(input.mounts)) linux.set("rootfsPropagation", way);
  Json bundle = Json::object({{"ociVersion", "1.0.2"},
                              {"process", process},
                              {"root", Json::object({{"path", input.root}, {"readonly", spec.read_only_root}})},
                              {"hostname", input.hostname},
                              {"mounts", mounts_json(input)},
                              {"linux", linux}});
  if (!spec.devices.hooks.empty()) bundle.set("hooks", hooks_json(spec.devices.hooks));
  return bundle;
}

}  // namespace node
