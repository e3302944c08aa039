// The options that a request has in its query: dryRun, fieldManager, resourceVersionMatch and so on.
#pragma once

#include "apiserver/pipeline/request.h"
#include "rt/http.h"

namespace apiserver {

// "true", "1" and their like.
bool truthy(std::string_view text);
// Into `request`, whose verb is known. An error names a value that cannot be read.
base::Status read_query(const rt::Target& target, Request& request);
// What makes no sense for request.verb is 422, in Kubernetes' words.
base::Status check_query(const rt::Target& target, const Request& request);

}  // namespace apiserver
