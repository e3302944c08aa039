// Differences between two readings of the groups.
#include "colocation/policy/online_stalls.h"

#include <algorithm>

#include "base/saturate.h"

namespace colocation {

namespace {

// 0 where either is unknown, or the group was made anew in between.
std::int64_t growth(const std::optional<std::int64_t>& before, const std::optional<std::int64_t>& now) {
  return before && now ? std::max<std::int64_t>(0, *now - *before) : 0;
}

}  // namespace

bool is_stalled(std::int64_t stall_us, base::Duration span) {
  return span.ns > 0 && static_cast<double>(stall_us) * 1000.0 * 100.0 >= static_cast<double>(span.ns) * kStallPercent;
}

OnlineStalls online_stalls(const std::map<std::string, GroupStalls>& before,
                           const std::map<std::string, GroupStalls>& now, const std::map<std::string, PodFacts>& pods,
                           base::Duration span) {
  OnlineStalls found;
  bool waits_for_disks = false;
  std::int64_t all = 0, offline = 0;
  for (const auto& [uid, after] : now) {
    const auto pod = pods.find(uid);
    const auto earlier = before.find(uid);
    if (pod == pods.end() || earlier == before.end()) continue;
    const std::int64_t bytes = growth(earlier->second.io_bytes, after.io_bytes);
    all = base::saturating_add(all, bytes);
    if (pod->second.is_offline()) {
      offline = base::saturating_add(offline, bytes);
      if (bytes > 0) found.io_bytes[uid] = bytes;
      continue;
    }
    const std::int64_t throttled = std::max<std::int64_t>(0, after.throttled_us - earlier->second.throttled_us);
    found.cpu = found.cpu || is_stalled(growth(earlier->second.cpu_us, after.cpu_us) - throttled, span);
    waits_for_disks = waits_for_disks || is_stalled(growth(earlier->second.io_us, after.io_us), span);
  }
  // A pod that writes much waits for its own writes: no offline pod has to go for that.
  found.io = waits_for_disks && offline > 0 && offline >= all - offline;
  return found;
}

}  // namespace colocation
