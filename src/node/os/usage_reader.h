// The machine's counters at this moment: of control groups, or of processes where there are none.
#pragma once

#include <string>
#include <string_view>

#include "api/node_usage.h"
#include "node/os/cgroups.h"
#include "node/os/pod_folders.h"

namespace node {

// Reads the counters of one control group; false: there is no such group. `path` as in cgroups.h.
bool read_group(const CgroupLayout& layout, const std::string& path, api::Usage& out);
// From the texts of /proc/stat and /proc/meminfo. Pure.
api::Usage machine_usage(std::string_view stat, std::string_view meminfo, std::int64_t ticks_a_second);

class UsageReader {
 public:
  UsageReader(const std::string& data_dir, std::string node_name);
  // Blocks for as long as some files a container take.
  api::NodeUsage read() const;

 private:
  PodFolders folders_;
  CgroupLayout cgroups_;
  std::string cgroup_;  // of all pods
  std::string node_name_;
};

}  // namespace node
