// The last turns of a loop.
#include "main/host/lease_end.h"

#include <cstdlib>
#include <future>
#include <iostream>
#include <utility>

#include "rt/reset_at_close.h"

namespace volcano_main {
namespace {

constexpr base::Duration kQuietLook = base::milliseconds(20);
constexpr base::Duration kQuietMax = base::milliseconds(1500);

// Who takes the lease decides at once, and has to see what was written under it.
void when_quiet(rt::Env& env, const std::shared_ptr<const int>& writes, base::Duration until,
                std::function<void(bool quiet)> then) {
  if (*writes == 0) return then(true);
  if (env.uptime() >= until) return then(false);
  env.loop().after(kQuietLook, [&env, writes, until, then = std::move(then)]() mutable {
    when_quiet(env, writes, until, std::move(then));
  });
}

}  // namespace

void end_under_lease(rt::RealEnv& env, const std::unique_ptr<client::LeaderElection>& election,
                     const std::shared_ptr<const int>& writes, const std::function<void()>& let_go) {
  std::promise<void> stopped;
  env.loop().post([&] {
    const auto finish = [&] {
      let_go();
      stopped.set_value();
    };
    if (!election || !election->is_leader()) return finish();
    election->close_fence();
    when_quiet(env, writes, env.uptime() + kQuietMax, [&election, finish](bool quiet) {
      if (quiet) return election->release(finish);
      rt::reset_connections_at_close();
      finish();
    });
  });
  // A server that does not answer may be away: the lease runs out, and what was sent must not come after that.
  if (stopped.get_future().wait_for(std::chrono::seconds(3)) != std::future_status::ready)
    rt::reset_connections_at_close();
  env.stop();
}

void end_without_lease() {
  std::cerr << "leaderelection lost\n";
  rt::reset_connections_at_close();
  std::_Exit(1);
}

}  // namespace volcano_main
