// An HTTP client for one server. Over TLS it offers HTTP/2: then one connection carries the requests and others carry
// the streams. A server that speaks only HTTP/1.1 gets as many connections as there are requests on their way, and one
// for each stream. Callbacks arrive on the loop given at construction.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "rt/http/client/proxy.h"
#include "rt/http/http.h"
#include "rt/loop/loop.h"

namespace rt {

// More is refused, whichever the protocol.
inline constexpr std::size_t kAnswerHeaderBytesMax = std::size_t{256} << 10;

struct ClientOptions {
  std::string host;  // name or address
  std::uint16_t port = 443;
  bool tls = true;
  std::string ca_pem;           // empty: the system's roots
  std::string certificate_pem;  // optional client certificate
  std::string key_pem;
  std::string server_name;  // overrides the name that the certificate is checked against
  bool insecure_skip_verify = false;
  std::optional<Proxy> proxy = {};  // the way to a server with TLS
  int in_flight_max = 64;           // requests on their way at a time; the others wait, those of low urgency longest
  std::size_t answer_bytes_max = std::size_t{1} << 30;  // of one answer that is not a stream; more is an error
  // The limit for streams together: so much is read before the loop takes some of it; the rest waits at the server.
  std::size_t stream_bytes_max = std::size_t{128} << 20;
  bool offer_http2 = true;
  base::Duration timeout = base::seconds(60);  // of one request; streams have none
};

class HttpStream {
 public:
  virtual ~HttpStream() = default;  // closes the connection; no callback follows
  // Bytes for the server of a stream that goes on with another protocol (HttpRequest::upgrade, answered 101). False: it
  // has enough until on_room. Loop thread.
  virtual bool write(std::string /*bytes*/) { return true; }
  // While it is held no more is read than was under way, so that the server waits; over HTTP/1.1 only. Loop thread.
  virtual void hold(bool /*held*/) {}
};

class HttpClient {
 public:
  using OnResponse = std::function<void(base::Result<HttpResponse>)>;
  struct StreamCallbacks {
    std::function<void(int status, const Headers&)> on_start;
    std::function<void(std::string_view bytes)> on_data;  // any split of the body
    std::function<void(base::Status)> on_end;             // exactly once
    std::function<void()> on_room = {};                   // after a write() that said false
  };

  virtual ~HttpClient() = default;
  virtual void send(HttpRequest request, OnResponse on_response) = 0;
  virtual std::unique_ptr<HttpStream> stream(HttpRequest request, StreamCallbacks callbacks) = 0;
  // Whether the server accepts a connection within the time of a request; it ends at once.
  virtual void connect(std::function<void(base::Status)> on_connected) = 0;
};

// The loop must outlive the client. Connections are made on demand, by an I/O thread of the client's own.
base::Result<std::unique_ptr<HttpClient>> make_http_client(ClientOptions options, Loop& loop);

}  // namespace rt
