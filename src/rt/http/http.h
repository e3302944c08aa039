// HTTP as the rest of the program sees it: messages in, messages out, streams of chunks.
// The server (rt/http/server/http_server.h) and the client (rt/http/client/http_client.h) speak it over TLS or plain
// TCP.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rt {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Names of headers, and other words of HTTP, differ not by case.
bool same_header(std::string_view a, std::string_view b);
// The first header of that name (compared without case), or empty.
std::string_view header(const Headers& headers, std::string_view name);
// All of that name, in order.
std::vector<std::string_view> all_headers(const Headers& headers, std::string_view name);
// The items of all of them, which are lists with commas.
std::vector<std::string_view> header_list(const Headers& headers, std::string_view name);

struct HttpRequest {
  std::string method;  // upper case
  std::string target;  // path and query as sent: "/api/v1/pods?limit=500"
  Headers headers;
  std::string body;
  std::string peer_common_name;  // subject of a client certificate signed by our CA; empty without one
  std::vector<std::string> peer_organizations;
  std::string peer_address;  // servers: where the connection comes from, "127.0.0.1" or "::1"; empty: it is gone
  bool web_socket = false;   // servers: the peer asks to go on as a WebSocket
  std::string upgrade;       // servers: another protocol that the peer asks to go on with, such as "SPDY/3.1"
  // Clients: the request may be sent a second time where a kept connection ended without any answer to it. GET and HEAD
  // always may; of others the sender must be able to tell from the second answer what the first sending did.
  bool may_repeat = false;
  // Clients: of the requests that wait, those with the lowest number are sent first, in the order in which they came.
  std::uint8_t urgency = 0;
  // Clients: asked on the I/O thread when the request is about to go out, which may be long after it was made. False:
  // it is not sent, and its answer is kUnavailable. Unset: it is.
  std::function<bool()> wanted = {};
};

struct HttpResponse {
  int status = 200;
  Headers headers;  // Content-Length and Transfer-Encoding are added
  std::string body;
  // Sent one after the other instead of `body`, without being joined first; servers only.
  std::vector<std::shared_ptr<const std::string>> pieces = {};
  bool repeated = false;  // clients: an earlier sending had no answer, and may have been carried out all the same
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

// Bytes that go to many streams, framed as a chunk once for all of them.
class SharedChunk {
 public:
  // `bytes` has at least one.
  explicit SharedChunk(std::string_view bytes);
  std::string_view bytes() const { return std::string_view(framed_).substr(begin_, size_); }
  const std::string& framed() const { return framed_; }

 private:
  std::string framed_;
  std::size_t begin_, size_;
};

// How a server answers one request: `respond` once, or `start` and then `send`... `finish`.
// All methods may be called from any thread; they post to the connection's I/O thread.
class HttpExchange {
 public:
  using Bytes = std::shared_ptr<const std::string>;
  // On an I/O thread, piece after piece, never two at once. False: no more of them until resume_reading().
  using OnBytes = std::function<bool(std::string)>;

  virtual ~HttpExchange() = default;
  virtual void respond(HttpResponse response) = 0;
  // Begins a chunked response (watch, logs).
  virtual void start(int status, Headers headers) = 0;
  enum class Messages : std::uint8_t { kText, kBytes };
  // Goes on as a WebSocket; only where the request asks for it. Each send() is then one message of that form, and each
  // piece that `on_bytes` gets is one of the peer's; without it those are dropped.
  virtual void start_web_socket(Headers headers, Messages messages, OnBytes on_bytes = {}) = 0;
  // Goes on with the protocol that the request asks for: bytes both ways.
  virtual void start_upgraded(Headers headers, OnBytes on_bytes) = 0;
  // After an OnBytes that said false.
  virtual void resume_reading() = 0;
  // One chunk or message. The bytes may be shared between many streams (a stored object is never copied).
  virtual void send(std::vector<Bytes> pieces) = 0;
  virtual void send_shared(std::shared_ptr<const SharedChunk> chunk) = 0;
  virtual void finish() = 0;
  // After start(): no more comes, and what was sent is not whole. The peer sees its connection or stream break.
  virtual void abandon() = 0;
  // Bytes accepted by send() and not yet written to the socket: the measure of a slow reader.
  virtual std::size_t backlog_bytes() const = 0;
  // Calls back once, on any thread, when little of the backlog is left; not if the peer goes away first.
  virtual void on_drained(std::function<void()> callback) = 0;
  // Returns when little of the backlog is left, or the peer has gone. For threads that have nothing else to do.
  virtual void wait_until_drained() = 0;
  // Called at most once, on an I/O thread, if the peer goes away before the answer is complete.
  virtual void on_closed(std::function<void()> callback) = 0;

  void send_one(Bytes bytes) {
    std::vector<Bytes> pieces;
    pieces.push_back(std::move(bytes));
    send(std::move(pieces));
  }
};

}  // namespace rt
