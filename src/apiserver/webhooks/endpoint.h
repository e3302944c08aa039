// The address at which a webhook listens. A pure function of its address and of the Services and endpoints that are
// stored.
#pragma once

#include <cstdint>
#include <string>

#include "api/admission.h"
#include "api/policies/webhook.h"
#include "base/random.h"
#include "base/result.h"

namespace apiserver {

struct WebhookEndpoint {
  std::string host;  // name or address
  std::uint16_t port = 443;
  std::string server_name;  // what its certificate must be for
  std::string target;       // path of the request
};

// Errors are those that a stock server says of the same Service. `random` chooses between endpoints.
base::Result<WebhookEndpoint> find_webhook_endpoint(const api::policies::WebhookAddress& address,
                                                    const api::ObjectReader& objects, base::Random& random);

}  // namespace apiserver
