// What a training job needs next.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "controllers/framework/controller.h"
#include "controllers/framework/plan.h"
#include "controllers/training/framework.h"

namespace controllers::training {

// Nothing but what was said: what matters after a restart is in the status.
struct Memory {
  std::string uid = {};
  std::set<std::string> said = {};
};

struct Observed {
  const api::Json* job = nullptr;                    // not null
  std::vector<const api::Json*> pods = {};           // that it controls
  std::vector<const api::Json*> services = {};       // that it controls
  const api::Json* launcher_job = nullptr;           // the Job that it controls and that makes its launcher
  std::vector<const api::Json*> launcher_pods = {};  // of that Job
  const View* view = nullptr;                        // for objects by name
};

struct Decision {
  Plan plan = {};
  Memory memory = {};
  // Metrics to count once the plan has succeeded; those of jobs have the labels namespace and framework.
  std::vector<std::pair<std::string_view, int>> counted = {};
};

Decision step(const Framework& framework, const Observed& seen, Memory memory, const Turn& turn,
              const Options& options);

}  // namespace controllers::training
