// The admission hooks of the API server of `volcano up`, in the order in which they are asked.
#pragma once

#include <vector>

#include "api/admission.h"
#include "main/host/flags/up_flags.h"
#include "node/machine/machine.h"

namespace volcano_main {

// `has_gateway`: pods are containers with a network of their own.
std::vector<api::AdmissionHook> machine_hooks(const UpOptions& options, const node::Options& node, bool has_gateway);

}  // namespace volcano_main
