// Objects as JSON or YAML, wherever something is listed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace cli {

// -o json|yaml; an extra of ours.
Flag output_flag();
// The same where there is a table for people, too.
Flag table_or_output_flag();
// The output that -o asks for: a List of `objects`, which are of `resource`; nothing without -o.
std::optional<std::string> as_list(const Values& values, const std::vector<api::Json>& objects,
                                   const api::ResourceId& resource);
// The same of one object.
std::optional<std::string> as_object(const Values& values, const api::Json& object, const api::ResourceId& resource);

// One object as a person reads it: apiVersion and kind first, without managed fields. `format`: yaml or json.
std::string object_text(const api::Json& object, const api::ResourceId& resource, std::string_view format);

}  // namespace cli
