// How is an id found by its name without a second copy of the name?
//
// A hash table of ids: the caller keeps the names, says the hash, and tells whether an id is the one meant.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace scheduler {

template <class Id>
class IdTable {
 public:
  static std::uint32_t hash_of(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
  }

  std::size_t size() const { return size_; }
  // The id with this hash of which `is_meant` is true; unset when there is none.
  template <class IsMeant>
  Id find(std::uint32_t hash, const IsMeant& is_meant) const {
    if (slots_.empty()) return {};
    for (std::size_t at = hash & mask(); slots_[at].id.is_set(); at = (at + 1) & mask()) {
      if (slots_[at].hash == hash && is_meant(slots_[at].id)) return slots_[at].id;
    }
    return {};
  }
  // The name must not be there yet.
  void insert(std::uint32_t hash, Id id) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    put({hash, id});
    ++size_;
  }
  void erase(std::uint32_t hash, Id id) {
    if (slots_.empty()) return;
    std::size_t at = hash & mask();
    while (slots_[at].id.is_set() && slots_[at].id != id) at = (at + 1) & mask();
    if (!slots_[at].id.is_set()) return;
    --size_;
    // Entries that it pushed on move back, so that no search ends early at the gap.
    for (std::size_t next = (at + 1) & mask(); slots_[next].id.is_set(); next = (next + 1) & mask()) {
      const std::size_t home = slots_[next].hash & mask();
      if (((next - home) & mask()) < ((next - at) & mask())) continue;
      slots_[at] = slots_[next];
      at = next;
    }
    slots_[at] = {};
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    Id id;  // unset: free
  };
  static constexpr std::size_t kSlotsMin = 16;

  std::size_t mask() const { return slots_.size() - 1; }  // the size is a power of two
  void put(Slot slot) {
    std::size_t at = slot.hash & mask();
    while (slots_[at].id.is_set()) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void grow() {
    const std::vector<Slot> before =
        std::exchange(slots_, std::vector<Slot>(slots_.empty() ? kSlotsMin : slots_.size() * 2));
    for (const Slot& slot : before) {
      if (slot.id.is_set()) put(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace scheduler
