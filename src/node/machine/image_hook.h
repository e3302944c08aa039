// A warning for who makes a pod of an image that is not here, where the host's files would stand in for it.
#pragma once

#include "api/admission.h"
#include "node/machine/machine.h"

namespace node {

// The hook judges pods that people make: those of controllers have an event. Any thread, several at a time.
api::AdmissionHook image_hook(const Options& options);
// The warnings themselves. Pure but for what `is_here` asks.
std::vector<std::string> image_warnings(const api::Json& pod, const std::function<bool(const std::string&)>& is_here);

}  // namespace node
