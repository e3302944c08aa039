// The configuration of a whole pipeline: its workspace, how long a run may take, and how long its pods stay.
#pragma once

#include <string>

#include "api/json/json.h"
#include "base/time.h"
#include "controllers/pipelines/values.h"

namespace controllers::pipelines {

inline constexpr const char* kWorkspacePath = "/kfp-workspace";

// The part of a run's documents that says it; null: nothing.
const api::Json& settings_of(const api::Json& run);
bool has_workspace(const api::Json& settings);
std::string workspace_name(const RunFacts& run);
// The account whose rights decide about the run's claims, as "NAMESPACE:NAME": that of its pods.
std::string account_of(const api::Json& run);

api::Json workspace_object(const RunFacts& facts, const api::Json& run, const api::Json& settings);
// Zero: no limit.
base::Duration deadline_of(const api::Json& settings);
// How long the pods and the workspace of a run that has ended stay; negative: as long as the run.
base::Duration stay_of(const api::Json& settings, std::string_view state);

}  // namespace controllers::pipelines
