// An API server in the bench's own process, for profiles: the product's server, store and rules, and nothing beside.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "client/http/kubeconfig.h"

namespace bench {

class OwnServer {
 public:
  virtual ~OwnServer() = default;
  virtual client::ServerAccess access() const = 0;
};

// Keeps its objects in the folder `data`, which is made if it is missing.
base::Result<std::unique_ptr<OwnServer>> start_own_server(const std::string& data);

}  // namespace bench
