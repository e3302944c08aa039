// Taking part in an election, and the last turns of a loop.
#include "main/host/base/lease.h"

#include <unistd.h>

#include <cstdlib>
#include <future>
#include <iostream>
#include <utility>

#include "base/format.h"
#include "client/http/http_client.h"
#include "main/host/base/side_server.h"
#include "rt/http/reset_at_close.h"

namespace volcano_main {
namespace {

constexpr base::Duration kQuietLook = base::milliseconds(20);
constexpr base::Duration kQuietMax = base::milliseconds(1500);

std::string host_name() {
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  return host;
}

// The next leader decides at once, and has to see what was written under the lease.
void when_quiet(rt::Env& env, const std::shared_ptr<const int>& writes, base::Duration until,
                std::function<void(bool quiet)> then) {
  if (*writes == 0) return then(true);
  if (env.uptime() >= until) return then(false);
  env.loop().after(kQuietLook, [&env, writes, until, then = std::move(then)]() mutable {
    when_quiet(env, writes, until, std::move(then));
  });
}

}  // namespace

base::Result<std::unique_ptr<client::Leadership>> lead(rt::Env& env, const std::string& name,
                                                       const client::ServerAccess& access,
                                                       client::LeaderElectionOptions options) {
  options.identity = base::format("{}_{}", host_name(), env.random().uuid());
  const auto make_client = [&](rt::Env& own) {
    return client::make_http_client({.access = access,
                                     .user_agent = name,
                                     .field_manager = name,
                                     .timeout = client::lease_request_time(options.renew_deadline)},
                                    own);
  };
  return client::Leadership::make(env, make_client, options, kLoopStillMax);
}

void end_under_lease(rt::RealEnv& env, const std::unique_ptr<client::Leadership>& leadership,
                     const std::shared_ptr<const int>& writes, const std::function<void()>& let_go) {
  std::promise<void> stopped;
  env.loop().post([&] {
    const auto finish = [&] {
      let_go();
      stopped.set_value();
    };
    if (!leadership) return finish();
    // A candidate is none any more: it must not come to lead while this goes.
    if (!leadership->is_leader()) return leadership->release(finish);
    leadership->close_fence();
    when_quiet(env, writes, env.uptime() + kQuietMax, [&leadership, finish](bool quiet) {
      if (quiet) return leadership->release(finish);
      rt::reset_connections_at_close();
      finish();
    });
  });
  // A server that does not answer may be away: the lease runs out, and what was sent must not come after that.
  if (stopped.get_future().wait_for(std::chrono::seconds(3)) != std::future_status::ready)
    rt::reset_connections_at_close();
  env.stop();
}

std::string pod_namespace() {
  const char* ns = std::getenv("MY_POD_NAMESPACE");
  return ns == nullptr || *ns == 0 ? "kubeflow" : ns;
}

void end_without_lease() {
  std::cerr << "leaderelection lost\n";
  rt::reset_connections_at_close();
  std::_Exit(1);
}

}  // namespace volcano_main
