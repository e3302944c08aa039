// Kinds that definitions of strangers add while controllers run, as those see them that watch every kind.
#pragma once

#include <optional>

#include "api/json/json.h"
#include "api/json/projection.h"
#include "api/kinds.h"

namespace controllers {

// The parts that are read of a CustomResourceDefinition.
const api::Projection& definition_parts();
// The parts that are read of the kinds' objects: what they are, and their metadata.
const api::Projection& defined_kind_parts();

// The kind that a definition makes, in one version that is served: its resource, name and scope. Empty while it makes
// none, or one that the program has itself.
std::optional<api::KindInfo> defined_kind(const api::Json& definition);

}  // namespace controllers
