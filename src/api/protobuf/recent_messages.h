// Messages that were read lately, found by their bytes. Pods of one gang have equal owners, tolerations and resources:
// one value in memory stands for all of them, and is built once. (json/recent_values.h does the same for JSON.)
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/json/json.h"
#include "api/json/projection.h"
#include "api/protobuf/messages.h"

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

  // Before an object or a list is read.
  void begin() {
    if (ways_.size() > kWaysMax) ways_.clear();
  }

  // The place of these bytes, whoever has it now; null: they are not kept. Most are what was read last in this way,
  // which is found without a hash of them.
  Slot* place(const Way& way, std::string_view bytes) {
    if (!fits(bytes)) return nullptr;
    Slot*& last = ways_[way].last;
    if (last == nullptr || !last->holds(way, bytes)) last = &slots_[slot_of(way, bytes)];
    return last;
  }

  // The choice of `only` for each field of a message, by its number. Valid until the next begin().
  const std::vector<Projection::Choice>& choices(const NumberedMessage& message, const Projection& only) {
    std::vector<Projection::Choice>& out = ways_[{&message, only.number()}].choices;
    if (out.empty())
      for (const NumberedField& field : message.fields)
        out.push_back(field.row ? only.choose(field.row->name) : Projection::Choice{field.in_place != nullptr});
    return out;
  }

  // The place of a member's name, whichever is there now; null: it is not kept.
  Json* name_place(std::string_view name) {
    if (name.size() < kBytesMin || name.size() > kNameMax) return nullptr;
    // Few names are equal in their length and at both ends.
    std::uint64_t first = 0, last = 0;
    std::memcpy(&first, name.data(), sizeof first);
    std::memcpy(&last, name.data() + name.size() - sizeof last, sizeof last);
    return &names_[((first ^ std::rotl(last, 32)) + name.size()) * 0x9E3779B97F4A7C15u >> 32 & (kNames - 1)];
  }

 private:
  // The memory of one way.
  struct Known {
    Slot* last = nullptr;                          // of the bytes that were read last
    std::vector<Projection::Choice> choices = {};  // of a message
  };

  struct Hash {
    std::size_t operator()(const Way& way) const { return hash_of(way); }
  };

  static constexpr std::size_t kWaysMax = 4096;
  static constexpr std::size_t kNames = 64, kNameMax = 128;
  static constexpr std::size_t kSlots = 512, kBytesMin = 12, kBytesMax = 2048;

  static bool fits(std::string_view bytes) { return bytes.size() >= kBytesMin && bytes.size() <= kBytesMax; }
  static std::size_t hash_of(const Way& way) {
    return (reinterpret_cast<std::uintptr_t>(way.what) ^ way.only) * 0x9E3779B97F4A7C15u >> 32;
  }
  static std::size_t slot_of(const Way& way, std::string_view bytes) {
    return (std::hash<std::string_view>()(bytes) ^ hash_of(way)) % kSlots;
  }

  std::array<Slot, kSlots> slots_;
  std::array<Json, kNames> names_;
  std::unordered_map<Way, Known, Hash> ways_;
};

}  // namespace api
