// Which refusals ask for a pause, and how long one may be.
#include "client/http/retry_after.h"

#include <algorithm>

#include "client/http/wire.h"

namespace client {

using base::Code;

base::Duration asked_pause(const base::Error& refusal) {
  const bool is_passing = refusal.code == Code::kTooManyRequests || refusal.code == Code::kUnavailable ||
                          refusal.code == Code::kTimeout || refusal.code == Code::kInternal;
  if (!is_passing) return {};
  return base::seconds(std::clamp<std::int64_t>(refusal.retry_after_seconds, 0, kRetryAfterSecondsMax));
}

bool may_be_held(const Request& request) { return rank_of(request) != 0; }

// A proxy may have given the others in the place of a server that went on.
bool is_not_carried_out(const base::Error& refusal) { return refusal.code == Code::kTooManyRequests; }

}  // namespace client
