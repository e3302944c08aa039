// Values as rules of a stranger's schema see them. The schema adds what JSON alone does not have: a time, a number that
// is not an integer, members by the names that expressions can write.
#pragma once

#include <string>
#include <string_view>

#include "api/cel/value.h"
#include "api/schema/structural/structural.h"

namespace api::cel {

// "a-b" is "a__dash__b", "namespace" is "__namespace__"; empty for a name that cannot be written.
std::string escaped_name(std::string_view name);
// Whether an expression reaches the property by this field: by its escaped name, or as it is where it is a reserved
// word.
bool may_be_selected(std::string_view property, std::string_view field);

Value value_of(const Structural& schema, const Json& value);

}  // namespace api::cel
