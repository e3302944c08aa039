// Which devices have claims, and what do claims consume of shared ones?
#include "scheduler/model/devices/taken_devices.h"

namespace scheduler {

const Quantities* TakenDevices::consumed(const DeviceName& device) const {
  auto found = shared_.find(device);
  return found == shared_.end() ? nullptr : &found->second.first;
}

// Another scheduler may have given the same device to another claim in the same moment.
void TakenDevices::count(const DeviceName& device, bool add) {
  if (add) {
    if (!alone_.insert(device).second) ++again_[device];
    return;
  }
  const auto again = again_.find(device);
  if (again == again_.end()) {
    alone_.erase(device);
  } else if (--again->second == 0) {
    again_.erase(again);
  }
}

void TakenDevices::use(const Allocation& allocation, bool add) {
  for (const DeviceGrant& grant : allocation.grants) {
    if (grant.admin_access) continue;
    if (grant.share_id.empty()) {
      count(grant.device, add);
      continue;
    }
    auto& [sums, users] = shared_[grant.device];
    users += add ? 1 : -1;
    for (const auto& [name, amount] : grant.consumed) {
      if (add)
        sums[name] += amount;
      else
        sums[name] -= amount;
    }
    if (users == 0) shared_.erase(grant.device);
  }
}

}  // namespace scheduler
