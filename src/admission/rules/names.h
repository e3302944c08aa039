// Rules of names (api/schema/names.h), and lists and texts as Go prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/names.h"
#include "base/split.h"

namespace admission {

using api::check_dns_label;
using api::check_dns_subdomain;
using api::check_label_value;
using api::check_qualified_name;
using base::join;

// "[a b]", as Go prints a list.
std::string go_list(const std::vector<std::string>& items);
// A double-quoted string with escapes, as Go's %q.
std::string quoted(std::string_view text);

}  // namespace admission
