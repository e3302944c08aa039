// When is a request that failed made again?
#include "scheduler/effects/retry.h"

#include <algorithm>

namespace scheduler {
namespace {

constexpr int kPassingTriesMax = 12;
constexpr std::int64_t kPassingFirstMs = 20;
constexpr std::int64_t kPassingMaxMs = 5'000;
constexpr std::int64_t kAnswerMs = 500;
constexpr int kInsistTriesMax = 60;
constexpr std::int64_t kInsistMs = 1'000;
constexpr std::int64_t kForeverMs = 10'000;
constexpr std::uint64_t kInsistJitterMs = 100;

}  // namespace

bool is_passing(base::Code code) {
  return code == base::Code::kTimeout || code == base::Code::kUnavailable || code == base::Code::kTooManyRequests ||
         code == base::Code::kInternal;
}

bool is_overtaken(base::Code code) { return code == base::Code::kNotFound || code == base::Code::kConflict; }

std::optional<base::Duration> retry_after(Retry policy, base::Code code, int tries, base::Random& random) {
  switch (policy) {
    case Retry::kNever: break;
    case Retry::kPassing:
      if (!is_passing(code) || tries >= kPassingTriesMax) break;
      return base::milliseconds(std::min(kPassingFirstMs << tries, kPassingMaxMs));
    case Retry::kUntilAnswered: return base::milliseconds(kAnswerMs);
    case Retry::kInsist:
      if (tries >= kInsistTriesMax) break;
      return base::milliseconds(kInsistMs + static_cast<std::int64_t>(random.below(kInsistJitterMs)));
    case Retry::kForever:
      return base::milliseconds((tries < kInsistTriesMax ? kInsistMs : kForeverMs) +
                                static_cast<std::int64_t>(random.below(kInsistJitterMs)));
  }
  return std::nullopt;
}

}  // namespace scheduler
