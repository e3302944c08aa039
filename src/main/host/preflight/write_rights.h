// The writes among the rights that preflight asks for, to be compared with the rows of controllers.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace volcano_main {

// The rights of a program of kPreflightPrograms, each as "VERB RESOURCE.GROUP".
std::set<std::string> write_rights_of(std::string_view program);

}  // namespace volcano_main
