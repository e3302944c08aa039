// The requests that would fit what workloads are seen to use, a workload each: pods with one controller, or a pod
// alone. Bounded. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "api/json/json.h"
#include "base/time.h"
#include "colocation/policy/offer.h"

namespace colocation {

inline constexpr std::size_t kAdvisedMax =
    512;  // workloads; beyond them the one that was seen longest ago is forgotten

class Advice {
 public:
  void add(const std::string& workload, const NodeAmounts& used, const NodeAmounts& requested, base::Duration at);
  // A row for each workload that has been seen for ten minutes: processors that suffice in 95 of 100 looks, and a tenth
  // more than the most memory.
  api::Json rows() const;

 private:
  static constexpr std::size_t kSteps = 48;
  struct Seen {
    std::array<std::uint32_t, kSteps> cpu = {};
    std::uint32_t looks = 0;
    std::int64_t memory_peak = 0;
    NodeAmounts requested;
    base::Duration last;
  };

  std::map<std::string, Seen> seen_;
};

}  // namespace colocation
