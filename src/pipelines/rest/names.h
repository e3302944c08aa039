// Names of objects for the names that people give: any text there, a DNS label here.
#pragma once

#include <string>
#include <string_view>

namespace pipelines::rest {

// Equal for equal texts, so that a name that is given twice is one name. A text that can be an object's name is that.
std::string object_name(std::string_view text);
// The begin of a name that the server completes; it ends with a hyphen.
std::string name_prefix(std::string_view text);
// The object of a version: unique in the namespace where the version's name is unique in its pipeline.
std::string version_object_name(std::string_view pipeline_object, std::string_view version);

}  // namespace pipelines::rest
