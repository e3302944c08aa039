// The devices that a resource claim asks for, as far as they are known before devices are chosen for it.
#include "scheduler/model/devices/claim_demand.h"

namespace scheduler {

void add_claim(const ResourceClaim& claim, DeviceDemands& out) {
  for (const DeviceRequest& request : claim.requests) {
    if (request.wishes.size() != 1 || request.wishes[0].all || request.wishes[0].device_class.empty()) continue;
    const DeviceWish& wish = request.wishes[0];
    if (wish.name != request.name) continue;
    DeviceDemand& demand = out[wish.device_class];
    demand.count += static_cast<double>(wish.count);
    for (const auto& [name, amount] : wish.capacity)
      demand.capacity[name] += amount.as_double() * static_cast<double>(wish.count);
  }
}

}  // namespace scheduler
