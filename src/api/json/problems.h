// How much of what is wrong with a request is told? The author of forty thousand unknown fields knows by the first
// hundred, and an answer must not be larger than what it answers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/json/json.h"

namespace api {

inline constexpr std::size_t kProblemsMax = 100;     // of one object; Kubernetes' own limit of unknown fields
inline constexpr std::size_t kShownBytesMax = 1024;  // of one value or path in a message

std::string shortened(std::string_view text, std::size_t bytes_max = kShownBytesMax);
// A value as messages of Kubernetes show it: texts as Go quotes them, all else as JSON. Shortened.
std::string shown(const Json& value);

}  // namespace api
