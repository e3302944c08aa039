// Requests of whoever reaches this machine, on their way to pods and back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/ingress/endpoints.h"
#include "node/ingress/routes.h"
#include "rt/env.h"
#include "rt/http/client/http_client.h"
#include "rt/http/client/relays.h"
#include "rt/http/http.h"

namespace node::ingress {

struct DoorOptions {
  // The pods behind a backend; loop thread.
  std::function<std::vector<Endpoint>(const Backend&)> endpoints;
  // Cookies by which other programs of this machine know a browser: they come to every port of it.
  std::function<bool(std::string_view name)> is_own_cookie;
};

// The headers of a request as a pod gets them. A client cannot say where its request came from.
rt::Headers headers_for_pod(const rt::HttpRequest& http, bool tls, const DoorOptions& options);
rt::Headers headers_for_peer(const rt::Headers& headers, const DoorOptions& options);
// The same request by TLS, method and body included.
rt::HttpResponse sent_to_https(const rt::HttpRequest& http, std::uint16_t port);

class Door : public std::enable_shared_from_this<Door> {
 public:
  Door(rt::Env& env, DoorOptions options);

  // Loop thread, both.
  void set_routes(std::shared_ptr<const Routes> routes);
  void end();
  // The port of TLS; 0: none is open.
  void set_https_port(std::uint16_t port) { https_port_ = port; }
  // Any thread.
  std::optional<rt::HttpResponse> refusal(const rt::HttpRequest& http) const;
  void serve(rt::HttpRequest http, bool tls, std::shared_ptr<rt::HttpExchange> exchange);

 private:
  struct Work;
  struct Way {
    std::unique_ptr<rt::HttpClient> client;
    int requests = 0;
    base::Duration idle_since;
  };

  std::shared_ptr<const Routes> routes() const;
  void begin(const std::shared_ptr<Work>& work);
  void send(const std::shared_ptr<Work>& work);
  void answer(std::uint64_t id, const Work& work, rt::HttpExchange& to, int status, const rt::Headers& headers);
  void failed(const std::shared_ptr<Work>& work, const base::Error& why);
  void ended(const Work& work, const Endpoint& at);
  rt::HttpClient* client_of(const Endpoint& at);
  void forget_idle();

  rt::Env& env_;
  const DoorOptions options_;
  const std::shared_ptr<rt::Relays> relays_;
  mutable std::mutex mutex_;  // guards the next
  std::shared_ptr<const Routes> routes_ = std::make_shared<Routes>();
  std::map<Endpoint, Way> ways_;
  std::map<std::string, int> under_way_;  // by namespace
  std::size_t next_ = 0;                  // of the pods behind a backend
  bool looks_ = false, ended_ = false;
  std::uint16_t https_port_ = 0;
};

}  // namespace node::ingress
