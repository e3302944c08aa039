// Is a text of a format that schemas can ask for ("date-time", "ipv4")?
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace api {

// True for a format that is not known: it asks for nothing.
bool has_text_format(std::string_view format, std::string_view text);

// The span of a text of the format "duration": as Go writes it ("1h30m"), or with days, weeks and words ("3 days").
std::optional<base::Duration> parse_duration_text(std::string_view text);

}  // namespace api
