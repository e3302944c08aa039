// Which devices exist for resource claims?
#include "scheduler/model/devices/device_pools.h"

#include <cstdint>
#include <set>

#include "api/meta/resource.h"

namespace scheduler {
namespace {

bool names_device_twice(const std::vector<const ResourceSlice*>& slices) {
  std::set<std::string_view> names;
  for (const ResourceSlice* slice : slices) {
    for (const Device& device : slice->devices) {
      if (!names.insert(device.name.device).second) return true;
    }
  }
  return false;
}

}  // namespace

void DevicePools::set_slice(const api::Json& object, Symbols& symbols) {
  slices_.insert_or_assign(std::string(api::name_of(object)), slice_from(object, symbols));
  rebuild();
}

void DevicePools::remove_slice(std::string_view name) {
  if (auto found = slices_.find(name); found != slices_.end()) slices_.erase(found);
  rebuild();
}

const std::map<std::string, Quantities, std::less<>>* DevicePools::counters_of(const DeviceName& device) const {
  auto found = counters_.find({device.driver, device.pool});
  return found == counters_.end() ? nullptr : &found->second;
}

// Only the slices of a pool's newest generation count, and only once all of them are there.
void DevicePools::rebuild() {
  struct Pool {
    std::int64_t generation = -1;
    std::int64_t slices = 0;
    std::vector<const ResourceSlice*> members;
  };
  std::map<std::pair<std::string, std::string>, Pool> pools;
  for (const auto& [name, slice] : slices_) {
    Pool& pool = pools[{slice.driver, slice.pool}];
    if (slice.generation < pool.generation) continue;
    if (slice.generation > pool.generation) pool = {slice.generation, slice.slices, {}};
    pool.members.push_back(&slice);
  }
  devices_.clear();
  unready_.clear();
  counters_.clear();
  for (const auto& [key, pool] : pools) {
    const bool is_whole = static_cast<std::int64_t>(pool.members.size()) == pool.slices;
    const bool is_wrong = is_whole && names_device_twice(pool.members);
    const bool is_ready = is_whole && !is_wrong;
    if (!is_ready) unready_.push_back({.name = key.first + "/" + key.second, .names_device_twice = is_wrong});
    std::vector<const Device*>& devices = is_ready ? devices_ : unready_.back().devices;
    for (const ResourceSlice* slice : pool.members) {
      for (const Device& device : slice->devices) devices.push_back(&device);
      if (is_ready) counters_[key].insert(slice->counters.begin(), slice->counters.end());
    }
  }
}

}  // namespace scheduler
