// How a connection of the HTTP server begins: the TLS handshake, which also says whether it goes on as HTTP/1.1 or as
// HTTP/2.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>

#include "base/format.h"
#include "rt/http/server/http_connection.h"
#include "rt/http/server/server_tls.h"
#include "rt/loop/alarm.h"

namespace rt {
namespace {

using ErrorCode = boost::system::error_code;

constexpr base::Duration kSurplusTime = base::seconds(5);  // for a handshake that only leads to a refusal

class Handshake : public ConnectionDriver, public std::enable_shared_from_this<Handshake> {
 public:
  Handshake(std::shared_ptr<ConnectionSlot> seat, boost::asio::ip::tcp::socket socket,
            std::shared_ptr<boost::asio::ssl::context> tls)
      : seat_(std::move(seat)), socket_(std::move(socket)), tls_(std::move(tls)), alarm_(*seat_->context) {}

  void start() {
    const base::Duration time = seat_->surplus ? kSurplusTime : seat_->shared->options.handshake_time_max;
    end_after(seat_->shared->draining ? std::min(time, seat_->shared->options.last_request_time_max) : time);
    // The memory of TLS is made when the peer speaks: silence costs a socket.
    socket_.async_wait(boost::asio::socket_base::wait_read,
                       [self = shared_from_this()](ErrorCode error) { error ? self->shut() : self->shake(); });
  }
  void shut() override {
    if (done_) return;
    done_ = true;
    ErrorCode ignored;
    (stream_ ? stream_->next_layer() : socket_).close(ignored);
    alarm_.cancel();
    seat_->closed = true;
  }
  void drain() override {
    if (!done_) end_after(seat_->shared->options.last_request_time_max);
  }

 private:
  void end_after(base::Duration time) {
    alarm_.set(Alarm::Clock::now() + std::chrono::nanoseconds(time.ns), [self = shared_from_this()] { self->shut(); });
  }
  void shake() {
    if (done_) return;
    stream_ = std::make_unique<TlsStream>(std::move(socket_), *tls_);
    stream_->async_handshake(boost::asio::ssl::stream_base::server,
                             [self = shared_from_this()](ErrorCode error) { self->shaken(error); });
  }
  void shaken(ErrorCode error) {
    alarm_.cancel();
    if (error || done_ || !stream_->next_layer().is_open()) return shut();
    done_ = true;
    PeerNames peer;
    peer.address = address_of(stream_->next_layer());
    read_peer_names(stream_->native_handle(), peer.common_name, peer.organizations, peer.not_after);
    (speaks_http2(stream_->native_handle()) ? begin_http2 : begin_http1)(seat_, std::move(stream_), std::move(peer));
  }

  std::shared_ptr<ConnectionSlot> seat_;
  boost::asio::ip::tcp::socket socket_;  // until the peer has said something
  std::shared_ptr<boost::asio::ssl::context> tls_;
  std::unique_ptr<TlsStream> stream_;
  Alarm alarm_;
  bool done_ = false;  // it was passed on, or has ended
};

}  // namespace

// By the machine's clock, which the handshake went by, too.
void PeerNames::name(HttpRequest& request) const {
  request.peer_address = address;
  if (not_after != 0 && ::time(nullptr) > not_after) return;
  request.peer_common_name = common_name;
  request.peer_organizations = organizations;
}

HttpRefusal too_many_connections(const std::string& user, int most) {
  return {429,
          base::format("{} has {} connections to this server, as many as one may have; please use those that are open",
                       user, most),
          1};
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

void begin_handshake(const std::shared_ptr<ConnectionSlot>& seat, boost::asio::ip::tcp::socket socket,
                     const std::shared_ptr<boost::asio::ssl::context>& tls) {
  auto handshake = std::make_shared<Handshake>(seat, std::move(socket), tls);
  seat->driver = handshake;
  seat->shared->post(*seat->context, [handshake] { handshake->start(); });
}

}  // namespace rt
