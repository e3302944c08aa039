// Which ResourceClaim of a pod is not there yet?
#pragma once

#include <optional>
#include <string>

#include "scheduler/model/model.h"

namespace scheduler {

// "namespace/name" of what a pod of this shape uses.
std::string claim_key(const Shape& shape, const ClaimUse& use);
// The key of the first claim that does not exist; empty where the pod's status does not name it yet. Unset: all are
// there.
std::optional<std::string> missing_claim(const Model& model, const Task& task);

}  // namespace scheduler
