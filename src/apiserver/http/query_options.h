// The options that a request has in its query: dryRun, fieldManager, resourceVersionMatch and so on.
#pragma once

#include "apiserver/pipeline/request/request.h"
#include "rt/http/http.h"

namespace apiserver {

// Whether the query has `name`, and it is neither "false" nor "0".
bool asks_for(const rt::Target& target, std::string_view name);
// Into `request`, whose verb is known. An error names a value that cannot be read.
base::Status read_query(const rt::Target& target, Request& request);
// A parameter that makes no sense for request.verb is 422, in Kubernetes' words.
base::Status check_query(const rt::Target& target, const Request& request);

// Paths and parameters end in objects, messages and logs: kBadRequest for text that is none.
base::Status check_text(const rt::Target& target);

}  // namespace apiserver
