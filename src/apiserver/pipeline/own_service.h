// The Service `kubernetes` in the namespace `default`, by which pods find this server.
#pragma once

#include <functional>
#include <string>

#include "apiserver/pipeline/api.h"

namespace apiserver {

// The address at which pods reach the server.
struct ServerPlace {
  std::string address;  // IPv4; with another one the Service has no endpoints
  int port = 0;
};

// Makes the Service, its Endpoints and its EndpointSlice what they should be; writes nothing where they are. Loop
// thread only, after Api::bootstrap(). `done` gets the first failure.
void keep_own_service(Api& api, const ServiceNetwork& network, const ServerPlace& place,
                      std::function<void(base::Status)> done);

}  // namespace apiserver
