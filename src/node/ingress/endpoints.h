// The pods behind a backend of an Ingress. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "node/ingress/routes.h"

namespace node::ingress {

struct Endpoint {
  std::string address;
  std::uint16_t port = 0;
  bool tls = false;  // the Service's port says that it speaks HTTPS

  auto operator<=>(const Endpoint&) const = default;
};

// The known objects of one namespace.
struct Objects {
  std::function<const api::Json*(const std::string&name)> service, pod;
  std::function<std::vector<const api::Json*>(const std::string& service)> slices;
};

// Why the backend can never be served: no such Service or port, or one that stands for a name elsewhere.
base::Status check_backend(const Backend& backend, const api::Json* service);
// The endpoints that are ready, in order. A writer of EndpointSlices may write any address into them: one counts if it
// is that of a running pod of the namespace.
std::vector<Endpoint> endpoints_of(const Backend& backend, const Objects& objects);

}  // namespace node::ingress
