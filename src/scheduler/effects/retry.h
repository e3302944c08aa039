// When is a request that failed made again? The one policy for everything that the scheduler writes.
#pragma once

#include <optional>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"

namespace scheduler {

// The server may be able to do it a little later.
bool is_passing(base::Code code);
// The object is gone, or another one now.
bool is_overtaken(base::Code code);

enum class Retry {
  kNever,          // what became of it is looked up instead
  kPassing,        // a dozen times while the trouble passes, each pause twice the one before
  kUntilAnswered,  // for as long as it takes: the model is wrong until then
  kInsist,         // for a minute, whatever the error
  kForever,        // each second for that minute, and every ten seconds after it
};

// The pause before the next try, after `tries` of them failed; unset: it is not tried again.
std::optional<base::Duration> retry_after(Retry policy, base::Code code, int tries, base::Random& random);

// A claim that others write too is read again after a conflict, so often.
inline constexpr int kConflictsMax = 5;
// When it is looked whether a volume is bound: after this, and after each look twice as late as after the one before. A
// thousand pods may wait half a minute for theirs.
inline constexpr base::Duration kVolumeLookFirst = base::milliseconds(100);
inline constexpr base::Duration kVolumeLookMax = base::seconds(3);
// People hear of a volume that is waited for after so many looks, a second and a half after the first.
inline constexpr int kVolumeLooksUntold = 4;
// A status that is refused for good is said again after this: it would be refused again at once.
inline constexpr base::Duration kLostPause = base::seconds(5);
// A binding or eviction that is refused is decided again after this, which is the period of Volcano's cycles: it would
// be refused again at once.
inline constexpr base::Duration kRefusedPause = base::seconds(1);
// Counts of one object are written at most so often, which is the period of Volcano's cycles.
inline constexpr base::Duration kCountsPeriod = base::seconds(1);
// Counts that begin now are written after this: a pod that is bound starts soon, and that is said with it.
inline constexpr base::Duration kCountsGather = base::milliseconds(500);
// And this is how long it is not said that pods are about to be bound, or to start.
inline constexpr base::Duration kBindingsGather = base::seconds(3);
// The same of a group that was made for pods without one: who asks looks at the pods. Images take minutes to pull, a
// busy cluster starts pods minutes after they are bound, and each of these groups would cost one write more.
inline constexpr base::Duration kMadeGroupGather = base::minutes(5);

}  // namespace scheduler
