// One HTTP/1.1 connection of a client: one request at a time, kept for the next.
#pragma once

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/parser.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "rt/http/client/client_socket.h"
#include "rt/http/growing_body.h"
#include "rt/http/http.h"

namespace rt {

// Callbacks are on the I/O thread; the owner never uses it from another.
class Http1Connection : public std::enable_shared_from_this<Http1Connection> {
 public:
  struct Callbacks {
    std::function<void(int, Headers)> on_head;  // streams only
    std::function<void(std::string)> on_data;   // streams only
    std::function<void(base::Result<HttpResponse>, bool reusable)> on_done;
    std::function<void(std::size_t)> on_written = {};  // so many bytes of say()
  };

  explicit Http1Connection(std::shared_ptr<ClientShared> shared);

  bool used() const { return used_; }
  bool got_bytes() const { return got_bytes_; }

  // Waits for the next request. `on_gone` is called if the server ends the connection, or says something that nobody
  // asked for, or if it has been idle for so long that the server might end it soon.
  void rest(std::function<void()> on_gone);
  void run(const HttpRequest& request, bool stream, base::Duration timeout, Callbacks callbacks);
  void abort();
  // Bytes of the protocol with which the connection goes on.
  void write_bytes(std::string_view bytes);
  // While it is held nothing more of a stream is read.
  void hold(bool held);

 private:
  using ErrorCode = boost::system::error_code;

  void arm(base::Duration timeout);
  void connect();
  void write();
  void read();
  void read_when_taken();
  void ended(ErrorCode error);
  void consume();
  bool goes_on_otherwise() const;
  void write_more();
  void deliver();
  void disarm();
  void done();
  void fail(base::Code code, const std::string& why);
  void finish(base::Error error);
  void leave();
  void close();

  std::shared_ptr<ClientShared> shared_;
  ClientSocket socket_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer loop_timer_;  // while the loop is behind
  std::optional<boost::beast::http::response_parser<GrowingBody>> parser_;
  Callbacks callbacks_;
  std::function<void()> on_gone_;  // set: it rests
  std::string out_;
  std::string in_;
  bool has_left_ = false;  // the parser has seen `in_` and wants more
  std::array<char, 16384> chunk_;
  bool connected_ = false;
  bool reading_ = false;
  bool writing_ = false;
  std::uint32_t armed_ = 0;  // counts what the timer was set for
  bool stream_ = false;
  bool wants_upgrade_ = false;
  bool upgraded_ = false;  // all that comes is for on_data
  bool held_ = false, waits_held_ = false;
  std::string unsaid_;
  bool head_sent_ = false;
  bool got_bytes_ = false;
  bool used_ = false;
};

}  // namespace rt
