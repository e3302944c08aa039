// The devices that a resource claim asks for, as far as they are known before devices are chosen for it.
#include "scheduler/model/devices/claim_demand.h"

namespace scheduler {

void add_claim(const ResourceClaim& claim, DeviceDemands& out) {
  for (const DeviceRequest& request : claim.requests) {
    if (request.alternatives.size() != 1 || request.alternatives[0].all || request.alternatives[0].device_class.empty())
      continue;
    const DeviceAlternative& alternative = request.alternatives[0];
    if (alternative.name != request.name) continue;
    DeviceDemand& demand = out[alternative.device_class];
    demand.count += static_cast<double>(alternative.count);
    for (const auto& [name, amount] : alternative.capacity)
      demand.capacity[name] += amount.as_double() * static_cast<double>(alternative.count);
  }
}

}  // namespace scheduler
