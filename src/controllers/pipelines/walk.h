// The way through a run's graphs: which tasks begin, and how those stand that have begun.
#pragma once

#include "controllers/pipelines/run_look.h"

namespace controllers::pipelines {

// The whole run, from its root.
Standing walk(RunLook& look, const Values& parameters);

}  // namespace controllers::pipelines
