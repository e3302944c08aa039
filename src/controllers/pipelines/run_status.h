// The status of a run: its state, its times, and how many tasks are where.
#pragma once

#include <string>

#include "api/json/json.h"
#include "base/time.h"
#include "controllers/pipelines/run_look.h"

namespace controllers::pipelines {

api::Json run_status(const api::Json& before, std::string_view state, const std::string& error, base::Time now);
// Leaves of the run's graphs, by their states.
api::Json task_counts(const RunLook& look);

}  // namespace controllers::pipelines
