// The part of a document for Kubernetes: claims, secrets, where a step may run, and the like.
#pragma once

#include <functional>
#include <optional>

#include "api/json/json.h"
#include "base/result.h"

namespace controllers::pipelines {

// The value that a place of the document stands for: a constant, an input of the graph, or an output of a task.
using PlatformValue = std::function<std::optional<api::Json>(const api::Json& source)>;

// The pod of a step before its container is put in.
struct PodParts {
  api::Json& metadata;
  api::Json& spec;
  api::Json& container;
};

// `platform`: what the document says of the step's executor; null: nothing. Errors name the field. A field that is
// unknown here is an error: what a step asks for must not be left out in silence.
base::Status add_platform(const api::Json& platform, const PlatformValue& value_of, PodParts pod);

}  // namespace controllers::pipelines
