// Steps that did the same with the same inputs before.
#pragma once

#include <string>

#include "controllers/pipelines/run_look.h"
#include "controllers/pipelines/task_objects.h"

namespace controllers::pipelines {

// Equal for steps that do the same: the document's command, image and outputs, and the inputs. Empty: the step is not
// to be cached.
std::string cache_key_of(const RunLook& look, const Place& place, const Values& inputs);
// The newest task of the namespace that succeeded with this key; null: none.
const api::Json* cached_task(const RunLook& look, const std::string& key);

}  // namespace controllers::pipelines
