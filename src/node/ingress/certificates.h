// The keys of the router's TLS, from Secrets. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "node/ingress/routes.h"
#include "rt/http/server/http_server.h"

namespace node::ingress {

struct Certificates {
  std::vector<rt::NamedKeys> named;  // one of them may have no name: it is for whatever nobody else has
  std::vector<Routes::Refused> wrong;
};

// A Secret that is not there or that holds no keys is told, and left out.
Certificates certificates_of(const std::vector<TlsUse>& uses,
                             const std::function<const api::Json*(const TlsUse& use)>& secret_of);

}  // namespace node::ingress
