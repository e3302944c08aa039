// The configuration of a whole pipeline: its workspace, how long a run may take, and how long its pods stay.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/time.h"
#include "controllers/pipelines/values.h"

namespace controllers::pipelines {

inline constexpr const char* kWorkspacePath = "/kfp-workspace";

// The part of a run's documents that says it; null: nothing.
const api::Json& settings_of(const api::Json& run);
bool has_workspace(const api::Json& settings);
std::string workspace_name(const RunFacts& run);
// The service account of the run's pods, whose rights decide about its claims: the one that it names, or else that of
// Kubeflow with several users or with one where the namespace has it (spec/kubeflow 6.5), or "default".
// `is_there`: whether the namespace has an account of a name.
std::string account_of(const api::Json& run, const std::function<bool(std::string_view name)>& is_there);

api::Json workspace_object(const RunFacts& facts, const api::Json& run, const api::Json& settings);
// Zero: no limit.
base::Duration deadline_of(const api::Json& settings);
// How long the pods and the workspace of a run that has ended stay; negative: as long as the run.
base::Duration stay_of(const api::Json& settings, std::string_view state);

}  // namespace controllers::pipelines
