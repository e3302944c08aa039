// The places of control groups of pods: names for versions 1 and 2, the drivers of kubelets and their runtimes, and our
// own node agent. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace colocation {

enum class GroupVersion : std::uint8_t { kV1, kV2 };
enum class GroupDriver : std::uint8_t {
  kCgroupfs,  // of kubelets
  kSystemd,   // of kubelets
  kOwn,       // of `volcano up`: all pods below one group, whatever their class
};
enum class QosClass : std::uint8_t { kGuaranteed, kBurstable, kBestEffort };

struct GroupTree {
  GroupVersion version = GroupVersion::kV2;
  GroupDriver driver = GroupDriver::kCgroupfs;
  std::string root = "/sys/fs/cgroup";
  // The groups above kubepods, as the kubelet's cgroup root says; with our own driver the group of all pods itself.
  std::string above = {};
};

// Paths below the root, without the controller of version 1.
std::string class_path(const GroupTree& tree, QosClass qos);
std::string pods_path(const GroupTree& tree);  // of all pods
// Unset: the uid is not a name of a group.
std::optional<std::string> pod_path(const GroupTree& tree, QosClass qos, std::string_view uid);
// The name of the container's group for "containerd://ID" and its like. Unset: no id is there yet, or it is not a name
// of a group.
std::optional<std::string> container_group(const GroupTree& tree, std::string_view container_id);
// The folder of `path` for one controller ("cpu", "cpuacct", "memory"), which version 2 has all in one.
std::string group_folder(const GroupTree& tree, std::string_view controller, std::string_view path);

// Whether it is a part of a path and leads nowhere else: letters, digits, '-', '_', '.', and no leading dot.
bool is_group_name(std::string_view name);

}  // namespace colocation
