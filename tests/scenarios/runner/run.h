// A scenario: what a file says happens, and what the scheduler does about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace scenario {

enum class How : std::uint8_t {
  kNormal,
  kPlain,   // by the plain scheduler, which must decide the same
  kDumped,  // each cycle is also decided from a dump of what is believed before it; a difference is an error
};

// The file's text with every expected block replaced by what the scheduler does now. An error names the line.
base::Result<std::string> play(std::string_view text, How how = How::kNormal);

}  // namespace scenario
