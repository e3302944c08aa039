// The pages of a node's agent, through the API server: nodes/NAME/proxy/PATH.
#pragma once

#include "api/node_usage.h"
#include "apiserver/http/negotiation.h"
#include "apiserver/pipeline/api.h"
#include "rt/http/http.h"
#include "rt/http/server/http_server.h"

namespace apiserver {

bool is_node_proxy(const Request& request);
// The part after "proxy" in the path of such a request: "/stats/summary", or "/".
std::string proxied_path(std::string_view path);
// The subresource of nodes whose right is enough for the page, as a kubelet asks for: "stats" or "metrics"; or empty.
std::string_view right_for_page(std::string_view proxied);
// Any thread. `source` may be null: no node agent in this process. `encoding`: of an error.
void serve_node_proxy(Api& api, api::NodeUsageSource* source, Request request, const rt::Target& target,
                      Encoding encoding, std::shared_ptr<rt::HttpExchange> exchange);

}  // namespace apiserver
