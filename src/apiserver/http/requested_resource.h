// The resource that the path of a request asks for, whether or not a kind is served at it. By the rules of Kubernetes'
// RequestInfo.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/pipeline/rights/roles.h"
#include "rt/http/http.h"

namespace apiserver {

struct RequestedResource {
  Attributes of;
  std::string version;
};

// Nothing: the path is that of no resource. A user who may read all documents below /apis may not for that ask for
// objects.
std::optional<RequestedResource> requested_resource(const rt::HttpRequest& http, const rt::Target& target);

// The one name that a field selector lets through, which is what a list or a watch then asks for; empty: there is none.
std::string selected_name(std::string_view field_selector);

}  // namespace apiserver
