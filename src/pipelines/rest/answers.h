// Answers of the REST API as bytes: JSON, and errors in the form of its gateway.
#pragma once

#include "api/json/json.h"
#include "base/result.h"
#include "rt/http/http.h"

namespace pipelines::rest {

rt::HttpResponse json_answer(const api::Json& body);
// HTML that a stranger wrote, for a frame of the page: no script in it runs, nothing is loaded, and it has no origin.
rt::HttpResponse frame_answer(std::string html);
// {"error", "code", "message", "details"}, with the number of the RPC's status.
rt::HttpResponse error_answer(const base::Error& error);
// Why a run or a task failed, as a member of an object: {"code", "message"}. The fault is the user's program's.
api::Json failure(std::string_view message);

}  // namespace pipelines::rest
