// Which handler answers a method and path of the REST API?
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "pipelines/rest/call.h"
#include "rt/http/http.h"

namespace pipelines::rest {

inline constexpr std::string_view kPrefix = "/pipeline";

struct Route {
  std::string_view method;
  std::string_view path;  // below the prefix of its table; {} stands for a name
  Handler handler;
};

// The routes of one version of the API.
struct RouteTable {
  std::string_view prefix;  // "/apis/v2beta1/"
  std::span<const Route> routes;
};

struct Routed {
  Handler handler = nullptr;
  Call call;
};

// `path`: the part of the target behind kPrefix, as it was sent, with its query. kNotFound for an unknown path,
// kMethodNotAllowed for another method. `more`: tables beside that of v2beta1.
base::Result<Routed> route(std::string_view method, std::string_view path, std::span<const RouteTable> more = {});
// The same of these tables alone.
base::Result<Routed> route_in(std::span<const RouteTable> tables, std::string_view method, std::string_view path);

}  // namespace pipelines::rest
