// The user of a request, with whose rights objects are read and written.
#pragma once

#include <memory>
#include <string>

#include "client/client.h"
#include "rt/http/http.h"

namespace pipelines::rest {

// Everything on the server's loop.
class Asker {
 public:
  virtual ~Asker() = default;
  // The callback comes after the call has returned.
  virtual void call(client::Request request, client::Client::OnResult on_result) = 0;
  // Passes the API server's answer to a GET of this target on, as it comes: the log of a pod.
  virtual void pass(std::string target, std::shared_ptr<rt::HttpExchange> exchange) = 0;
  // The namespace of requests that name none.
  virtual std::string own_namespace() const = 0;
};

}  // namespace pipelines::rest
