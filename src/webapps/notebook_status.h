// How a Notebook is, in the words of Kubeflow's jupyter web app.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "base/time.h"

namespace webapps {

// {"phase", "message", "state"}. Null: its events must be known to say it.
api::Json notebook_status(const api::Json& notebook, base::Time now);
// The same of one whose own status says nothing: by its events.
api::Json notebook_status_by_events(const api::Json& notebook, const std::vector<api::Json>& events);

}  // namespace webapps
