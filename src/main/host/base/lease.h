// How does a program act under a lease, and how does it end?
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/election/leadership.h"
#include "client/http/kubeconfig.h"
#include "rt/env.h"

namespace volcano_main {

// A candidate for the lease of `options`, as "<host>_<uuid>". The program `name` talks to the server of `access`; `env`
// has its loop. On the loop.
base::Result<std::unique_ptr<client::Leadership>> lead(rt::Env& env, const std::string& name,
                                                       const client::ServerAccess& access,
                                                       client::LeaderElectionOptions options);

// Gives the lease back where `leadership` leads, so that another need not wait for it to run out, calls `let_go` on the
// loop, and stops the loop. `writes` are those that have no answer yet: nothing more is written, and the lease is given
// back once they have one; after one and a half seconds it is left to run out. Not on the loop; `leadership` may be
// null.
void end_under_lease(rt::RealEnv& env, const std::unique_ptr<client::Leadership>& leadership,
                     const std::shared_ptr<const int>& writes, const std::function<void()>& let_go);

// The namespace of the pod, as the manifests say it in MY_POD_NAMESPACE; else "kubeflow", where those that need it are
// installed by default.
std::string pod_namespace();

// For who has lost the lease: says so and ends. Any thread. Another decides now, so what was sent and has not reached
// the server yet must not reach it later.
[[noreturn]] void end_without_lease();

}  // namespace volcano_main
