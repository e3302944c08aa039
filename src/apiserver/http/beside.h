// A service beside the API, under paths of its own: it acts for the users who ask it, over the API and with their
// rights.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/pipeline/request/request.h"
#include "base/result.h"
#include "rt/http/http.h"

namespace apiserver {

// The user who asks, and the way by which requests to the API are made with their rights. Any thread.
struct BesideCaller {
  UserInfo user;
  std::function<void(rt::HttpRequest, std::shared_ptr<rt::HttpExchange>)> send;
};

// Any thread.
class Beside {
 public:
  virtual ~Beside() = default;
  virtual bool has(std::string_view path) const = 0;
  // True for a path that a request without credentials may read. It takes no body.
  virtual bool is_open(std::string_view path) const = 0;
  // The audience of tokens of service accounts that are meant for this service, beside those for the API.
  virtual std::string_view audience() const = 0;
  // `caller`: unset for an open path only.
  virtual void serve(rt::HttpRequest http, std::optional<BesideCaller> caller,
                     std::shared_ptr<rt::HttpExchange> exchange) const = 0;
  // The answer to a user who is not let in.
  virtual rt::HttpResponse refusal(const base::Error& error) const = 0;
};

}  // namespace apiserver
