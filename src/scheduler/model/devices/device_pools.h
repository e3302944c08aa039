// Which devices exist for resource claims?
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "scheduler/model/devices/device.h"

namespace scheduler {

// A pool whose devices are not given: some of its slices are missing, or its driver made a mistake.
struct UnreadyPool {
  std::string name;  // with the driver's before it
  bool names_device_twice = false;
  std::vector<const Device*> devices = {};
};

class DevicePools {
 public:
  using Slices = std::map<std::string, ResourceSlice, std::less<>>;

  void set_slice(const api::Json& object, Symbols& symbols);
  void remove_slice(std::string_view name);
  const Slices& slices() const { return slices_; }

  // Devices by driver, pool, slice and place in it; of complete pools only.
  const std::vector<const Device*>& devices() const { return devices_; }
  const std::vector<UnreadyPool>& unready() const { return unready_; }
  const std::map<std::string, Quantities, std::less<>>* counters_of(const DeviceName& device) const;

 private:
  void rebuild();

  Slices slices_;
  std::vector<const Device*> devices_;
  std::vector<UnreadyPool> unready_;
  std::map<std::pair<std::string, std::string>, std::map<std::string, Quantities, std::less<>>> counters_;
};

}  // namespace scheduler
