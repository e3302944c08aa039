// A client's way to its server: name, TCP, TLS and the protocol that both speak.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rt/http/client/address_race.h"
#include "rt/http/client/http_client.h"
#include "rt/loop/loop_mail.h"

namespace rt {

// The state that all connections of one client share. Everything of theirs happens on the thread that runs `context`.
struct ClientShared {
  ClientShared(ClientOptions o, Loop& loop) : options(std::move(o)), mail(loop) {}
  // On the loop, soon.
  void post(Task task) { mail.add(context, std::move(task)); }
  std::string authority() const;  // host and port as in a URL
  base::Error error(base::Code code, std::string_view why) const;

  // Whether streams have to wait for the loop before more of them is read.
  bool loop_is_behind() const { return *untaken >= options.stream_bytes_max; }

  ClientOptions options;
  // Bytes of streams that the loop has not taken. Pieces that it never takes outlive this.
  const std::shared_ptr<std::atomic<std::size_t>> untaken = std::make_shared<std::atomic<std::size_t>>(0);
  std::optional<boost::asio::ssl::context> tls;
  LoopMail mail;
  boost::asio::io_context context{1};
};

// How soon a connection that waits for the loop looks whether it may read on.
inline constexpr std::chrono::milliseconds kLoopLook{5};

class ClientSocket {
 public:
  using Tcp = boost::asio::ip::tcp;

  explicit ClientSocket(std::shared_ptr<ClientShared> shared);

  // `done` holds whoever owns this socket.
  void connect(bool offer_http2, const std::function<void(base::Status)>& done);
  // The same where the addresses of the server, or of the proxy, are known: the first that answers is taken.
  void connect_to(const std::vector<Tcp::endpoint>& addresses, bool offer_http2,
                  const std::function<void(base::Status)>& done);
  // After connect(): whether the server has chosen HTTP/2.
  bool speaks_http2() const;
  void close();

  // Whether a read would wait for the peer, as far as can be told.
  bool is_drained();

  // Calls f with the stream of bytes, plain or TLS.
  template <class F>
  void with_stream(F f) {
    if (secure_)
      f(*secure_);
    else
      f(*plain_);
  }

 private:
  // The host and port to look up.
  std::pair<std::string, std::uint16_t> place() const;
  std::string by() const;  // in messages
  void connected(bool offer_http2, const std::function<void(base::Status)>& done);
  // Asks the proxy for the server, before the first byte for that.
  void tunnel(const std::function<void(base::Status)>& done);
  void secure(bool offer_http2, const std::function<void(base::Status)>& done);
  Tcp::socket& socket() { return secure_ ? secure_->next_layer() : *plain_; }

  std::shared_ptr<ClientShared> shared_;
  Tcp::resolver resolver_;
  std::weak_ptr<AddressRace> race_;  // while it is under way
  bool closed_ = false;
  std::string asked_, answered_;  // to and from the proxy
  std::optional<Tcp::socket> plain_;
  std::optional<boost::asio::ssl::stream<Tcp::socket>> secure_;
};

}  // namespace rt
