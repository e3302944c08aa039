// The names of jobs that people type, as names that the API takes.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// "Früh_Test 1" is "fr-h-test-1". A name that the API takes stays as it is.
std::string job_name_of(std::string_view typed);
// The last part of a path without its extension, as such a name.
std::string job_name_of_file(std::string_view path);

}  // namespace cli
