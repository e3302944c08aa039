// Control groups of pods: which files hold which limit, for v1, v2 and the hybrid of both.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace node {

struct CgroupLayout {
  std::map<std::string, std::string> v1;  // controller -> mount point
  std::string v2;                         // mount point of the unified hierarchy, or empty
  std::string v2_controllers = {};        // those that it has, as it says

  // Without it the bytes that a pod reads and writes are not counted.
  bool has_v2_io() const { return unified() && v2_controllers.find("io") != std::string::npos; }
  bool has_hugetlb() const {
    return v1.contains("hugetlb") || (unified() && v2_controllers.find("hugetlb") != std::string::npos);
  }

  // In the hybrid the controllers are in v1, and v2 only groups processes.
  bool unified() const { return v1.empty() && !v2.empty(); }
};
// From the text of /proc/self/mountinfo.
CgroupLayout cgroup_layout(std::string_view mountinfo);

// Processes and threads of a pod at most: what one pod starts cannot keep others from starting anything.
inline constexpr int kPidsMax = 4096;

struct PodLimits {
  std::int64_t cpu_request_milli = 0;
  std::int64_t cpu_limit_milli = 0;     // 0: none
  std::int64_t memory_limit_bytes = 0;  // 0: none
};

struct FileWrite {
  std::string path;
  std::string content;
  bool where_there_is_one = false;  // kernels differ in having the file
  bool operator==(const FileWrite&) const = default;
};

// The folders to make and the files to write for a pod's group at `path` ("/volcano-x/podUID"). Pure.
struct CgroupPlan {
  std::vector<std::string> folders;
  std::vector<FileWrite> files;
};
CgroupPlan plan_pod_cgroup(const CgroupLayout& layout, const std::string& path, const PodLimits& limits);

// The top of v2 is a group like others if this machine is a container of another, and one that has processes can give
// no controllers on: they go to a group below it. Pure; `read` gives a file's text.
CgroupPlan plan_room_at_top(const CgroupLayout& layout, const std::function<std::string(const std::string&)>& read);
base::Status make_room_at_top(const CgroupLayout& layout);

// The kernel's values for processors.
std::int64_t cpu_shares(std::int64_t request_milli);
std::int64_t cpu_quota(std::int64_t limit_milli);  // of a period of 100 ms

// The writes that give a group other limits. The writes that raise come before the group's content changes, those that
// lower after it. `read` gives a file's text. Pure.
struct CgroupResize {
  std::vector<FileWrite> before;
  std::vector<FileWrite> after;
};
CgroupResize plan_cgroup_resize(const CgroupLayout& layout, const std::string& path, const PodLimits& limits,
                                const std::function<std::string(const std::string&)>& read);
base::Status write_cgroup(const std::vector<FileWrite>& files);
// Whether the group has a larger limit, or none.
bool lowers_memory(const CgroupLayout& layout, const std::string& path, std::int64_t limit_bytes);

base::Status make_pod_cgroup(const CgroupLayout& layout, const std::string& path, const PodLimits& limits);
bool has_cgroup(const CgroupLayout& layout, const std::string& path);
// Kills what runs in the group and below it, as far as it is in one look.
void kill_cgroup(const CgroupLayout& layout, const std::string& path);
// With everything below; kills what still runs there. Blocks for two seconds at most.
void remove_cgroup(const CgroupLayout& layout, const std::string& path);

}  // namespace node
