// Which ResourceClaims does a pod use, and which is not there yet?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

// "namespace/name" of what a pod of this shape uses.
std::string claim_key(const Shape& shape, const ClaimUse& use);
// The key of the first claim that does not exist; empty where the pod's status does not name it yet. Unset: all are
// there.
std::optional<std::string> missing_claim(const Model& model, const Task& task);
// Some pod of the group waits for a ResourceClaim that is not there.
bool lacks_claims(const Model& model, const Job& job);
// A plan begins to evict the pod, or does so no longer: its claims' devices are lent, or taken back.
void lend_claims(Model& model, const Task& task);
// The claims of the pod, each once.
std::vector<std::string> claims_used_by(const Shape& shape);

}  // namespace scheduler
