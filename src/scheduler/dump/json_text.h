// The end of one JSON value in a text that goes on. For texts that hold several values in a row.
#pragma once

#include <string_view>

#include "api/json/json.h"

namespace scheduler {

// Takes the value that `rest` begins with off its front. Texts are our own; one that is not JSON gives null.
api::Json take_json(std::string_view& rest);

}  // namespace scheduler
