// A client's request as a pod gets it, and the pod's answer as the client gets it.
#pragma once

#include <string>
#include <string_view>

#include "rt/http/http.h"

namespace apiserver {

// "/api/v1/namespaces/NS/pods/NAME/proxy" of "/api/v1/namespaces/NS/pods/NAME/proxy/a%2Fb?q=1": as it was sent.
std::string_view proxy_prefix(std::string_view target);
// The request in the form of HTTP/1.1, with `host` as whom it is said to. The user is not told: neither tokens nor whom
// they act as. An upgrade goes on as one.
std::string request_for_pod(const rt::HttpRequest& http, std::string_view host);
// The headers of the pod that are for the client. A Location on the pod itself, which knows itself as `host`, leads
// through `prefix`.
rt::Headers headers_for_client(const rt::Headers& headers, std::string_view prefix, std::string_view host,
                               bool upgraded);

}  // namespace apiserver
