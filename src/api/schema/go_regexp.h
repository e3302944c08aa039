// Regular expressions as Go's regexp takes them, which is what people write for Kubernetes.
#pragma once

#include <string>
#include <string_view>

namespace api {

// The same for RE2, whose release here does not know Go's other way to name a group, `(?<name>...)`.
std::string re2_syntax(std::string_view expression);

}  // namespace api
