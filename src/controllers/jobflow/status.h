// A JobFlow's status from its Jobs: lists by phase, each Job's history, and the flow's own phase.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"
#include "controllers/jobflow/flow.h"

namespace controllers::jobflow {

// The Jobs of a flow by name, as far as they exist.
using Jobs = std::map<std::string, const api::Json*>;

// COMPAT(jobflow-collected): a Job that was seen Completed counts as Completed after it was deleted, too.
bool is_completed(const api::Json& status_before, const Jobs& jobs, const std::string& name);

// The phase that follows `before`; empty counts as Pending.
std::string next_phase(const std::string& before, const api::Json& status_before, const std::vector<Node>& nodes,
                       const Jobs& jobs);

api::Json make_status(const api::Json& before, const std::vector<Node>& nodes, const Jobs& jobs,
                      const std::string& phase, base::Time now);

// Whether nothing differs but the numbers of pods in each phase.
bool differ_in_counts_only(const api::Json& one, const api::Json& other);

}  // namespace controllers::jobflow
