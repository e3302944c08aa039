// The devices that a resource claim asks for, as far as they are known before devices are chosen for it.
#pragma once

#include <map>
#include <string>

#include "scheduler/model/devices/dra.h"

namespace scheduler {

struct DeviceDemand {
  double count = 0;
  std::map<std::string, double, std::less<>> capacity;  // by dimension, in whole units
};
using DeviceDemands = std::map<std::string, DeviceDemand, std::less<>>;  // by device class

// Requests with alternatives and for "all" devices have no number beforehand, and are not counted.
void add_claim(const ResourceClaim& claim, DeviceDemands& out);

}  // namespace scheduler
