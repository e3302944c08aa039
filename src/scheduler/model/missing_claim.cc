// Which ResourceClaims does a pod use, and which is not there yet?
#include "scheduler/model/missing_claim.h"

#include <algorithm>

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

bool lacks_claims(const Model& model, const Job& job) {
  return std::any_of(job.tasks.begin(), job.tasks.end(), [&](TaskId id) {
    const Task& task = model.task(id);
    return task.status == TaskStatus::kPending && missing_claim(model, task).has_value();
  });
}

std::vector<std::string> claims_used_by(const Shape& shape) {
  std::vector<std::string> out;
  for (const ClaimUse& use : shape.claims) {
    if (!use.claim.empty()) out.push_back(claim_key(shape, use));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void lend_claims(Model& model, const Task& task) {
  const Shape& shape = model.shape_of(task);
  if (shape.claims.empty() || !model.claims.enabled) return;
  if (task.status == TaskStatus::kEvicting)
    model.claims.lend(task.id, model.text(task.id).uid.str(), claims_used_by(shape));
  else
    model.claims.take_back(task.id);
}

}  // namespace scheduler
