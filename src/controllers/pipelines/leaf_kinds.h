// Leaves that need no pod: steps that did the same before, importers, and steps that make and delete claims.
#pragma once

#include <string>

#include "controllers/pipelines/run_look.h"
#include "controllers/pipelines/task_objects.h"

namespace controllers::pipelines {

// cache.cc. Equal for steps that do the same: the document's command, image and outputs, and the inputs. Empty: the
// step is not to be cached.
std::string cache_key_of(const RunLook& look, const Place& place, const Values& inputs);
// The newest task of the namespace that succeeded with this key; null: none.
const api::Json* cached_task(const RunLook& look, const std::string& key);

// importer.cc. The end of an importer with these inputs: its artifact, or an error.
Change imported(const ::pipelines::Component& component, const ::pipelines::Executor& executor, const Values& inputs);

// claims.cc
Standing attend_claim(RunLook& look, const Place& place, const api::Json& task, const ::pipelines::Executor& executor);

}  // namespace controllers::pipelines
