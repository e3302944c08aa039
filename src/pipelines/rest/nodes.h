// Nodes of a run, which are its tasks: their logs and their artifacts.
#pragma once

#include <string>
#include <vector>

#include "pipelines/rest/call.h"

namespace pipelines::rest {

base::Result<std::vector<api::Json>> tasks_of(Facts& facts, const api::Json& run);
base::Result<Reply> read_log(const Call& call, Facts& facts);
// The bytes of an output, or input, of a task.
base::Result<Reply> read_artifact(const Call& call, Facts& facts);

}  // namespace pipelines::rest
