// How a program logs: by its flags --v and --log-format.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace volcano_main {

// Before other threads start. From `verbosity` 4 on debug lines are logged, too. kInvalid: the format is neither text
// nor json, and nothing has changed.
base::Status set_up_log(std::int64_t verbosity, const std::string& format);
// The same of a program that runs; any thread.
void set_log_verbosity(std::int64_t verbosity);

}  // namespace volcano_main
