// Names that only workloads have, each with Kubernetes' own words when broken; api/schema/names.h has the others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/names.h"

namespace admission {

using api::check_dns_label;
using api::check_dns_subdomain;
using api::check_label_value;
using api::check_qualified_name;

// Each returns the problems, none if the text is fine.
std::vector<std::string> check_port_name(std::string_view text);
std::vector<std::string> check_env_name(std::string_view text);

// "[a b]", as Go prints a list.
std::string go_list(const std::vector<std::string>& items);
std::string join(const std::vector<std::string>& items, std::string_view separator);
// A double-quoted string with escapes, as Go's %q.
std::string quoted(std::string_view text);

}  // namespace admission
