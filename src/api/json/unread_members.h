// Which members of a document does nobody read?
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"

namespace api {

// The members that are at none of the places `read`: "a.b", "a.list[].c", "a.*.c" (members of any name). Members below
// such a place without places of their own belong to it. The answer has the places as they are in the document:
// "a.list[0].d".
std::vector<std::string> unread_members(const Json& document, std::span<const std::string_view> read);

}  // namespace api
