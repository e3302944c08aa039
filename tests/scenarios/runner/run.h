// A scenario: what a file says happens, and what the scheduler does about it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace scenario {

// The file's text with every expected block replaced by what the scheduler does now. An error names the line.
// `plain`: by the plain scheduler, which must decide the same.
base::Result<std::string> play(std::string_view text, bool plain = false);

}  // namespace scenario
