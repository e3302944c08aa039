// How does a program under a lease end?
#pragma once

#include <functional>
#include <memory>

#include "client/leader_election.h"
#include "rt/env.h"

namespace volcano_main {

// Gives the lease back where `election` leads, so that another need not wait for it to run out, calls `let_go` on the
// loop, and stops the loop. `writes` are those that have no answer yet: nothing more is written, and the lease is given
// back once they have one; after one and a half seconds it is left to run out. Not on the loop; `election` may be null.
void end_under_lease(rt::RealEnv& env, const std::unique_ptr<client::LeaderElection>& election,
                     const std::shared_ptr<const int>& writes, const std::function<void()>& let_go);

// For who has lost the lease: says so and ends. Another decides now, so what was sent and has not reached the server
// yet must not reach it later.
[[noreturn]] void end_without_lease();

}  // namespace volcano_main
