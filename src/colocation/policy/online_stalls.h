// Whether online pods stand still for lack of processors or disks, and whether offline pods are the cause: what the
// kernel reports of each group of version 2 (pressure stall information). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "colocation/policy/pod_facts.h"

namespace colocation {

// Counters of a pod's group since it was made; unset: the kernel has no such file.
struct GroupStalls {
  std::optional<std::int64_t> cpu_us, io_us;  // in which all tasks that could run stood still
  std::int64_t throttled_us = 0;              // of it at most: by limits of the pod itself
  std::optional<std::int64_t> io_bytes;       // read and written
};

// The share of a time from which on standing still counts, as in the triggers for the whole machine.
inline constexpr std::int64_t kStallPercent = 15;
bool is_stalled(std::int64_t stall_us, base::Duration span);

struct OnlineStalls {
  bool cpu = false;
  bool io = false;                               // and offline pods move at least half of the bytes
  std::map<std::string, std::int64_t> io_bytes;  // of offline pods that moved any, by uid
};
OnlineStalls online_stalls(const std::map<std::string, GroupStalls>& before,
                           const std::map<std::string, GroupStalls>& now, const std::map<std::string, PodFacts>& pods,
                           base::Duration span);

}  // namespace colocation
