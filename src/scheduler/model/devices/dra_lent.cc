// Which devices come free with the pods that a plan evicts?
//
// A claim is left by evicted pods when nobody else has reserved it and no pod that stays, or is being placed, uses it.
// Its devices count as free for the rest of the plan; they are given for real once the pods are gone.
#include <algorithm>

#include "scheduler/model/devices/dra.h"

namespace scheduler {

bool ResourceClaims::is_left(const std::string& key) const {
  const ResourceClaim* claim = find_claim(key);
  if (claim == nullptr || allocation_of(*claim) == nullptr) return false;
  const auto leaves = [&](const std::string& uid) {
    return std::any_of(leavers_.begin(), leavers_.end(), [&](const auto& one) { return one.second.uid == uid; });
  };
  if (!std::all_of(claim->reserved_for.begin(), claim->reserved_for.end(), leaves)) return false;
  const auto promised = promises_.find(key);
  const bool is_used = !claim->reserved_for.empty() || promised != promises_.end();
  return is_used && std::all_of(claims_of_task_.begin(), claims_of_task_.end(), [&](const auto& placed) {
           const auto& [task, keys] = placed;
           return leavers_.contains(task) || std::find(keys.begin(), keys.end(), key) == keys.end();
         });
}

void ResourceClaims::settle_lent(const std::vector<std::string>& keys) {
  if (leavers_.empty() && lent_.empty()) return;
  for (const std::string& key : keys) {
    const bool is_lent = lent_.contains(key), leaves = is_left(key);
    const ResourceClaim* claim = find_claim(key);
    const Allocation* held = claim == nullptr ? nullptr : allocation_of(*claim);
    if (is_lent == leaves || held == nullptr) continue;
    taken_.use(*held, is_lent);
    if (leaves)
      lent_.insert(key);
    else
      lent_.erase(key);
  }
}

void ResourceClaims::lend(TaskId task, std::string uid, std::vector<std::string> keys) {
  const Leaver& leaver = leavers_[task.index] = {std::move(uid), std::move(keys)};
  settle_lent(leaver.claims);
}

void ResourceClaims::take_back(TaskId task) {
  const auto found = leavers_.find(task.index);
  if (found == leavers_.end()) return;
  const std::vector<std::string> claims = std::move(found->second.claims);
  leavers_.erase(found);
  settle_lent(claims);
}

ResourceClaims::LentAreTaken::LentAreTaken(ResourceClaims& claims, bool applies) : claims_(claims), applies_(applies) {
  use(true);
}

ResourceClaims::LentAreTaken::~LentAreTaken() { use(false); }

void ResourceClaims::LentAreTaken::use(bool add) {
  if (!applies_) return;
  for (const std::string& key : claims_.lent_)
    claims_.taken_.use(*claims_.allocation_of(*claims_.find_claim(key)), add);
}

}  // namespace scheduler
