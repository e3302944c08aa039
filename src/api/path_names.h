// Names that others wrote, as parts of paths.
#pragma once

#include <string_view>

namespace api {

// Whether `name` can be that of an object (the API machinery's rule for path segments). A server decodes a path before
// it splits it: what is not a segment of one would lead to another resource, and nothing at all to the whole
// collection.
inline bool can_be_a_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of("/%") == std::string_view::npos;
}

}  // namespace api
