// A server that refuses for now and says for how long (Retry-After): the request is held for that long, and then asked
// again, which spares its caller the refusal. After some of them the caller gets it, after its pause, too: so that
// whatever asks the same again asks no earlier than the server wants.
//
// A lease is not held: its holder has to know in time that it is not renewed.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/time.h"
#include "client/client.h"

namespace client {

inline constexpr std::int64_t kRetryAfterSecondsMax = 30;     // whatever a server says
inline constexpr int kAskedAgainMax = 10;                     // so often is one request asked again
inline constexpr base::Duration kHeldMax = base::minutes(1);  // and no more once it was held for so long

// The pause that a refusal asks for; zero: none.
base::Duration asked_pause(const base::Error& refusal);
bool may_be_held(const Request& request);
// Whether what was refused with this had no effect.
bool is_not_carried_out(const base::Error& refusal);

}  // namespace client
