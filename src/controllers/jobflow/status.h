// A JobFlow's status from its Jobs: lists by phase, each Job's history, and the flow's own phase.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"
#include "controllers/jobflow/flow.h"

namespace controllers::jobflow {

// The Jobs of a flow by name, as far as they exist.
using Jobs = std::map<std::string, const api::Json*>;

// A status, with its entries of Jobs by name. The status outlives it.
struct StatusBefore {
  explicit StatusBefore(const api::Json& status);
  const api::Json& entry(std::string_view job) const;  // null: there is none

  const api::Json& json;
  std::map<std::string_view, const api::Json*> entries;
};

// COMPAT(jobflow-collected): a Job that was seen Completed counts as Completed after it was deleted, too.
bool is_completed(const StatusBefore& before, const Jobs& jobs, const std::string& name);

// The phase that follows; an empty one counts as Pending.
std::string next_phase(const StatusBefore& before, const std::vector<Node>& nodes, const Jobs& jobs);

api::Json make_status(const StatusBefore& before, const std::vector<Node>& nodes, const Jobs& jobs,
                      const std::string& phase, base::Time now);

// Whether nothing differs but the numbers of pods in each phase.
bool differ_in_counts_only(const api::Json& one, const api::Json& other);

}  // namespace controllers::jobflow
