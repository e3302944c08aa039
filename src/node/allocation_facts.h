// What was set aside for each pod, and what of it its containers have, as files: DATA/allocations/UID.json. They
// outlive the agent: a spec that changed meanwhile is a wish, not a fact.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "node/resize.h"

namespace node {

struct Allocation {
  std::string uid;
  ContainerAmounts set_aside;
  ContainerAmounts held;
  bool resizing = false;  // the pod's control group may have something else than both

  bool operator==(const Allocation&) const = default;
};

// All of them block.
base::Status write_allocation(const std::string& folder, const Allocation& allocation);
void erase_allocation(const std::string& folder, const std::string& uid);
// What cannot be read, or makes no sense, is left out: such pods have what their spec says.
std::vector<Allocation> read_allocations(const std::string& folder);

}  // namespace node
