// The API server as clients meet it: HTTPS, authentication, content types, health, metrics.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/node_usage.h"
#include "apiserver/documents/discovery.h"
#include "apiserver/http/access.h"
#include "apiserver/http/auditing.h"
#include "apiserver/pipeline/api.h"
#include "rt/http/server/http_server.h"

namespace apiserver {

struct ServerOptions {
  rt::ServerOptions http;
  std::string token;    // the bearer token of the administrator
  std::string version;  // as /version says it
  PreferredVersions preferred_versions = {};
  // The measurements of this process's node agent; null: there is none. Outlives the API server's loop.
  api::NodeUsageSource* node_usage = nullptr;
  // Metrics of other parts of this process, as text, for /metrics. Any thread; may be unset.
  std::function<std::string()> other_metrics = {};
  // The log of requests; null: nowhere.
  std::shared_ptr<const Auditing> auditing = {};
  // The web page, and its sessions; null: there is none.
  std::shared_ptr<const BrowserAccess> browser = {};
  // Services beside the API, each with paths of its own.
  std::vector<std::shared_ptr<const Beside>> beside = {};
  // How long the callback that runs now has held the API's loop; any thread. Unset: nobody watches it.
  std::function<base::Duration()> loop_held = {};
  // Further documents, by path: each answers JSON through its argument, from any thread. Called
  // by any thread, once set_ready() was.
  std::map<std::string, std::function<void(std::function<void(std::string)>)>> pages = {};
};

class Server {
 public:
  virtual ~Server() = default;
  virtual std::uint16_t port() const = 0;
  // Readiness is false until this is called.
  virtual void set_ready(bool ready) = 0;
  // A request that came another way, of a user who is known already. `as_read`: the right that it needs is that of a
  // GET. Any thread.
  virtual void serve_as(UserInfo user, rt::HttpRequest request, bool as_read,
                        std::shared_ptr<rt::HttpExchange> exchange) = 0;
  // Before the end: takes no new connections, ends watches, and answers what else was asked. `done` comes once, on an
  // I/O thread: when no connection is left, or after `time_max`. Once, any thread; a server that ends before drops it.
  virtual void drain(base::Duration time_max, std::function<void()> done) = 0;
  // New keys for connections from now on. Any thread.
  virtual base::Status set_keys(const rt::ServerKeys& keys) = 0;
};

// `api` lives on its own loop and must outlive the server. Requests that were received when the server is destroyed are
// carried out, and their answers go nowhere: a loop that stops (rt::RealEnv::stop()) waits for them. Requests that
// still wait for their turn go with their clients.
base::Result<std::unique_ptr<Server>> start_server(Api& api, ServerOptions options);

}  // namespace apiserver
