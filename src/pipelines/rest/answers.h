// Answers of the REST API as bytes: JSON, and errors in the form of its gateway.
#pragma once

#include "api/json/json.h"
#include "base/result.h"
#include "rt/http/http.h"

namespace pipelines::rest {

rt::HttpResponse json_answer(const api::Json& body);
// {"error", "code", "message", "details"}, with the number of the RPC's status.
rt::HttpResponse error_answer(const base::Error& error);
// The error as a member of an object: {"code", "message"}.
api::Json rpc_status(int code, std::string_view message);

}  // namespace pipelines::rest
