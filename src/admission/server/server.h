// The webhook server: AdmissionReviews over HTTPS, and the registration of its CA with the API server.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "admission/rules/hooks.h"
#include "admission/server/server_keys.h"
#include "client/client.h"
#include "rt/env.h"
#include "rt/http/http.h"
#include "rt/http/server/http_server.h"

namespace admission {

// The answer to one request: the HTTP contract of webhooks.md 2.4.
rt::HttpResponse answer_http(const rt::HttpRequest& request, const std::vector<api::AdmissionHook>& hooks,
                             const api::ObjectReader& objects);
// The same by a view that may be old: a refusal that rests on it is confirmed by the server
// (admission/server/confirm.h). `done` comes on the client's loop; `view` must live until then.
void answer_http_confirmed(const rt::HttpRequest& request, const std::vector<api::AdmissionHook>& hooks,
                           client::Client& client, rt::Loop& loop, const api::ObjectReader& view,
                           std::function<void(rt::HttpResponse)> done);

struct ServerOptions {
  rt::ServerOptions http;
  Options rules;
  std::string ca_pem;  // put into the webhook configurations
};

// Made, used and destroyed on the loop of `env`; rules run there. The client must outlive it.
class Server {
 public:
  Server(rt::Env& env, client::Client& client, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Registers the CA with every enabled path's configuration, waits for the view of queues and namespaces, then
  // listens. `done` comes on the loop: with the port, or with why the server cannot start.
  void start(std::function<void(base::Result<std::uint16_t>)> done);
  // Why it does not answer yet, empty once it does: what /readyz of the health server says.
  std::string why_not_ready() const;
  // The answer of /readyz: it answers, and what it has to do without.
  std::string readiness() const;
  // From now on serves by these keys. Their CA is put into the configurations first, and the API server has a moment to
  // learn of that; what fails is tried again.
  void set_keys(const ServerKeys& keys);
  // The end, of which nobody who asks must notice anything: it is not ready any more, but takes connections for a
  // moment, until those who choose a server have heard of that; then it takes none, has clients that are connected go
  // elsewhere, and answers what they have asked. `done` comes on the loop, after `patience` at the latest.
  void drain(base::Duration patience, std::function<void()> done);
  // From now on answers by these rules (a changed configuration file).
  void set_pod_rules(std::vector<PodGroupRule> rules);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The same for another server of reviews, on its loop: what it says of itself before is its own. A server that is gone
// before drops it.
void end_listening(rt::Loop& loop, std::weak_ptr<rt::HttpServer> http, base::Duration patience,
                   std::function<void()> done);

// "volcano-admission-service-jobs-mutate" for "/jobs/mutate".
std::string configuration_name(std::string_view path);

}  // namespace admission
