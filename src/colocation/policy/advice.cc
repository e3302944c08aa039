// Counting uses by steps that grow.
#include "colocation/policy/advice.h"

#include <algorithm>

#include "base/saturate.h"

namespace colocation {

using api::Json;

namespace {

constexpr std::uint32_t kLooksMin = 60;  // ten seconds apart
constexpr std::int64_t kFirstStep = 10;  // thousandths of a processor

// The upper end of a step, each a fourth above the one before.
std::int64_t step_end(std::size_t step) {
  std::int64_t end = kFirstStep;
  for (std::size_t at = 0; at < step; ++at) end += end / 4 + 1;
  return end;
}

}  // namespace

void Advice::add(const std::string& workload, const NodeAmounts& used, const NodeAmounts& requested,
                 base::Duration at) {
  if (!seen_.contains(workload) && seen_.size() >= kAdvisedMax)
    seen_.erase(std::ranges::min_element(seen_, {}, [](const auto& one) { return one.second.last; }));
  Seen& one = seen_[workload];
  std::size_t step = 0;
  while (step + 1 < kSteps && step_end(step) < used.cpu_milli) ++step;
  ++one.cpu[step];
  ++one.looks;
  one.memory_peak = std::max(one.memory_peak, used.memory_bytes);
  one.requested = requested;
  one.last = at;
}

Json Advice::rows() const {
  Json rows = Json::array();
  for (const auto& [workload, one] : seen_) {
    if (one.looks < kLooksMin) continue;
    std::uint64_t below = 0;
    std::size_t step = 0;
    for (; step + 1 < kSteps; ++step) {
      below += one.cpu[step];
      if (below * 100 >= std::uint64_t{one.looks} * 95) break;
    }
    rows.push_back(Json::object({{"workload", workload},
                                 {"requestedCpuMilli", one.requested.cpu_milli},
                                 {"advisedCpuMilli", step_end(step)},
                                 {"requestedMemoryBytes", one.requested.memory_bytes},
                                 {"advisedMemoryBytes", base::saturating_add(one.memory_peak, one.memory_peak / 10)}}));
  }
  return rows;
}

}  // namespace colocation
