// Values that were read lately, found by their form on the parser's tape. Pods of one gang have equal owners,
// tolerations and resources: one value in memory stands for all of them, and is built once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "api/json/json.h"
#include "api/json/tape.h"

namespace api {

// For one thread. Holds at most kSlots values of at most kWordsMax words and kBytesMax bytes of text each.
class RecentValues {
 public:
  // The place of the object or list at `at` on the tape.
  struct Span {
    std::size_t words = 0;                       // 0: too large to be kept
    std::uint64_t begin = 0, last = 0, end = 0;  // bytes of its strings; `last`: where the last string begins
    std::size_t slot = 0;
  };
  static Span span_of(const Tape& tape, std::size_t at);

  // The value that was kept for an equal object or list, or null. Valid until the next keep().
  const Json* find(const Tape& tape, std::size_t at, const Span& span) const;
  // `value` is the object or list at `at`; it replaces one that has its place.
  void keep(const Tape& tape, std::size_t at, const Span& span, const Json& value);

 private:
  static constexpr std::size_t kSlots = 256, kWordsMax = 256, kBytesMax = 4096;

  struct Slot {
    std::vector<std::uint64_t> words;  // as if the value and its strings began at 0
    std::vector<unsigned char> strings;
    Json value;
  };
  static bool equals(const Slot& slot, const Tape& tape, std::size_t at, const Span& span);

  std::array<Slot, kSlots> slots_;
};

}  // namespace api
