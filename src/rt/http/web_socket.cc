// Beast's WebSocket over the two streams that a server has.
#include "rt/http/web_socket.h"

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace rt {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kUnreadBytesMax = std::size_t{64} << 10;  // of a message of the peer's that nobody reads
constexpr std::size_t kMessageBytesMax = std::size_t{1} << 20;

template <class Stream>
class RealWebSocket : public WebSocket {
 public:
  explicit RealWebSocket(Stream& stream) : socket_(stream) {
    // The connection has its own clock for readers that take nothing.
    socket_.set_option(beast::websocket::stream_base::timeout{.handshake_timeout = std::chrono::seconds(30),
                                                              .idle_timeout = beast::websocket::stream_base::none()});
    socket_.auto_fragment(false);
  }

  void accept(const Request& request, Headers headers, bool binary, Done done) override {
    socket_.binary(binary);
    socket_.set_option(beast::websocket::stream_base::decorator(
        [headers = std::move(headers)](beast::websocket::response_type& response) {
          for (const auto& [name, value] : headers) response.set(name, value);
        }));
    socket_.async_accept(request, std::move(done));
  }

  void read(OnMessage on_message, Done done) override {
    socket_.read_message_max(on_message ? kMessageBytesMax : kUnreadBytesMax);
    on_message_ = std::move(on_message);
    read_next(std::move(done));
  }

  void resume() override {
    if (paused_) read_next(std::exchange(paused_, nullptr));
  }

  void write(const std::string& message, Done done) override {
    socket_.async_write(asio::buffer(message), [done = std::move(done)](ErrorCode error, std::size_t) { done(error); });
  }

  void close(Done done) override { socket_.async_close(beast::websocket::close_code::normal, std::move(done)); }

  void forget() override {
    on_message_ = nullptr;
    paused_ = nullptr;
  }

 private:
  void read_next(Done done) {
    socket_.async_read(buffer_, [this, done = std::move(done)](ErrorCode error, std::size_t) mutable {
      if (error) {
        on_message_ = nullptr;
        return done(error);
      }
      std::string message = on_message_ ? beast::buffers_to_string(buffer_.data()) : std::string();
      buffer_.consume(buffer_.size());
      if (!on_message_ || on_message_(std::move(message))) return read_next(std::move(done));
      paused_ = std::move(done);
    });
  }

  beast::websocket::stream<Stream&> socket_;
  OnMessage on_message_;
  Done paused_;  // set: the next message is not read yet
  beast::flat_buffer buffer_;
};

}  // namespace

bool wants_web_socket(const beast::http::request_header<>& header) {
  using beast::http::field;
  return header.method() == beast::http::verb::get && header.version() == 11 &&
         beast::http::token_list{header[field::connection]}.exists("upgrade") &&
         beast::http::token_list{header[field::upgrade]}.exists("websocket");
}

std::unique_ptr<WebSocket> make_web_socket(asio::ip::tcp::socket& stream) {
  return std::make_unique<RealWebSocket<asio::ip::tcp::socket>>(stream);
}

std::unique_ptr<WebSocket> make_web_socket(asio::ssl::stream<asio::ip::tcp::socket>& stream) {
  return std::make_unique<RealWebSocket<asio::ssl::stream<asio::ip::tcp::socket>>>(stream);
}

}  // namespace rt
