// Tasks of a run as its details show them.
#pragma once

#include <string_view>
#include <vector>

#include "api/json/json.h"

namespace pipelines::rest {

// The state as the REST API calls it: outputs that come from the cache are those of a task that was skipped.
std::string_view shown_state(std::string_view state);
api::Json shown_history(const api::Json& history);
// {"task_details": [...]}, in the order in which the tasks were made.
api::Json run_details(std::string_view run_id, std::vector<api::Json> tasks);

}  // namespace pipelines::rest
