// The values that the control groups of pods are to have (agent.md 5 and 8). Pure: from what pods ask for and what
// their groups are seen to have.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "colocation/files/group_tree.h"
#include "colocation/policy/config.h"
#include "colocation/policy/features.h"
#include "colocation/policy/pod_facts.h"

namespace colocation {

// The groups of one pod as they were seen.
struct PodGroups {
  std::string path;  // of the pod's own, below the root
  // The pod's own group first, then every one below it.
  std::vector<std::string> all;
  std::map<std::string, std::int64_t> quotas;  // by path, in microseconds of a period; kUnlimited: none
  std::set<std::string> files;                 // those of kAskedFiles that the pod's own group has
};
// Files that kernels differ in having.
inline constexpr std::string_view kAskedFiles[] = {"cpu.qos_level", "cpu.idle",         "cpu.cfs_burst_us",
                                                   "cpu.max.burst", "memory.qos_level", "memory.high"};

struct GroupValue {
  Feature feature = Feature::kResources;
  std::string controller;  // whose hierarchy of version 1 has the file
  std::string path;        // of the group, below the root
  std::string file;
  std::string value;
  // A file of the same group that the kernel resets when this value is taken back; empty: none.
  std::string companion = {};

  bool operator==(const GroupValue&) const = default;
};

struct GroupValues {
  std::vector<GroupValue> values;     // in the order in which they are written
  std::vector<std::string> problems;  // facts that kept a value from being known
};

// COMPAT(colocation-plain-kernel): a kernel without cpu.qos_level gets cpu.idle, or else the smallest weight, for
// offline pods.
void add_cpu_qos(const GroupTree& tree, const PodFacts& pod, const PodGroups& groups, GroupValues& desired);
void add_cpu_burst(const GroupTree& tree, const PodFacts& pod, const PodGroups& groups, GroupValues& desired);
void add_memory_qos(const PodFacts& pod, const PodGroups& groups, GroupValues& desired);
// The annotation is kept to the rules of a ColocationConfiguration; what is wrong with it is a problem.
void add_memory_qos_v2(const GroupTree& tree, const PodFacts& pod, const PodGroups& groups, GroupValues& desired);
void add_resources(const GroupTree& tree, const PodFacts& pod, const PodGroups& groups, GroupValues& desired);

// All values of one pod that the active features want, each file once.
GroupValues values_of_pod(const GroupTree& tree, const SupportedFeatures& supported, const Config& config,
                          const PodFacts& pod, const PodGroups& groups);

// Whether a file that has `present` has `value` already: the kernel writes amounts in its own way, and memory in pages.
bool has_value(std::string_view file, std::string_view present, std::string_view value);

// The quota of all BestEffort pods (agent.md 8), in thousandths of a processor.
struct ThrottleState {
  std::optional<std::int64_t> last_milli;
};
// Unset: the quota stays as it is.
std::optional<std::int64_t> next_throttle(const Config& config, std::int64_t allocatable_milli, std::int64_t used_milli,
                                          ThrottleState& state);
GroupValue throttle_value(const GroupTree& tree, std::int64_t milli);

}  // namespace colocation
