// Reading the counters.
#include "colocation/machine/observe.h"

#include <algorithm>

#include "base/format.h"
#include "base/saturate.h"

namespace colocation {

namespace {

constexpr int kDepthMax = 4;  // of groups below a pod: containers, and what they make themselves

std::optional<std::string> text_of(const std::string& path) {
  auto text = read_host_file(path);
  if (!text.ok()) return std::nullopt;
  return *std::move(text);
}

template <class Parse>
auto parsed(const std::string& path, Parse parse) -> decltype(parse(std::string_view())) {
  const auto text = text_of(path);
  if (!text) return {};
  return parse(std::string_view(*text));
}

GroupUse use_of(const GroupTree& tree, const std::string& path) {
  GroupUse use;
  if (tree.version == GroupVersion::kV1) {
    use.cpu_ns = parsed(group_folder(tree, "cpuacct", path) + "/cpuacct.usage", parse_amount);
  } else {
    use.cpu_ns = parsed(group_folder(tree, "cpu", path) + "/cpu.stat",
                        [](std::string_view text) { return stat_value(text, "usage_usec"); });
    if (use.cpu_ns) use.cpu_ns = base::saturating_multiply(*use.cpu_ns, 1000);
  }
  use.memory_bytes = parsed(group_folder(tree, "memory", path) + "/memory.stat", group_memory);
  return use;
}

void add_below(const std::string& folder, const std::string& path, int depth, std::vector<std::string>& all) {
  if (depth > kDepthMax) return;
  for (const std::string& name : folders_in(folder)) {
    if (all.size() >= kGroupsMax) return;
    all.push_back(path + "/" + name);
    add_below(folder + "/" + name, path + "/" + name, depth + 1, all);
  }
}

GroupStalls stalls_of(const GroupTree& tree, const std::string& path, const PodFacts& pod) {
  const std::string folder = group_folder(tree, "cpu", path);
  const auto full_us = [](std::string_view text) -> std::optional<std::int64_t> {
    const auto pressure = parse_pressure(text);
    return pressure ? std::optional(pressure->full_us) : std::nullopt;
  };
  const auto throttled_us = [](std::string_view text) { return stat_value(text, "throttled_usec"); };
  GroupStalls stalls;
  stalls.cpu_us = parsed(folder + "/cpu.pressure", full_us);
  stalls.io_us = parsed(folder + "/io.pressure", full_us);
  stalls.io_bytes = parsed(folder + "/io.stat", io_bytes);
  stalls.throttled_us = parsed(folder + "/cpu.stat", throttled_us).value_or(0);
  for (const ContainerFacts& one : pod.containers)
    if (const auto name = container_group(tree, one.id))
      stalls.throttled_us = base::saturating_add(
          stalls.throttled_us, parsed(base::format("{}/{}/cpu.stat", folder, *name), throttled_us).value_or(0));
  return stalls;
}

std::string_view controller_of(std::string_view file) { return file.substr(0, file.find('.')); }

PodGroups groups_of(const GroupTree& tree, const std::string& path) {
  PodGroups groups;
  groups.path = path;
  const std::string folder = group_folder(tree, "cpu", path);
  if (!is_folder(folder)) return groups;
  groups.all.push_back(path);
  add_below(folder, path, 1, groups.all);
  const bool is_v1 = tree.version == GroupVersion::kV1;
  for (const std::string& one : groups.all) {
    const std::string file = group_folder(tree, "cpu", one) + (is_v1 ? "/cpu.cfs_quota_us" : "/cpu.max");
    if (const auto quota = parsed(file, parse_amount)) groups.quotas[one] = *quota;
  }
  for (const std::string_view file : kAskedFiles)
    if (read_host_file(base::format("{}/{}", group_folder(tree, controller_of(file), path), file)).ok())
      groups.files.emplace(file);
  return groups;
}

}  // namespace

MachineReading read_machine(const ReadingRequest& request) {
  const auto& paths = request.paths;
  const GroupTree& tree = request.tree;
  MachineReading look;
  look.machine_ticks = parsed(paths.proc_stat, busy_ticks);
  look.memory = parsed(paths.meminfo, machine_memory);
  look.cpu_stall = parsed(paths.pressure + "/cpu", parse_pressure);
  look.memory_stall = parsed(paths.pressure + "/memory", parse_pressure);
  look.io_stall = parsed(paths.pressure + "/io", parse_pressure);
  look.pods = use_of(tree, pods_path(tree));
  // Our own group of all pods comes with the first of them.
  if (tree.driver == GroupDriver::kOwn && !is_folder(group_folder(tree, "memory", pods_path(tree)))) look.pods = {0, 0};
  look.cpu_manager_policy = cpu_manager_policy(text_of(paths.kubelet + "/cpu_manager_state").value_or(""));
  for (const PodFacts& pod : request.pods) {
    const auto path = pod_path(tree, pod.qos, pod.uid);
    if (!path || pod.ended) continue;
    if (request.full || pod.is_offline() || pod.deleting) look.of_pod[pod.uid] = use_of(tree, *path);
    if (request.stalls && tree.version == GroupVersion::kV2) look.stalls[pod.uid] = stalls_of(tree, *path, pod);
    if (!request.full) continue;
    if (PodGroups groups = groups_of(tree, *path); !groups.all.empty()) look.groups[pod.uid] = std::move(groups);
  }
  return look;
}

}  // namespace colocation
