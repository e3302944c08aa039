// Answers of the web applications as bytes, and the pair of values that keeps other sites' pages out.
#pragma once

#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"
#include "rt/http/http.h"
#include "webapps/apps.h"

namespace webapps {

// {"status": 200, "success": true, "user", ...}, or the body alone for an application without an envelope.
rt::HttpResponse good_answer(const App& app, std::string_view user, api::Json body);
// {"success": false, "log", "status", "user"}, or the message alone.
rt::HttpResponse bad_answer(const App& app, std::string_view user, const base::Error& error);
// The page of an application: a few words, and a new value of the cookie.
rt::HttpResponse page_answer(const App& app, std::string_view token, bool is_secure);
// kForbidden for a write whose cookie XSRF-TOKEN and header X-XSRF-TOKEN are not there, or not the same.
base::Status check_pair(const rt::HttpRequest& http);

}  // namespace webapps
