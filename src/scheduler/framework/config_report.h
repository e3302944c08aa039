// The configuration in force, and what was wrong with it. As JSON, for /debug/config.
#pragma once

#include <string>
#include <vector>

#include "scheduler/framework/config.h"

namespace scheduler {

// {"actions": [...], "tiers": [[{"name", "switches", "arguments"}]], "configurations": [...], "metrics": {...},
//  "warnings": [...], "refused": "..."}. `refused` says why the last text was not taken; absent when it was. Secrets of
//  the
// metrics source are left out.
api::Json report(const Config& config, const std::vector<std::string>& warnings, const std::string& refused);

}  // namespace scheduler
