// An HTTP server: HTTP/2 or HTTP/1.1 over TLS, as the client likes, or HTTP/1.1 over plain TCP for local metrics. With
// keep-alive, pipelining in order, streams of answers, WebSockets (HTTP/1.1), client certificates, and gzip where asked
// for. The cost of a peer is limited: the size of a request, the time for each step, the number of connections, and the
// bytes held for all of them together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "rt/http/http.h"
#include "rt/http/server/connection_shares.h"

namespace rt {

// PEM texts, for clients that ask for this name: "a.example.com", or "*.example.com" for those of one more label.
struct NamedKeys {
  std::string name;
  std::string certificate_pem;
  std::string key_pem;

  bool operator==(const NamedKeys&) const = default;
};
// PEM texts.
struct ServerKeys {
  std::string certificate_pem;
  std::string key_pem;
  std::string client_ca_pem;  // client certificates are asked for and, if sent, must verify; empty: they are not
  std::vector<NamedKeys> by_name = {};  // in place of those above, where one has the name that a client asks for
};

// Why the server itself does not take a request, or not answer it.
struct HttpRefusal {
  int status = 400;
  std::string message;
  int retry_after_seconds = 0;  // 0: no hint
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;         // 0: a free one
  bool address_may_come = false;  // the address need not be there yet
  // Set: TLS and nothing else; keys that cannot be used are an error. Unset: plain HTTP.
  std::optional<ServerKeys> tls;
  bool offer_http2 = true;                            // over TLS
  std::size_t body_bytes_max = std::size_t{3} << 20;  // 413 beyond
  std::size_t header_bytes_max = std::size_t{64} << 10;
  // A connection is closed that takes longer: for the TLS handshake; until a request begins (90 s, as Go's servers);
  // for a request's header from its first byte on, and then for its body; for taking any of what is written to it.
  base::Duration handshake_time_max = base::seconds(10);
  base::Duration idle_time_max = base::seconds(90);
  base::Duration header_time_max = base::seconds(32);
  base::Duration request_time_max = base::seconds(60);
  base::Duration write_time_max = base::seconds(60);
  // While the server drains: until a request begins that may be on its way, for a connection that asks nothing.
  base::Duration last_request_time_max = base::seconds(2);
  // Connections above it get 503. A process that may open few files has three quarters of these.
  int connections_max = 4096;
  // As who a peer is recognized by this request: the name whose share of the connections this one takes, or empty for
  // those who have no share. Nothing: it is a stranger still. Asked at the header of each request until then. I/O
  // thread. Set: strangers have three quarters of the connections at the most, an address so many of these, a name a
  // quarter; the oldest stranger makes room for the next (rt/http/server/connection_shares.h).
  std::function<std::optional<std::string>(const HttpRequest&)> recognized_as = {};
  int strangers_of_an_address_max = 1024;
  // The limit for all connections together. Requests that would take more are answered 429, and so are those whose
  // answer would.
  std::size_t request_bytes_max = std::size_t{256} << 20;
  std::size_t answer_bytes_max = std::size_t{512} << 20;
  int io_threads = 1;
  // How such a refusal is said; unset: as plain text. I/O thread.
  std::function<HttpResponse(const HttpRefusal&)> refused = {};
  // Asked when the header of a request is there and its body is not: a response ends the request and the connection,
  // so that a stranger's body is neither read nor held. The request has no body yet. I/O thread. May be unset.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> refusal_before_body = {};
};

class HttpServer {
 public:
  // Called on an I/O thread, once per request. The exchange may be answered later, from any thread.
  using Handler = std::function<void(HttpRequest, std::shared_ptr<HttpExchange>)>;

  virtual ~HttpServer() = default;  // closes everything and joins the I/O threads
  virtual std::uint16_t port() const = 0;
  // Before the end of a server whose clients must not notice it: takes no new connections, tells those that it has to
  // ask elsewhere, and answers what they have asked. `done` comes once, on an I/O thread: when no connection is left,
  // or after `time_max`, whoever still has not ended a request or read an answer. Once, any thread; a server that ends
  // before drops it.
  virtual void drain(base::Duration time_max, std::function<void()> done) = 0;
  // Counts those that are open, and what became of others; of a server that recognizes no peer nothing. The function
  // may be called by any thread, also after the server's end.
  virtual std::function<ConnectionShares::Counts()> connections() const = 0;
  // New keys for connections from now on. Any thread. A server without TLS stays without.
  virtual base::Status set_keys(const ServerKeys& keys) = 0;
};

// Listens before it returns. A used port is an error that names address and port.
base::Result<std::unique_ptr<HttpServer>> listen_http(ServerOptions options, HttpServer::Handler handler);

}  // namespace rt
