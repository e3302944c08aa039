// Importers: artifacts that were there before the run.
#pragma once

#include "controllers/pipelines/task_objects.h"

namespace controllers::pipelines {

// The end of an importer with these inputs: its artifact, or an error.
Change imported(const ::pipelines::Component& component, const ::pipelines::Executor& executor, const Values& inputs);

}  // namespace controllers::pipelines
