// Writing control group files.
#include "node/os/cgroups.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <limits>

#include "base/format.h"
#include "base/split.h"
#include "node/os/pod_folders.h"

namespace node {

namespace {

// A group that only gets processors that are idle has no weight, and takes none (co-location makes offline pods so).
bool is_weight_of_idle_group(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = std::string_view(path).substr(slash + 1);
  return (name == "cpu.shares" || name == "cpu.weight") &&
         read_text(path.substr(0, slash) + "/cpu.idle").starts_with('1');
}

base::Status write_existing(const FileWrite& file) {
  const int fd = ::open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool ok =
      fd >= 0 && ::write(fd, file.content.data(), file.content.size()) == static_cast<ssize_t>(file.content.size());
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (ok || (fd < 0 && error == ENOENT && file.where_there_is_one)) return {};
  if (error == EINVAL && is_weight_of_idle_group(file.path)) return {};
  return base::make_error(base::Code::kUnavailable,
                          base::format("cannot write {:?} to {}: {}", file.content, file.path, std::strerror(error)));
}

void kill_group(const std::string& folder) {
  const std::string processes = read_text(folder + "/cgroup.procs");
  for (const std::string_view line : base::split(processes, '\n')) {
    pid_t pid = 0;
    std::from_chars(line.data(), line.data() + line.size(), pid);
    if (pid > 0) ::kill(pid, SIGKILL);
  }
}

// The groups just below.
std::vector<std::string> groups_in(const std::string& folder) {
  std::vector<std::string> groups;
  for (const std::string& name : list_folder(folder)) {
    struct stat facts {};
    std::string path = folder + "/" + name;
    if (::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) groups.push_back(std::move(path));
  }
  return groups;
}

void kill_groups(const std::string& folder) {
  kill_group(folder);
  for (const std::string& group : groups_in(folder)) kill_groups(group);
}

// True when the group and all below it are gone.
bool remove_group(const std::string& folder) {
  for (const std::string& group : groups_in(folder)) remove_group(group);
  if (::rmdir(folder.c_str()) == 0 || errno != EBUSY) return true;
  kill_group(folder);
  return false;
}

// "/a/b" -> "/a", "/a/b"
std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps;
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    steps.push_back(path.substr(0, at));
  steps.push_back(path);
  return steps;
}

}  // namespace

CgroupLayout cgroup_layout(std::string_view mountinfo) {
  CgroupLayout layout;
  for (const std::string_view line : base::split(mountinfo, '\n')) {
    const std::vector<std::string_view> words = base::split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 5 || words.end() - dash < 4) continue;
    const std::string mount_point(words[4]);
    if (dash[1] == "cgroup2" && layout.v2.empty()) layout.v2 = mount_point;
    if (dash[1] != "cgroup") continue;
    for (const std::string_view option : base::split(dash[3], ','))
      for (const char* controller :
           {"cpu", "memory", "pids", "cpuset", "cpuacct", "blkio", "devices", "freezer", "hugetlb", "systemd"})
        if (option == controller || option == std::string("name=") + controller)
          layout.v1.emplace(controller, mount_point);
  }
  return layout;
}

std::int64_t cpu_shares(std::int64_t request_milli) { return std::max<std::int64_t>(2, request_milli * 1024 / 1000); }
std::int64_t cpu_quota(std::int64_t limit_milli) { return std::max<std::int64_t>(1000, limit_milli * 100); }

namespace {

std::int64_t cpu_weight(std::int64_t shares) {
  return 1 + (std::min<std::int64_t>(shares, 262144) - 2) * 9999 / 262142;
}

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// The first number of a file; what is none ("max", -1) is not a limit.
std::int64_t limit_in(const std::string& text) {
  std::int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value < 0 ? kNoLimit : value;
}

std::string memory_file(const CgroupLayout& layout, const std::string& path) {
  if (layout.unified()) return layout.v2 + path + "/memory.max";
  const auto memory = layout.v1.find("memory");
  return memory == layout.v1.end() ? std::string() : memory->second + path + "/memory.limit_in_bytes";
}

}  // namespace

CgroupResize plan_cgroup_resize(const CgroupLayout& layout, const std::string& path, const PodLimits& limits,
                                const std::function<std::string(const std::string&)>& read) {
  CgroupResize plan;
  // `none`: what the kernel calls no limit there.
  const auto add = [&](const std::string& file, std::int64_t value, const std::string& none, const char* rest) {
    const std::int64_t goal = value == 0 ? kNoLimit : value, present = limit_in(read(file));
    if (goal == present) return;
    (goal > present ? plan.before : plan.after).push_back({file, (value == 0 ? none : std::to_string(value)) + rest});
  };
  const std::int64_t shares = cpu_shares(limits.cpu_request_milli);
  const std::int64_t quota = limits.cpu_limit_milli == 0 ? 0 : cpu_quota(limits.cpu_limit_milli);
  if (layout.unified()) {
    const std::string folder = layout.v2 + path;
    add(folder + "/cpu.max", quota, "max", " 100000");
    add(folder + "/cpu.weight", cpu_weight(shares), "", "");
    add(memory_file(layout, path), limits.memory_limit_bytes, "max", "");
    return plan;
  }
  if (const auto cpu = layout.v1.find("cpu"); cpu != layout.v1.end()) {
    add(cpu->second + path + "/cpu.cfs_quota_us", quota, "-1", "");
    add(cpu->second + path + "/cpu.shares", shares, "", "");
  }
  if (layout.v1.contains("memory")) add(memory_file(layout, path), limits.memory_limit_bytes, "-1", "");
  return plan;
}

base::Status write_cgroup(const std::vector<FileWrite>& files) {
  for (const FileWrite& file : files) TRY_VOID(write_existing(file));
  return {};
}

bool lowers_memory(const CgroupLayout& layout, const std::string& path, std::int64_t limit_bytes) {
  const std::string file = memory_file(layout, path);
  return !file.empty() && limit_in(read_text(file)) > limit_bytes;
}

CgroupPlan plan_pod_cgroup(const CgroupLayout& layout, const std::string& path, const PodLimits& limits) {
  CgroupPlan plan;
  const std::int64_t shares = cpu_shares(limits.cpu_request_milli);
  const std::int64_t quota = cpu_quota(limits.cpu_limit_milli);
  if (layout.unified()) {
    const std::vector<std::string> steps = steps_of(path);
    const std::string controllers = base::format("+cpu +memory +pids{}{}", layout.has_v2_io() ? " +io" : "",
                                                 layout.has_hugetlb() ? " +hugetlb" : "");
    plan.files.push_back({layout.v2 + "/cgroup.subtree_control", controllers});
    for (const std::string& step : steps) {
      plan.folders.push_back(layout.v2 + step);
      plan.files.push_back({layout.v2 + step + "/cgroup.subtree_control", controllers});
    }
    const std::string folder = layout.v2 + path;
    plan.files.push_back({folder + "/cpu.weight", std::to_string(cpu_weight(shares))});
    if (limits.cpu_limit_milli > 0) plan.files.push_back({folder + "/cpu.max", base::format("{} 100000", quota)});
    // A group with a limit would go on beyond it in the machine's swap, at everybody's cost.
    plan.files.push_back({folder + "/memory.swap.max", "0", true});
    if (limits.memory_limit_bytes > 0)
      plan.files.push_back({folder + "/memory.max", std::to_string(limits.memory_limit_bytes)});
    plan.files.push_back({folder + "/pids.max", std::to_string(kPidsMax)});
    return plan;
  }
  if (const auto cpu = layout.v1.find("cpu"); cpu != layout.v1.end()) {
    const std::string folder = cpu->second + path;
    plan.folders.push_back(folder);
    plan.files.push_back({folder + "/cpu.shares", std::to_string(shares)});
    if (limits.cpu_limit_milli > 0) {
      plan.files.push_back({folder + "/cpu.cfs_period_us", "100000"});
      plan.files.push_back({folder + "/cpu.cfs_quota_us", std::to_string(quota)});
    }
  }
  if (const auto memory = layout.v1.find("memory"); memory != layout.v1.end()) {
    const std::string folder = memory->second + path;
    plan.folders.push_back(folder);
    if (limits.memory_limit_bytes > 0)
      plan.files.push_back({folder + "/memory.limit_in_bytes", std::to_string(limits.memory_limit_bytes)});
  }
  if (const auto pids = layout.v1.find("pids"); pids != layout.v1.end()) {
    plan.folders.push_back(pids->second + path);
    plan.files.push_back({pids->second + path + "/pids.max", std::to_string(kPidsMax)});
  }
  return plan;
}

CgroupPlan plan_room_at_top(const CgroupLayout& layout, const std::function<std::string(const std::string&)>& read) {
  CgroupPlan plan;
  // The machine's own top has no type.
  if (!layout.unified() || read(layout.v2 + "/cgroup.type").empty()) return plan;
  const std::string processes = read(layout.v2 + "/cgroup.procs");
  const std::string below = layout.v2 + "/volcano-others";
  for (const std::string_view line : base::split(processes, '\n'))
    if (!line.empty() && line != "0")  // a process of outside
      plan.files.push_back({below + "/cgroup.procs", std::string(line)});
  if (!plan.files.empty()) plan.folders.push_back(below);
  return plan;
}

base::Status make_room_at_top(const CgroupLayout& layout) {
  base::Status last;
  // Processes come and go meanwhile.
  for (int round = 0; round < 10; ++round) {
    const CgroupPlan plan = plan_room_at_top(layout, read_text);
    if (plan.files.empty()) return {};
    for (const std::string& folder : plan.folders) ::mkdir(folder.c_str(), 0755);
    for (const FileWrite& file : plan.files)
      if (base::Status moved = write_existing(file); !moved.ok()) last = std::move(moved);
  }
  return last;
}

base::Status make_pod_cgroup(const CgroupLayout& layout, const std::string& path, const PodLimits& limits) {
  const CgroupPlan plan = plan_pod_cgroup(layout, path, limits);
  for (const std::string& folder : plan.folders)
    for (const std::string& step : steps_of(folder))
      if (::mkdir(step.c_str(), 0755) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
        return base::make_error(base::Code::kUnavailable,
                                base::format("cannot make control group {}: {}", folder, std::strerror(errno)));
  for (const FileWrite& file : plan.files) TRY_VOID(write_existing(file));
  return {};
}

namespace {

std::vector<std::string> mounts_of(const CgroupLayout& layout) {
  std::vector<std::string> mounts;
  for (const auto& [controller, mount_point] : layout.v1) mounts.push_back(mount_point);
  if (!layout.v2.empty()) mounts.push_back(layout.v2);
  return mounts;
}

}  // namespace

bool has_cgroup(const CgroupLayout& layout, const std::string& path) {
  for (const std::string& mount_point : mounts_of(layout))
    if (::access((mount_point + path).c_str(), F_OK) == 0) return true;
  return false;
}

void kill_cgroup(const CgroupLayout& layout, const std::string& path) {
  for (const std::string& mount_point : mounts_of(layout)) kill_groups(mount_point + path);
}

void remove_cgroup(const CgroupLayout& layout, const std::string& path) {
  for (const std::string& mount_point : mounts_of(layout))
    for (int wait = 0; wait < 200 && !remove_group(mount_point + path); ++wait) ::usleep(10'000);
}

}  // namespace node
