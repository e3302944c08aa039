// The files of this machine that the agent reads and writes: small ones, bounded, and never through a link. They may be
// gone between two looks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "colocation/files/group_tree.h"

namespace colocation {

inline constexpr std::size_t kFileBytesMax = std::size_t{256} << 10;
inline constexpr std::size_t kGroupsMax = 1024;  // below one pod

// The places of things; a container sees those of its machine below /host.
struct HostPaths {
  std::string groups = "/sys/fs/cgroup";
  std::string proc_stat = "/proc/stat";
  std::string meminfo = "/proc/meminfo";
  std::string pressure = "/proc/pressure";  // a folder
  std::string kubelet = "/var/lib/kubelet";
  std::string proc = "/proc";
  std::string etc = "/etc";
  // The network is the one that the agent is in, that of its machine: folders of interfaces, and of tables.
  std::string interfaces = "/sys/class/net";
  std::string network = "/proc/net";
};
// By the variables of agent.md 2.1; `variable` gives the value of one, empty where it is not set.
HostPaths host_paths(const std::function<std::string(const std::string&)>& variable);

// Errors name the path: kNotFound, kForbidden, kTooLarge, kInvalid (no regular file), kUnavailable.
base::Result<std::string> read_host_file(const std::string& path);
// Writes into a file that exists already, in one piece.
base::Status write_host_file(const std::string& path, std::string_view content);
// The names of the folders in a folder, in order; empty where it cannot be read.
std::vector<std::string> folders_in(const std::string& path);
bool is_folder(const std::string& path);

// Version and driver of the groups here. `variable` as above: VOLCANO_TEST_CGROUP_VERSION and CGROUP_DRIVER come first.
GroupTree find_group_tree(const HostPaths& paths, const std::function<std::string(const std::string&)>& variable,
                          const std::string& kube_cgroup_root);

}  // namespace colocation
