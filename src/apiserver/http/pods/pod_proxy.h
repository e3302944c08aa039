// pods/NAME/proxy and services/NAME/proxy: an HTTP request that a pod answers, by way of the API server.
#pragma once

#include <string>
#include <string_view>

#include "api/admission.h"
#include "apiserver/http/pods/pod_relay.h"
#include "apiserver/pipeline/api.h"
#include "base/random.h"
#include "rt/http/http.h"

namespace apiserver {

bool is_pod_proxy(const Request& request);

// "NAME", "NAME:PORT" or "SCHEME:NAME:PORT", as the name in such a path.
struct ProxiedName {
  std::string scheme;  // "http", "https" or empty
  std::string name;
  std::string port;  // a number or a name, or empty
};
base::Result<ProxiedName> proxied_name(std::string_view kind, std::string_view text);

// The pod and its port that are meant. `request` names a pod or a service; `random` chooses between endpoints. Errors
// are a stock server's.
base::Result<ProxiedPod> find_proxied_pod(const Request& request, const api::ObjectReader& objects,
                                          base::Random& random);

// Any thread.
void serve_pod_proxy(Api& api, Request request, rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange);

}  // namespace apiserver
