// How a connection of the HTTP server begins: the TLS handshake, which also says whether it goes on as HTTP/1.1 or as
// HTTP/2.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "rt/alarm.h"
#include "rt/http_connection.h"
#include "rt/server_tls.h"

namespace rt {
namespace {

using ErrorCode = boost::system::error_code;

constexpr base::Duration kSurplusTime = base::seconds(5);  // for a handshake that only leads to a refusal

class Handshake : public ConnectionDriver, public std::enable_shared_from_this<Handshake> {
 public:
  Handshake(std::shared_ptr<Seat> seat, boost::asio::ip::tcp::socket socket, boost::asio::ssl::context& tls)
      : seat_(std::move(seat)), stream_(std::make_unique<TlsStream>(std::move(socket), tls)), alarm_(*seat_->context) {}

  void start() {
    const base::Duration time = seat_->surplus ? kSurplusTime : seat_->shared->options.handshake_time_max;
    end_after(seat_->shared->draining ? std::min(time, seat_->shared->options.last_request_time_max) : time);
    stream_->async_handshake(boost::asio::ssl::stream_base::server,
                             [self = shared_from_this()](ErrorCode error) { self->shaken(error); });
  }
  void shut() override {
    if (!stream_) return;
    ErrorCode ignored;
    stream_->next_layer().close(ignored);
    alarm_.cancel();
    seat_->closed = true;
  }
  void drain() override {
    if (stream_) end_after(seat_->shared->options.last_request_time_max);
  }

 private:
  void end_after(base::Duration time) {
    alarm_.set(Alarm::Clock::now() + std::chrono::nanoseconds(time.ns), [self = shared_from_this()] { self->shut(); });
  }
  void shaken(ErrorCode error) {
    alarm_.cancel();
    if (error || !stream_->next_layer().is_open()) return shut();
    PeerNames peer;
    peer.address = address_of(stream_->next_layer());
    read_peer_names(stream_->native_handle(), peer.common_name, peer.organizations, peer.not_after);
    (speaks_http2(stream_->native_handle()) ? begin_http2 : begin_http1)(seat_, std::move(stream_), std::move(peer));
  }

  std::shared_ptr<Seat> seat_;
  std::unique_ptr<TlsStream> stream_;  // unset: it was passed on
  Alarm alarm_;
};

}  // namespace

// By the machine's clock, which the handshake went by, too.
void PeerNames::name(HttpRequest& request) const {
  request.peer_address = address;
  if (not_after != 0 && ::time(nullptr) > not_after) return;
  request.peer_common_name = common_name;
  request.peer_organizations = organizations;
}

std::string address_of(const boost::asio::ip::tcp::socket& socket) {
  ErrorCode error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return {};
  const auto address = peer.address();
  return address.is_v6() && address.to_v6().is_v4_mapped()
             ? boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6()).to_string()
             : address.to_string();
}

bool has_left(boost::asio::ip::tcp::socket& socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  return info.tcpi_state == TCP_CLOSE_WAIT || info.tcpi_state == TCP_CLOSE;
}

void begin_handshake(const std::shared_ptr<Seat>& seat, boost::asio::ip::tcp::socket socket,
                     const std::shared_ptr<boost::asio::ssl::context>& tls) {
  auto handshake = std::make_shared<Handshake>(seat, std::move(socket), *tls);
  seat->driver = handshake;
  boost::asio::post(*seat->context, [handshake] { handshake->start(); });
}

}  // namespace rt
