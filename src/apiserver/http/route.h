// From an HTTP request to an API request: paths, query parameters, verbs.
#pragma once

#include <optional>

#include "apiserver/custom/served_kinds.h"
#include "apiserver/pipeline/request/request.h"
#include "rt/http/http.h"

namespace apiserver {

// Fills everything but the user and the body. Paths outside the resources ("/healthz", "/openapi/v2") are not routed:
// nothing. Unknown resources are kNotFound ("the server could not find the requested resource").
base::Result<std::optional<Request>> route(const rt::HttpRequest& http, const rt::Target& target,
                                           const ServedKinds& kinds = {});

// The value of a body of this content type; what is none of the API's types is read as JSON.
base::Result<api::Json> parse_body(std::string_view content_type, std::string_view bytes,
                                   std::vector<std::string>* duplicates = nullptr);

// Decodes the body by its content type into `request.body`; notes duplicate keys.
base::Status decode_body(const rt::HttpRequest& http, Request& request);

}  // namespace apiserver
