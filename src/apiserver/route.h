// From an HTTP request to an API request: paths, query parameters, verbs.
#pragma once

#include <optional>

#include "apiserver/request.h"
#include "rt/http.h"

namespace apiserver {

// Fills everything but the user and the body. Paths outside the resources ("/healthz", "/openapi/v2") are not routed:
// nothing. Unknown resources are kNotFound ("the server could not find the requested resource").
base::Result<std::optional<Request>> route(const rt::HttpRequest& http, const rt::Target& target);

// A whole number of 64 bits; errors name the parameter and its value.
base::Result<std::int64_t> parse_number(std::string_view name, std::string_view text);

// Decodes JSON or YAML by content type into `request.body`; notes duplicate keys.
base::Status decode_body(const rt::HttpRequest& http, Request& request);

}  // namespace apiserver
