// Names that only pods have, each with Kubernetes' own words when broken; api/schema/names.h has the others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/names.h"

namespace api {

// Each returns the problems, none if the text is fine.
std::vector<std::string> check_port_name(std::string_view text);
std::vector<std::string> check_env_name(std::string_view text);
// The keys of ConfigMaps and Secrets.
std::vector<std::string> check_config_key(std::string_view text);

}  // namespace api
