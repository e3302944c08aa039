// Runs of both versions under either version of the API: one list, and each run in the form that is asked for.
#pragma once

#include <span>

#include "pipelines/rest/routes.h"

namespace pipelines::rest::v1beta1 {

// The routes of runs that exist, of v2beta1 and of v1beta1, without their prefixes.
std::span<const Route> runs_as_v2();
std::span<const Route> runs_as_v1();

}  // namespace pipelines::rest::v1beta1
