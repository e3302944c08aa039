// Requests of browsers, sent on to an API server with the credentials of a kubeconfig.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "client/http/server_connection.h"
#include "rt/env.h"
#include "rt/http/client/relays.h"
#include "rt/http/http.h"

namespace volcano_main {

// Everything on the loop of `env`.
class Forwarder {
 public:
  Forwarder(rt::Env& env, std::unique_ptr<client::ServerConnection> server)
      : server_(std::move(server)), relays_(std::make_shared<rt::Relays>(env.loop())) {}

  // The page's own request: little of its header goes on, and little comes back. `token`: of the user as whom it is
  // made; empty: with the credentials of the connection.
  void forward(const rt::HttpRequest& http, std::string_view token, std::shared_ptr<rt::HttpExchange> exchange);
  // A GET whose answer comes over a WebSocket: browsers open six connections to a server, and a page has more watches.
  // The first message is the status, the others are the answer's bytes.
  void stream(std::string path, std::string accept, std::string_view token, std::shared_ptr<rt::HttpExchange> exchange);
  // A request that goes as it is, upgrades included. An error of the API server itself is answered whole, as
  // ui::Passing wants it.
  void relay(const rt::HttpRequest& http, const std::shared_ptr<rt::HttpExchange>& exchange);
  // Ends all streams, and the connections.
  void end();

 private:
  using Begin = std::function<void(std::uint64_t relay, rt::HttpExchange& to, int status, const rt::Headers& headers)>;

  void run(rt::HttpRequest request, std::shared_ptr<rt::HttpExchange> exchange, Begin begin);

  std::unique_ptr<client::ServerConnection> server_;
  std::shared_ptr<rt::Relays> relays_;
};

}  // namespace volcano_main
