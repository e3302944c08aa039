// A WebSocket (RFC 6455) on a connection of the HTTP server; pings and closes are answered.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <functional>
#include <memory>

#include "rt/http/http.h"

namespace rt {

// Every callback keeps alive what it captures until it has run. One write at a time.
class WebSocket {
 public:
  using Request = boost::beast::http::request<boost::beast::http::empty_body>;
  using Done = std::function<void(boost::system::error_code)>;

  // False: no more messages until resume().
  using OnMessage = std::function<bool(std::string)>;

  virtual ~WebSocket() = default;
  // `binary`: messages that go out are bytes, else text.
  virtual void accept(const Request& request, Headers headers, bool binary, Done done) = 0;
  // Until the peer has gone, which is an error too. Without `on_message` what the peer says is dropped.
  virtual void read(OnMessage on_message, Done done) = 0;
  virtual void resume() = 0;
  // The connection is closed: nobody is told anything any more.
  virtual void forget() = 0;
  virtual void write(const std::string& message, Done done) = 0;  // `message` stays until then
  virtual void close(Done done) = 0;
};

// True if the request asks for one as RFC 6455 says.
bool wants_web_socket(const boost::beast::http::request_header<>& header);

// The stream must outlive the socket.
std::unique_ptr<WebSocket> make_web_socket(boost::asio::ip::tcp::socket& stream);
std::unique_ptr<WebSocket> make_web_socket(boost::asio::ssl::stream<boost::asio::ip::tcp::socket>& stream);

}  // namespace rt
