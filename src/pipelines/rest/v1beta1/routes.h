// The first version of the REST API, as far as version 1 of the SDK uses it.
#pragma once

#include "pipelines/rest/routes.h"

namespace pipelines::rest::v1beta1 {

RouteTable routes();

}  // namespace pipelines::rest::v1beta1
