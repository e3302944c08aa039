// The amounts of processor and memory that a container or a pod has from its specification. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "api/json/json.h"

namespace node {

// These are beyond what any machine has, and their sums and products stay far from the end of the numbers.
inline constexpr std::int64_t kCpuMilliMax = 1'000'000'000;
inline constexpr std::int64_t kMemoryBytesMax = std::int64_t{1} << 60;
// The value, at least 0 and at most `max`.
inline std::int64_t bounded_amount(std::int64_t value, std::int64_t max) {
  return std::clamp<std::int64_t>(value, 0, max);
}

struct PodAmounts {
  std::int64_t cpu_request_milli = 0;
  std::int64_t cpu_limit_milli = 0;     // 0: none
  std::int64_t memory_limit_bytes = 0;  // 0: none

  bool operator==(const PodAmounts&) const = default;
};

// The amounts of a container's `resources`.
PodAmounts container_amounts(const api::Json& resources);

}  // namespace node
