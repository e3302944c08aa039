// pods/x/exec, attach, portforward: requests that become streams into a pod.
#pragma once

#include <memory>

#include "apiserver/pipeline/api.h"
#include "rt/http/http.h"

namespace apiserver {

bool is_connect(const Request& request);
// From an I/O thread.
void serve_connect(Api& api, Request request, const rt::HttpRequest& http, const rt::Target& target,
                   std::shared_ptr<rt::HttpExchange> exchange);

}  // namespace apiserver
