// Measures what the machine and its pods use, now and then, on a thread of its own.
#pragma once

#include <memory>

#include "api/node_usage.h"
#include "node/machine/machine.h"

namespace node {

// The use of the pods that agents of `options.data_dir` started. Needs no running agent. Ends when it is destroyed.
std::unique_ptr<api::NodeUsageSource> make_usage_source(const Options& options);

}  // namespace node
