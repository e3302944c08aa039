// Questions of people on this machine, over a Unix socket that speaks HTTP/1.1: a GET, a text, and the connection ends.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "rt/http/http.h"

namespace rt {

class LocalServer {
 public:
  // On a thread of the server's own, one question at a time.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  virtual ~LocalServer() = default;  // ends what is under way, and removes the socket if it is still ours
};

// Listens at `path`, which only this user may open: its folder is made, if need be, for this user alone. An error if
// the folder belongs to somebody else, or if another process answers there; what an ended process left is replaced. A
// question may have 8 KiB and take five seconds.
base::Result<std::unique_ptr<LocalServer>> listen_locally(const std::string& path, LocalServer::Handler handler);

}  // namespace rt
