// The connections of an HTTP server: what they share, and how one begins.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rt/http/server/http_exchange.h"
#include "rt/http/server/http_framing.h"
#include "rt/http/server/http_server.h"

namespace rt {

using TlsStream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket>;

struct ConnectionsShared : AnswerLimits {
  ServerOptions options;
  HttpServer::Handler handler;
  std::atomic<bool> stopped{false};   // set by stop(); nothing is posted to an I/O thread any more
  std::atomic<bool> draining{false};  // of connections that begin later, too
  std::atomic<int> connections{0};
  std::shared_ptr<ConnectionShares> shares;   // null: all peers are alike
  int of_a_user_max = 0;                      // as the shares have it
  std::atomic<std::size_t> request_bytes{0};  // received, and not answered yet
  std::atomic<std::size_t> answer_bytes{0};   // not taken by the peers yet

  bool too_much(std::size_t bytes) const override {
    return bytes > Backlog::kLow && answer_bytes + bytes > options.answer_bytes_max;
  }
  HttpResponse refused(const HttpRefusal& refusal) const override {
    return options.refused ? options.refused(refusal) : plain_refusal(refusal);
  }

  bool is_draining() const override { return draining; }

  // Any thread. False once the server has stopped. A task that was taken is done before the I/O threads end: one that
  // nobody runs would keep its connection, and the connection its context, for ever.
  template <class Task>
  bool post(boost::asio::io_context& context, Task&& task) {
    const std::lock_guard lock(posting);
    if (stopped) return false;
    boost::asio::post(context, std::forward<Task>(task));
    return true;
  }
  // While the I/O threads still have work that keeps them.
  void stop() {
    const std::lock_guard lock(posting);
    stopped = true;
  }
  std::mutex posting;

  // Connections keep the keys that they began with.
  std::shared_ptr<boost::asio::ssl::context> tls() {
    const std::lock_guard lock(mutex);
    return keys;
  }
  std::mutex mutex;
  std::shared_ptr<boost::asio::ssl::context> keys;
};

// The driver of a connection at the moment: its handshake, then HTTP/1.1 or HTTP/2. It keeps itself alive as long as
// there is a peer or an answer under way.
class ConnectionDriver {
 public:
  virtual ~ConnectionDriver() = default;
  // I/O thread, both. The server ends.
  virtual void shut() = 0;
  // It is about to: what was asked is answered, and then the connection ends. A connection that begins later looks at
  // ConnectionsShared::draining.
  virtual void drain() = 0;
};

HttpRefusal too_many_connections(const std::string& user, int most);

// One of the connections that a server may have; it passes from driver to driver.
struct ConnectionSlot {
  ConnectionSlot(std::shared_ptr<boost::asio::io_context> c, std::shared_ptr<ConnectionsShared> s,
                 ConnectionShares::Id i, bool is_surplus)
      : context(std::move(c)), shared(std::move(s)), id(i), surplus(is_surplus) {
    ++shared->connections;
  }
  ~ConnectionSlot() {
    --shared->connections;
    if (shared->shares && id != 0) shared->shares->end(id);
  }
  // I/O thread, at the header of each request: whether it shows who the peer is. A refusal: they have too many
  // connections. `ask` makes the request as the handler would get it.
  template <class Ask>
  std::optional<HttpRefusal> recognize(const Ask& ask) {
    if (recognized || !shared->shares) return std::nullopt;
    const std::optional<std::string> user = shared->options.recognized_as(ask());
    if (!user) return std::nullopt;
    recognized = shared->shares->recognize(id, *user);
    if (recognized) return std::nullopt;
    return too_many_connections(*user, shared->of_a_user_max);
  }
  ConnectionSlot(const ConnectionSlot&) = delete;
  ConnectionSlot& operator=(const ConnectionSlot&) = delete;

  std::shared_ptr<boost::asio::io_context> context;  // an answer may be given after the server is gone
  std::shared_ptr<ConnectionsShared> shared;
  std::atomic<bool> closed{false};  // an answer that nobody can send any more may hold the seat
  const ConnectionShares::Id id;    // 0: it has no share
  bool recognized = false;          // I/O thread
  bool surplus;                     // it is told that there are too many, and closed
  std::weak_ptr<ConnectionDriver> driver;
};

// The identity of the peer by its certificate, and its address.
struct PeerNames {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string address;
  std::int64_t not_after = 0;  // of the certificate, in Unix seconds

  // Into a request. A connection may outlive the certificate that was shown at its beginning: it counts no more.
  void name(HttpRequest& request) const;
};
// Empty: it has gone.
std::string address_of(const boost::asio::ip::tcp::socket& socket);
// Whether it has closed its side, also behind bytes that nobody has read yet.
bool has_left(boost::asio::ip::tcp::socket& socket);

// Begins with the handshake where the server has keys.
void begin_connection(const std::shared_ptr<ConnectionSlot>& seat, boost::asio::ip::tcp::socket socket);
void begin_handshake(const std::shared_ptr<ConnectionSlot>& seat, boost::asio::ip::tcp::socket socket,
                     const std::shared_ptr<boost::asio::ssl::context>& tls);
// I/O thread, both; the handshake is over.
void begin_http1(const std::shared_ptr<ConnectionSlot>& seat, std::unique_ptr<TlsStream> stream, PeerNames peer);
void begin_http2(const std::shared_ptr<ConnectionSlot>& seat, std::unique_ptr<TlsStream> stream, PeerNames peer);

}  // namespace rt
