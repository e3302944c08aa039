// GET pods/x/log: a container's output, streamed from the node agent.
#pragma once

#include <memory>

#include "apiserver/http/negotiation.h"
#include "apiserver/pipeline/api.h"
#include "rt/http/http.h"

namespace apiserver {

// Any thread. `encoding`: of an error.
void serve_log(Api& api, Request request, const rt::Target& target, Encoding encoding,
               std::shared_ptr<rt::HttpExchange> exchange);

// The container that is asked for, or the only one there is.
base::Result<std::string> choose_container(const api::Json& pod, const std::string& asked);
// Why a container has no log, in a kubelet's words; empty: it has run, and has said nothing.
std::string why_no_log(const api::Json& pod, const std::string& container);

}  // namespace apiserver
