// Results for objects and lists that came lately, found again by the representation that they share: equal parts of
// pods do (api/json/recent_values.h), and need not be looked at twice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "api/json/json.h"

namespace api {

// For one thread. Keeps the values it knows, so that no other can take their place in memory: who edits one gets a
// copy.
template <class T, std::size_t kSlots = 64>
class ByIdentity {
 public:
  // Null when it is not known, or no object or list. Valid until the next keep().
  const T* find(const Json& value) const {
    const Slot& slot = slots_[slot_of(value)];
    return (value.is_object() || value.is_array()) && slot.value.same_as(value) ? &slot.what : nullptr;
  }
  // `value` is an object or a list; it replaces one that has its place.
  const T& keep(const Json& value, T what) {
    Slot& slot = slots_[slot_of(value)];
    slot.value = value;
    slot.what = std::move(what);
    return slot.what;
  }

 private:
  struct Slot {
    Json value;
    T what{};
  };
  static std::size_t slot_of(const Json& value) {
    const void* place = value.is_object() ? static_cast<const void*>(value.members().data()) : value.items().data();
    return (reinterpret_cast<std::uintptr_t>(place) * 0x9E3779B97F4A7C15u >> 32) % kSlots;
  }

  std::array<Slot, kSlots> slots_;
};

}  // namespace api
