// Options of a request that make no sense, refused in Kubernetes' words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace apiserver {

// `kind` of meta.k8s.io/v1, such as "DeleteOptions"; at least one cause.
base::Error invalid_options(std::string_view kind, std::vector<base::Cause> causes);

}  // namespace apiserver
