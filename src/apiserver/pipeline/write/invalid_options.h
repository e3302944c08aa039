// Options of a request that make no sense, refused in Kubernetes' words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace apiserver {

// `kind` of that group (empty: the core one), such as "DeleteOptions"; at least one cause.
base::Error invalid_options(std::string_view kind, std::vector<base::Cause> causes,
                            std::string_view group = "meta.k8s.io");

}  // namespace apiserver
