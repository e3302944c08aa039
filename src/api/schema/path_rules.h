// Names that are parts of paths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace api {

// Each returns the problems, none if the text is fine.
// "acme.io/foo": a subdomain of DNS, a slash, and a path of HTTP.
std::vector<std::string> check_domain_prefixed_path(std::string_view text);
// One part of a path, as names of roles are.
std::vector<std::string> check_path_segment(std::string_view text);

}  // namespace api
