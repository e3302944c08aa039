// An HTTP/1.1 server over TLS (or plain TCP for local metrics), with keep-alive, pipelining in order,
// chunked answers, client certificates, limits on header and body size, and gzip where asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "rt/http.h"

namespace rt {

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: a free one
  // PEM texts. Without a certificate the server speaks plain HTTP.
  std::string certificate_pem;
  std::string key_pem;
  std::string client_ca_pem;                          // client certificates are asked for and, if sent, must verify
  std::size_t body_bytes_max = std::size_t{3} << 20;  // 413 beyond, as the Kubernetes API server
  std::size_t header_bytes_max = std::size_t{64} << 10;
  // How long the header of a request may take from its first byte on, and then its body; the connection is closed when
  // that is over.
  base::Duration header_time_max = base::seconds(32);
  base::Duration request_time_max = base::seconds(60);
  int io_threads = 1;
};

class HttpServer {
 public:
  // Called on an I/O thread, once per request. The exchange may be answered later, from any thread.
  using Handler = std::function<void(HttpRequest, std::shared_ptr<HttpExchange>)>;

  virtual ~HttpServer() = default;  // closes everything and joins the I/O threads
  virtual std::uint16_t port() const = 0;
};

// Listens before it returns. A used port is an error that names address and port.
base::Result<std::unique_ptr<HttpServer>> listen_http(ServerOptions options, HttpServer::Handler handler);

}  // namespace rt
