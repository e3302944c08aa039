// Requests of the server that are not about objects of its API, with the person's own credentials.
#pragma once

#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "client/http/kubeconfig.h"
#include "rt/http/http.h"

namespace volcano_main {

base::Result<rt::HttpResponse> ask_server(const client::ServerAccess& access, rt::HttpRequest request);
// The object of an answer with status 200, or what the answer says instead: `server` and `target` where it says
// nothing.
base::Result<api::Json> object_of(const rt::HttpResponse& answer, const std::string& server, const std::string& target);
base::Result<api::Json> get_from_server(const client::ServerAccess& access, const std::string& target);

}  // namespace volcano_main
