// Drivers that register in a folder, as with a kubelet, and are called over their sockets.
#pragma once

#include <memory>

#include "node/dra/drivers.h"
#include "rt/env.h"

namespace node {

// `folder` is where they register. Everything on the loop of `env`.
std::unique_ptr<DraDrivers> make_driver_host(rt::Env& env, std::string folder);

}  // namespace node
