// Messages that were read lately, found by their bytes. Pods of one gang have equal owners, tolerations and resources:
// one value in memory stands for all of them, and is built once. (json/recent_values.h does the same for JSON.)
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "api/json/json.h"

namespace api {

// For one thread. Holds at most kSlots values of at most kBytesMax bytes each.
class RecentMessages {
 public:
  // How bytes are read: as what, and which of it.
  struct Way {
    const void* what = nullptr;
    std::uint64_t only = 0;  // the number of a projection; 0: whole
    bool operator==(const Way&) const = default;
  };
  struct Slot {
    Way way = {};
    std::string bytes = {};
    Json value = {};

    bool holds(const Way& how, std::string_view text) const { return way == how && bytes == text; }
  };

  // The place of these bytes, whoever has it now; null: they are not kept.
  Slot* place(const Way& way, std::string_view bytes) { return fits(bytes) ? &slots_[slot_of(way, bytes)] : nullptr; }

  // The place of a member's name, whichever is there now; null: it is not kept.
  Json* name_place(std::string_view name) {
    if (name.size() < kBytesMin || name.size() > kNameMax) return nullptr;
    return &names_[std::hash<std::string_view>()(name) % kNames];
  }

 private:
  static constexpr std::size_t kNames = 64, kNameMax = 128;
  static constexpr std::size_t kSlots = 512, kBytesMin = 12, kBytesMax = 2048;

  static bool fits(std::string_view bytes) { return bytes.size() >= kBytesMin && bytes.size() <= kBytesMax; }
  static std::size_t slot_of(const Way& way, std::string_view bytes) {
    return (std::hash<std::string_view>()(bytes) ^ std::hash<const void*>()(way.what) ^ way.only) % kSlots;
  }

  std::array<Slot, kSlots> slots_;
  std::array<Json, kNames> names_;
};

}  // namespace api
