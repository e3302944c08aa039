// The items of a list.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"

namespace client {

// The items with their kinds, which items of a list may leave out.
std::vector<api::Json> items_of(api::Json list, const api::ResourceId& resource);

}  // namespace client
