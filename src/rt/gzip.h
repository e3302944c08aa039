// gzip, for large answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rt {

// At level 1: lists shrink more than ten times, at hundreds of megabytes a second. Empty if zlib fails.
std::optional<std::string> gzip(std::string_view text);

}  // namespace rt
