// The first version of the REST API, as far as version 1 of the SDK uses it.
#pragma once

#include <vector>

#include "pipelines/rest/routes.h"

namespace pipelines::rest::v1beta1 {

// With it, runs of both versions are known to v2beta1, too.
std::vector<RouteTable> routes();

}  // namespace pipelines::rest::v1beta1
