// Messages that were read lately, found by their bytes. Pods of one gang have equal owners, tolerations and resources:
// one value in memory stands for all of them, and is built once. (json/recent_values.h does the same for JSON.)
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "api/json/json.h"

namespace api {

// For one thread. Holds at most kSlots values of at most kBytesMax bytes each.
class RecentMessages {
 public:
  // `what` says how the bytes are read. Null: not kept. Valid until the next keep().
  const Json* find(const void* what, std::string_view bytes) const {
    if (!fits(bytes)) return nullptr;
    const Slot& slot = slots_[slot_of(what, bytes)];
    return slot.what == what && slot.bytes == bytes ? &slot.value : nullptr;
  }
  // Replaces one that has its place.
  void keep(const void* what, std::string_view bytes, const Json& value) {
    if (fits(bytes)) slots_[slot_of(what, bytes)] = {what, std::string(bytes), value};
  }

 private:
  static constexpr std::size_t kSlots = 512, kBytesMin = 12, kBytesMax = 2048;

  struct Slot {
    const void* what = nullptr;
    std::string bytes = {};
    Json value = {};
  };
  static bool fits(std::string_view bytes) { return bytes.size() >= kBytesMin && bytes.size() <= kBytesMax; }
  static std::size_t slot_of(const void* what, std::string_view bytes) {
    return (std::hash<std::string_view>()(bytes) ^ std::hash<const void*>()(what)) % kSlots;
  }

  std::array<Slot, kSlots> slots_;
};

}  // namespace api
