// HTTP as the rest of the program sees it: messages in, messages out, streams of chunks.
// The server (rt/http_server.h) and the client (rt/http_client.h) speak it over TLS or plain TCP.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rt {

using Headers = std::vector<std::pair<std::string, std::string>>;

// The first header of that name (compared without case), or empty.
std::string_view header(const Headers& headers, std::string_view name);

struct HttpRequest {
  std::string method;  // upper case
  std::string target;  // path and query as sent: "/api/v1/pods?limit=500"
  Headers headers;
  std::string body;
  std::string peer_common_name;  // subject of a client certificate signed by our CA; empty without one
  std::vector<std::string> peer_organizations;
};

struct HttpResponse {
  int status = 200;
  Headers headers;  // Content-Length and Transfer-Encoding are added
  std::string body;
  // Sent one after the other instead of `body`, without being joined first; servers only.
  std::vector<std::shared_ptr<const std::string>> pieces = {};
};

// Splits a target into its decoded path and decoded query pairs, in order.
struct Target {
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;

  std::string_view get(std::string_view key) const;  // the first value, or empty
  bool has(std::string_view key) const;
};
Target parse_target(std::string_view target);
std::string percent_encode(std::string_view text);

// How a server answers one request: `respond` once, or `start` and then `send`... `finish`.
// All methods may be called from any thread; they post to the connection's I/O thread.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual void respond(HttpResponse response) = 0;
  // Begins a chunked response (watch, logs).
  virtual void start(int status, Headers headers) = 0;
  // A chunk. The bytes may be shared between many streams (one watch event is encoded once).
  virtual void send(std::shared_ptr<const std::string> bytes) = 0;
  virtual void finish() = 0;
  // Bytes accepted by send() and not yet written to the socket: the measure of a slow reader.
  virtual std::size_t backlog_bytes() const = 0;
  // Called at most once, on an I/O thread, if the peer goes away before the answer is complete.
  virtual void on_closed(std::function<void()> callback) = 0;
};

}  // namespace rt
