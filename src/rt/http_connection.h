// The connections of an HTTP server: what they share, and how one begins.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <mutex>

#include "rt/http_exchange.h"
#include "rt/http_framing.h"
#include "rt/http_server.h"

namespace rt {

struct ConnectionsShared {
  ServerOptions options;
  HttpServer::Handler handler;
  std::atomic<bool> stopped{false};  // nothing is posted to an I/O thread any more
  std::atomic<int> connections{0};
  std::atomic<std::size_t> request_bytes{0};  // received, and not answered yet
  std::atomic<std::size_t> answer_bytes{0};   // not taken by the peers yet

  HttpResponse refused(const HttpRefusal& refusal) const {
    return options.refused ? options.refused(refusal) : plain_refusal(refusal);
  }

  // Connections keep the keys that they began with.
  std::shared_ptr<boost::asio::ssl::context> tls() {
    const std::lock_guard lock(mutex);
    return keys;
  }
  std::mutex mutex;
  std::shared_ptr<boost::asio::ssl::context> keys;
};

// Lives as long as its peer and the answers under way. `surplus`: it is told that there are too many, and closed.
std::shared_ptr<ConnectionBase> begin_connection(std::shared_ptr<boost::asio::io_context> context,
                                                 std::shared_ptr<ConnectionsShared> shared,
                                                 boost::asio::ip::tcp::socket socket, bool surplus);

}  // namespace rt
