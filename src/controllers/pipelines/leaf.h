// Tasks without a graph: steps, importers, and claims that are made and deleted.
#pragma once

#include "controllers/pipelines/inputs.h"
#include "controllers/pipelines/run_look.h"
#include "controllers/pipelines/task_objects.h"

namespace controllers::pipelines {

// The graph around a leaf, which its platform's part may ask.
struct Surroundings {
  const Values& graph;
  const Producers& producers;
};

// A task that has no state yet; `task` is null where there is no object of it.
Standing begin_leaf(RunLook& look, const Place& place, const api::Json* task, const Values& inputs,
                    const Surroundings& around);
// One that has begun, and is not over.
Standing attend_leaf(RunLook& look, const Place& place, const api::Json& task, const Surroundings& around);

}  // namespace controllers::pipelines
