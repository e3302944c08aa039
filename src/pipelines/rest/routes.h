// Which handler answers a method and path of the REST API?
#pragma once

#include <string_view>

#include "base/result.h"
#include "pipelines/rest/call.h"
#include "rt/http/http.h"

namespace pipelines::rest {

inline constexpr std::string_view kPrefix = "/pipeline";

struct Routed {
  Handler handler = nullptr;
  Call call;
};

// `path`: the part of the target behind kPrefix, as it was sent, with its query. kNotFound for an unknown path,
// kMethodNotAllowed for another method.
base::Result<Routed> route(std::string_view method, std::string_view path);

}  // namespace pipelines::rest
