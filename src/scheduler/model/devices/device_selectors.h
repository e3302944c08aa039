// The selectors of claims and classes, and which devices they choose.
//
// Equal texts are one selector, read once. An answer about a device is remembered until the device goes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "scheduler/model/devices/device.h"

namespace api::cel {
class Expression;
class Patterns;
}  // namespace api::cel

namespace scheduler {

// Texts of selectors are users': each time so many new ones have come, those that nothing has any more go.
inline constexpr std::uint32_t kSelectorsKept = 4096;

struct DeviceSelector {
  std::uint32_t id = 0;                                 // equal texts, equal ids
  std::shared_ptr<const api::cel::Expression> program;  // null: the text cannot be read; its count tells who has it
  std::string problem;
};

// For a claim or class whose selectors take too long to read: it is given no device, whichever of its selectors were
// read.
DeviceSelector unreadable_selector();

class DeviceSelectors {
 public:
  // `patterns`: of all selectors of the claim or class. Once they are full, the rest is not read.
  std::vector<DeviceSelector> read(const api::Json& list, api::cel::Patterns& patterns);
  void drop_unused();
  // 1: chosen, 0: not, -1: the selector failed with `problem`; nothing where it would take more than `cost_left`.
  // Remembered per selector and device: what is known already costs nothing.
  std::optional<int> selects(const DeviceSelector& selector, const Device& device, std::uint64_t& cost_left,
                             std::string& problem) const;
  // Devices beside these are gone.
  void forget_all_but(const std::map<std::string, ResourceSlice, std::less<>>& slices);
  const std::map<std::string, DeviceSelector, std::less<>>& by_text() const { return by_text_; }

 private:
  DeviceSelector selector_for(const api::Json& object, api::cel::Patterns& patterns);

  std::uint32_t next_ = 0;
  std::map<std::string, DeviceSelector, std::less<>> by_text_;
  mutable std::map<std::pair<std::uint32_t, const Device*>, std::pair<int, std::string>> verdicts_;
};

}  // namespace scheduler
