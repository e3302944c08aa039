// A scenario: what a file says happens, and what the scheduler does about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace scenario {

// The program that plays it. All must decide the same.
enum class Player : std::uint8_t {
  kFast,
  kPlain,     // the plain scheduler
  kDumped,    // each cycle is also decided from a dump of what is believed before it; a difference is an error
  kReplayed,  // hears of every object that is not a pod or its group once more before each cycle, as after a relist
  // Hears of what happens between two cycles in parts, in an order that watches could produce, and of each object only
  // the fields that informers read.
  kSplit,
};

// The file's text with every expected block replaced by what the scheduler does now. An error names the line. A line
// "BROKEN ..." says which invariant a cycle broke. `split` chooses among the orders of kSplit.
base::Result<std::string> play(std::string_view text, Player player = Player::kFast, std::uint64_t split = 0);

}  // namespace scenario
