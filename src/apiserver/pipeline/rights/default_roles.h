// The roles and bindings that every cluster has.
#pragma once

#include <optional>
#include <vector>

#include "api/json/json.h"

namespace apiserver {

// As objects, those of namespaces last.
std::vector<api::Json> default_roles();
// A stored role with the rules, subjects, labels and annotations that it lacks, as a stock server mends it at a start.
// Nothing: it lacks none, or its annotation keeps us away.
std::optional<api::Json> mended_role(const api::Json& stored, const api::Json& ours);

}  // namespace apiserver
