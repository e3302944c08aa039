// Notebooks that nobody uses are stopped, which gives their cards back (kubeflow.md 2.3).
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "controllers/framework/controller.h"
#include "controllers/notebooks/options.h"

namespace controllers::notebooks {

std::unique_ptr<Controller> make_culling_controller(Options options);

// The last activity that an answer of /api/kernels tells of; nothing: it tells of none.
std::optional<base::Time> activity_of(const Answer& kernels, base::Time now);
// How long a notebook may be idle; nothing: as long as it likes.
std::optional<base::Duration> idle_max(const api::Json& notebook, const Options& options);

}  // namespace controllers::notebooks
