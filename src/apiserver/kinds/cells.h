// The parts of which kinds make the cells of their tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"

namespace apiserver {

// "5m", the time since an RFC 3339 timestamp; `fallback` where it is none.
api::Json time_since(const api::Json& timestamp, base::Time now, std::string_view fallback = "<unknown>");
// The same since the object was made.
api::Json age_of(const api::Json& object, base::Time now);
// The text, `fallback` where it is empty or not a text.
api::Json text_or(const api::Json& value, std::string_view fallback);
// "a,b"; `none` where there is nothing.
api::Json joined(const std::vector<std::string>& parts, std::string_view none);
api::Json count_of(const api::Json& list);

}  // namespace apiserver
