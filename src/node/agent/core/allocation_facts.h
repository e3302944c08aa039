// The amounts set aside for each pod, and those that its containers have, as files: DATA/allocations/UID.json. They
// outlive the agent: a spec that changed meanwhile is a wish, not a fact.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/pod/resize.h"

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
// The file of one pod, whose containers start on several threads at once: what was decided last stays, whoever writes
// first.
class AllocationFile {
 public:
  // The place of a decision among those about this pod.
  std::uint64_t decide() { return ++decided_; }
  base::Status write(const std::string& folder, const Allocation& allocation, std::uint64_t decided);

 private:
  std::atomic<std::uint64_t> decided_ = 0;
  std::mutex mutex_;
  std::uint64_t written_ = 0;
};
void erase_allocation(const std::string& folder, const std::string& uid);
// A file that cannot be read, or makes no sense, is left out: such pods have what their spec says.
std::vector<Allocation> read_allocations(const std::string& folder);

}  // namespace node
