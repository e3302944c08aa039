// Does the loop of a program still turn?
#pragma once

#include <functional>

#include "base/time.h"
#include "rt/env.h"

namespace rt {

// The answer says, from any thread, whether something that was given to the loop has waited there for longer than
// `still_max`. It gives it something when it is asked, so who asks every few seconds knows. The environment outlives
// it.
std::function<bool()> loop_pulse(Env& env, base::Duration still_max);

}  // namespace rt
