// Which ResourceClaim of a pod is not there yet?
#include "scheduler/model/missing_claim.h"

namespace scheduler {

std::string claim_key(const Shape& shape, const ClaimUse& use) { return shape.ns + "/" + use.claim; }

std::optional<std::string> missing_claim(const Model& model, const Task& task) {
  const Shape& shape = model.shape_of(task);
  for (const ClaimUse& use : shape.claims) {
    if (use.claim.empty()) return std::string();
    std::string key = claim_key(shape, use);
    if (model.claims.find_claim(key) == nullptr) return key;
  }
  return std::nullopt;
}

}  // namespace scheduler
