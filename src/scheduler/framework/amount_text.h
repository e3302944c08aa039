// How is an amount written for people?
#pragma once

#include <string>
#include <string_view>

#include "api/schema/quantity.h"
#include "scheduler/model/core/resource.h"

namespace scheduler {

// "153.6" where the canonical text is "153600m", "62.79Gi" where it is "65841234Ki": exact amounts stay as they are
// written.
std::string amount_text(const api::Quantity& amount, std::string_view resource);

// The order of resources in texts: cpu, memory and pods, then the others by name. Dimensions are numbered as objects
// come, which must change no text.
bool stands_before(const Dimensions& dimensions, Dim one, Dim other);

}  // namespace scheduler
