// The objects of a notebook, and how it goes, as values (kubeflow.md 2.2).
#pragma once

#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/time.h"
#include "controllers/notebooks/options.h"

namespace controllers::notebooks {

inline constexpr const char* kStopped = "kubeflow-resource-stopped";

bool is_stopped(const api::Json& notebook);
// "/notebook/NAMESPACE/NAME"
std::string notebook_prefix(const api::Json& notebook);
// The first port of the first container, or 8888.
std::int64_t notebook_port(const api::Json& notebook);
// Why no objects can be made of it; empty: they can.
std::string problem_of_name(std::string_view name, std::size_t letters_max);

api::Json notebook_set(const api::Json& notebook, const Options& options);
api::Json notebook_service(const api::Json& notebook);
// `set` and `pod` may be null.
api::Json notebook_status(const api::Json& notebook, const api::Json* set, const api::Json* pod, base::Time now);

}  // namespace controllers::notebooks
