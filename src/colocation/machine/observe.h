// One look at the machine: counters of /proc, the groups of pods, and how tasks stood still. Blocks for as long as some
// files a pod take; a file that is gone or makes no sense leaves its fact out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "colocation/files/host_files.h"
#include "colocation/files/kernel_text.h"
#include "colocation/policy/group_values.h"
#include "colocation/policy/online_stalls.h"
#include "colocation/policy/pod_facts.h"

namespace colocation {

struct GroupUse {
  std::optional<std::int64_t> cpu_ns;  // since the group was made
  std::optional<std::int64_t> memory_bytes;
};

struct MachineReading {
  std::optional<std::int64_t> machine_ticks;
  std::optional<MachineMemory> memory;
  std::optional<Pressure> cpu_stall, memory_stall, io_stall;
  GroupUse pods;                              // of all pods together
  std::map<std::string, GroupUse> of_pod;     // by uid
  std::map<std::string, PodGroups> groups;    // by uid; only of a full look
  std::map<std::string, GroupStalls> stalls;  // by uid; of version 2, where the request asks for them
  std::string cpu_manager_policy;             // empty: none
};

struct ReadingRequest {
  HostPaths paths;
  GroupTree tree;
  std::vector<PodFacts> pods;
  bool full = false;    // with the groups of each pod
  bool stalls = false;  // with how each pod stood still
};
MachineReading read_machine(const ReadingRequest& request);

}  // namespace colocation
