// Drivers that register in a folder, as with a kubelet, and are called over their sockets.
#pragma once

#include <memory>

#include "base/metrics.h"
#include "node/dra/drivers.h"
#include "rt/env.h"

namespace node {

// `folder` is where they register. Everything on the loop of `env`. Into `metrics` their calls are counted; may be
// null.
std::unique_ptr<DraDrivers> make_driver_host(rt::Env& env, std::string folder, base::Metrics* metrics = nullptr);

}  // namespace node
