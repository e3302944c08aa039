// Rules between a queue and its relatives (webhooks.md 7.1, steps B and D).
#pragma once

#include <string>

#include "api/admission.h"

namespace admission {

// Each returns the first problem, or empty.
std::string check_parent(const api::Json& queue, const api::ObjectReader& objects, int depth_max);
std::string check_tree_resources(const api::Json& queue, const api::ObjectReader& objects);

// The queue above, as queues say it.
const api::TextField& parent_field();

std::int64_t allocated_pods(const api::Json& queue);

}  // namespace admission
