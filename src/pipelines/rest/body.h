// The body of a request: JSON, or a form with a file.
#pragma once

#include <string_view>

#include "base/result.h"
#include "pipelines/rest/call.h"
#include "rt/http/http.h"

namespace pipelines::rest {

// Reads it into `call`.
base::Status read_body(const rt::HttpRequest& http, Call& call);

// The part of a form (multipart/form-data) that has this name. kInvalid for what is not a form.
base::Result<Upload> form_file(std::string_view content_type, std::string_view body, std::string_view name);

}  // namespace pipelines::rest
