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
  struct Slot {
    const void* what = nullptr;
    std::string bytes = {};
    Json value = {};

    bool holds(const void* how, std::string_view text) const { return what == how && bytes == text; }
  };

  // The place of these bytes, whoever has it now; null: they are not kept. `what` says how the bytes are read.
  Slot* place(const void* what, std::string_view bytes) {
    return fits(bytes) ? &slots_[slot_of(what, bytes)] : nullptr;
  }

 private:
  static constexpr std::size_t kSlots = 512, kBytesMin = 12, kBytesMax = 2048;

  static bool fits(std::string_view bytes) { return bytes.size() >= kBytesMin && bytes.size() <= kBytesMax; }
  static std::size_t slot_of(const void* what, std::string_view bytes) {
    return (std::hash<std::string_view>()(bytes) ^ std::hash<const void*>()(what)) % kSlots;
  }

  std::array<Slot, kSlots> slots_;
};

}  // namespace api
