// The steps of a document that make and delete claims; no pod runs for them.
#pragma once

#include "controllers/pipelines/run_look.h"
#include "controllers/pipelines/task_objects.h"

namespace controllers::pipelines {

Standing attend_claim(RunLook& look, const Place& place, const api::Json& task, const ::pipelines::Executor& executor);

}  // namespace controllers::pipelines
