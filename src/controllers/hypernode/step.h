// The writes after which a source's HyperNodes are those it found, and each HyperNode's status is true.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "controllers/framework/controller.h"
#include "controllers/hypernode/discovery.h"

namespace controllers::hypernode {

// Adds creations, changes and deletions (controllers.md 12.2). `all` are all HyperNodes. Returns the names that the
// source found and that belong to somebody else; those are left alone.
std::vector<std::string> reconcile(const std::vector<Found>& found, std::string_view source,
                                   const std::vector<const api::Json*>& all, Plan& plan);

// How many distinct names the selectors of a HyperNode resolve to (controllers.md 12.5).
std::int64_t count_members(const api::Json& hyper_node, const std::vector<const api::Json*>& nodes);

}  // namespace controllers::hypernode
