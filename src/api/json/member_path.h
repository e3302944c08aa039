// Paths of members such as ".spec.replicas", as a kind's scale names its parts. Pure functions; any thread.
#pragma once

#include <string_view>

#include "api/json/json.h"

namespace api {

// The first member of the path, which is cut off: "spec", and ".replicas" is left.
std::string_view next_member(std::string_view& path);
// The value at the path; null where nothing is.
const Json& at_members(const Json& object, std::string_view path);

}  // namespace api
