// How a container's wishes are written in the OCI runtime specification.
#include "node/os/oci_bundle.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr const char* kDefaultCapabilities[] = {
    "CAP_CHOWN",   "CAP_DAC_OVERRIDE", "CAP_FSETID",           "CAP_FOWNER",
    "CAP_MKNOD",   "CAP_NET_RAW",      "CAP_SETGID",           "CAP_SETUID",
    "CAP_SETFCAP", "CAP_SETPCAP",      "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT",
    "CAP_KILL",    "CAP_AUDIT_WRITE"};
// In the kernel's order: the index is the bit.
constexpr const char* kAllCapabilities[] = {"CAP_CHOWN",
                                            "CAP_DAC_OVERRIDE",
                                            "CAP_DAC_READ_SEARCH",
                                            "CAP_FOWNER",
                                            "CAP_FSETID",
                                            "CAP_KILL",
                                            "CAP_SETGID",
                                            "CAP_SETUID",
                                            "CAP_SETPCAP",
                                            "CAP_LINUX_IMMUTABLE",
                                            "CAP_NET_BIND_SERVICE",
                                            "CAP_NET_BROADCAST",
                                            "CAP_NET_ADMIN",
                                            "CAP_NET_RAW",
                                            "CAP_IPC_LOCK",
                                            "CAP_IPC_OWNER",
                                            "CAP_SYS_MODULE",
                                            "CAP_SYS_RAWIO",
                                            "CAP_SYS_CHROOT",
                                            "CAP_SYS_PTRACE",
                                            "CAP_SYS_PACCT",
                                            "CAP_SYS_ADMIN",
                                            "CAP_SYS_BOOT",
                                            "CAP_SYS_NICE",
                                            "CAP_SYS_RESOURCE",
                                            "CAP_SYS_TIME",
                                            "CAP_SYS_TTY_CONFIG",
                                            "CAP_MKNOD",
                                            "CAP_LEASE",
                                            "CAP_AUDIT_WRITE",
                                            "CAP_AUDIT_CONTROL",
                                            "CAP_SETFCAP",
                                            "CAP_MAC_OVERRIDE",
                                            "CAP_MAC_ADMIN",
                                            "CAP_SYSLOG",
                                            "CAP_WAKE_ALARM",
                                            "CAP_BLOCK_SUSPEND",
                                            "CAP_AUDIT_READ",
                                            "CAP_PERFMON",
                                            "CAP_BPF",
                                            "CAP_CHECKPOINT_RESTORE"};
constexpr const char* kMasked[] = {"/proc/acpi",
                                   "/proc/asound",
                                   "/proc/kcore",
                                   "/proc/keys",
                                   "/proc/latency_stats",
                                   "/proc/timer_list",
                                   "/proc/timer_stats",
                                   "/proc/sched_debug",
                                   "/proc/scsi",
                                   "/sys/firmware",
                                   "/sys/devices/virtual/powercap"};
constexpr const char* kReadOnly[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"};

template <class List>
Json strings(const List& list) {
  Json json = Json::array();
  for (const auto& item : list) json.push_back(Json(item));
  return json;
}

std::string capability_name(std::string name) {
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name.starts_with("CAP_") ? name : "CAP_" + name;
}

Json capabilities_json(const ContainerSpec& spec, std::uint64_t available) {
  std::vector<std::string> set;
  if (spec.privileged)
    set.assign(std::begin(kAllCapabilities), std::end(kAllCapabilities));
  else
    set.assign(std::begin(kDefaultCapabilities), std::end(kDefaultCapabilities));
  const auto without = [&](const std::string& name) {
    set.erase(std::remove(set.begin(), set.end(), name), set.end());
  };
  for (const std::string& dropped : spec.capabilities_dropped) {
    if (capability_name(dropped) == "CAP_ALL") set.clear();
    without(capability_name(dropped));
  }
  for (const std::string& added : spec.capabilities_added) {
    if (capability_name(added) == "CAP_ALL")
      set.assign(std::begin(kAllCapabilities), std::end(kAllCapabilities));
    else if (std::find(set.begin(), set.end(), capability_name(added)) == set.end())
      set.push_back(capability_name(added));
  }
  // What the machine does not let even root have cannot be given on.
  for (std::size_t bit = 0; bit < std::size(kAllCapabilities); ++bit)
    if ((available >> bit & 1) == 0) without(kAllCapabilities[bit]);
  const Json list = strings(set);
  return Json::object({{"bounding", list}, {"effective", list}, {"permitted", list}});
}

Json mount_json(const char* target, const char* type, const char* source, std::initializer_list<const char*> options) {
  return Json::object({{"destination", target}, {"type", type}, {"source", source}, {"options", strings(options)}});
}

Json mounts_json(const BundleInput& input) {
  const bool privileged = input.spec->privileged;
  Json list = Json::array();
  list.push_back(mount_json("/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}));
  if (privileged) {
    list.push_back(mount_json("/dev", "bind", "/dev", {"rbind", "nosuid"}));
  } else {
    list.push_back(mount_json("/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}));
    list.push_back(mount_json("/dev/pts", "devpts", "devpts",
                              {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}));
    list.push_back(mount_json("/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}));
    list.push_back(mount_json("/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}));
  }
  // The host's network cannot be shown by a sysfs of ours.
  if (input.network_namespace.empty())
    list.push_back(privileged ? mount_json("/sys", "bind", "/sys", {"rbind", "nosuid", "noexec", "nodev"})
                              : mount_json("/sys", "bind", "/sys", {"rbind", "nosuid", "noexec", "nodev", "ro"}));
  else
    list.push_back(privileged ? mount_json("/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev"})
                              : mount_json("/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}));
  if (!input.network_namespace.empty())
    list.push_back(mount_json("/sys/fs/cgroup", "cgroup", "cgroup",
                              {"nosuid", "noexec", "nodev", "relatime", privileged ? "rw" : "ro"}));
  std::vector<MountSpec> mounts = input.mounts;
  // A mount below another comes after it.
  std::stable_sort(mounts.begin(), mounts.end(), [](const MountSpec& a, const MountSpec& b) {
    return std::count(a.target.begin(), a.target.end(), '/') < std::count(b.target.begin(), b.target.end(), '/');
  });
  for (const MountSpec& mount : mounts)
    list.push_back(
        Json::object({{"destination", mount.target},
                      {"type", "bind"},
                      {"source", mount.source},
                      {"options", mount.read_only ? strings(std::vector<std::string>{"rbind", "rprivate", "ro"})
                                                  : strings(std::vector<std::string>{"rbind", "rprivate", "rw"})}}));
  return list;
}

Json resources_json(const ContainerSpec& spec) {
  Json cpu = Json::object({{"shares", std::max<std::int64_t>(2, spec.cpu_request_milli * 1024 / 1000)}});
  if (spec.cpu_limit_milli > 0) {
    cpu.set("period", 100'000);
    cpu.set("quota", std::max<std::int64_t>(1000, spec.cpu_limit_milli * 100));
  }
  Json memory = Json::object();
  if (spec.memory_limit_bytes > 0) memory.set("limit", spec.memory_limit_bytes);
  Json devices = Json::array({Json::object({{"allow", spec.privileged}, {"access", "rwm"}})});
  return Json::object({{"devices", devices}, {"cpu", cpu}, {"memory", memory}});
}

Json namespaces_json(const BundleInput& input) {
  Json list = Json::array({Json::object({{"type", "mount"}}), Json::object({{"type", "uts"}})});
  if (!input.host_pid) list.push_back(Json::object({{"type", "pid"}}));
  if (!input.network_namespace.empty())
    list.push_back(Json::object({{"type", "network"}, {"path", input.network_namespace}}));
  if (!input.ipc_namespace.empty())
    list.push_back(Json::object({{"type", "ipc"}, {"path", input.ipc_namespace}}));
  else if (input.own_ipc)
    list.push_back(Json::object({{"type", "ipc"}}));
  return list;
}

Json environment_json(const BundleInput& input) {
  std::vector<std::pair<std::string, std::string>> merged;
  const auto put = [&](std::string name, std::string value) {
    for (auto& [known, old] : merged)
      if (known == name) return void(old = std::move(value));
    merged.emplace_back(std::move(name), std::move(value));
  };
  put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  put("HOSTNAME", input.hostname);
  put("HOME", input.user.home);
  for (const std::string& entry : input.image.environment) {
    const std::size_t equals = entry.find('=');
    put(entry.substr(0, equals), equals == std::string::npos ? "" : entry.substr(equals + 1));
  }
  for (const auto& [name, value] : input.spec->environment) put(name, value);
  Json list = Json::array();
  for (const auto& [name, value] : merged) list.push_back(name + "=" + value);
  return list;
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

bool number(std::string_view text, std::int64_t& out) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  return failure == std::errc{} && end == text.data() + text.size();
}

}  // namespace

ImageConfig image_config_from(const Json& json) {
  const Json& config = json["config"];
  ImageConfig image;
  for (const Json& word : config["Entrypoint"].items()) image.entrypoint.push_back(word.str());
  for (const Json& word : config["Cmd"].items()) image.command.push_back(word.str());
  for (const Json& word : config["Env"].items()) image.environment.push_back(word.str());
  image.working_directory = config["WorkingDir"].str();
  image.user = config["User"].str();
  return image;
}

base::Result<UserIds> resolve_user(const ContainerSpec& spec, const ImageConfig& image, const std::string& passwd,
                                   const std::string& groups) {
  UserIds ids;
  const std::string user = image.user.substr(0, image.user.find(':'));
  const std::string group =
      image.user.find(':') == std::string::npos ? "" : image.user.substr(image.user.find(':') + 1);
  if (!user.empty() && !number(user, ids.uid)) {
    if (!number(lookup(passwd, 0, user, 2), ids.uid))
      return make_error(Code::kInvalid,
                        base::format("unable to find user {}: no matching entries in passwd file", user));
  }
  number(lookup(passwd, 2, std::to_string(ids.uid), 3), ids.gid);
  if (!group.empty() && !number(group, ids.gid)) {
    if (!number(lookup(groups, 0, group, 2), ids.gid))
      return make_error(Code::kInvalid,
                        base::format("unable to find group {}: no matching entries in group file", group));
  }
  if (spec.user) {
    ids.uid = *spec.user;
    ids.gid = 0;
    number(lookup(passwd, 2, std::to_string(ids.uid), 3), ids.gid);
  }
  if (spec.group) ids.gid = *spec.group;
  if (spec.must_not_be_root && ids.uid == 0)
    return make_error(Code::kInvalid, "container has runAsNonRoot and image will run as root");
  const std::string home = lookup(passwd, 2, std::to_string(ids.uid), 5);
  ids.home = home.empty() ? "/" : home;
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
  if (folder.empty()) folder = "/";
  Json user = Json::object({{"uid", input.user.uid}, {"gid", input.user.gid}});
  if (!spec.extra_groups.empty()) user.set("additionalGids", strings(spec.extra_groups));
  Json process = Json::object({{"terminal", false},
                               {"user", user},
                               {"args", strings(words)},
                               {"env", environment_json(input)},
                               {"cwd", folder},
                               {"capabilities", capabilities_json(spec, input.capabilities)},
                               {"noNewPrivileges", spec.no_new_privileges},
                               {"oomScoreAdj", spec.oom_score_adjustment}});
  Json linux = Json::object({{"cgroupsPath", input.cgroup_path},
                             {"resources", resources_json(spec)},
                             {"namespaces", namespaces_json(input)}});
  if (!spec.privileged) {
    linux.set("maskedPaths", strings(kMasked));
    linux.set("readonlyPaths", strings(kReadOnly));
  }
  return Json::object({{"ociVersion", "1.0.2"},
                       {"process", process},
                       {"root", Json::object({{"path", input.root}, {"readonly", spec.read_only_root}})},
                       {"hostname", input.hostname},
                       {"mounts", mounts_json(input)},
                       {"linux", linux}});
}

}  // namespace node
