// The HTTP/1.1 server: sockets and TLS by Asio, framing by Beast's parser fed by hand. Every connection belongs to one
// I/O thread; requests of one connection are answered one after the other.
#include "rt/http_server.h"

#include <openssl/ssl.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <deque>
#include <optional>
#include <thread>

#include "base/format.h"
#include "rt/gzip.h"
#include "rt/server_tls.h"

namespace rt {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using SharedBytes = std::shared_ptr<const std::string>;

constexpr std::size_t kJoinBytesMax = std::size_t{64} << 10;   // larger buffers are written as they are
constexpr std::size_t kGzipBytesMin = std::size_t{128} << 10;  // as the Kubernetes API server

std::string_view status_text(int status) {
  const auto text = http::obsolete_reason(static_cast<http::status>(status));
  return {text.data(), text.size()};
}

using Context = std::shared_ptr<asio::io_context>;

struct Shared {
  ServerOptions options;
  HttpServer::Handler handler;
  std::optional<asio::ssl::context> tls;
  std::atomic<bool> stopped{false};  // nothing is posted to an I/O thread any more
};

// What the exchange sees of a connection, whatever its stream.
class ConnectionBase {
 public:
  virtual ~ConnectionBase() = default;
  // False once the server has stopped; the answer is then dropped.
  virtual bool post(std::function<void()> task) = 0;
  virtual void shut() = 0;                                  // I/O thread
  virtual void write(std::vector<SharedBytes> pieces) = 0;  // I/O thread
  virtual void answered(bool keep_alive) = 0;               // I/O thread
  std::atomic<std::size_t> backlog{0};
};

class Exchange : public HttpExchange, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<ConnectionBase> connection, bool keep_alive, bool gzip_wanted, bool head)
      : connection_(std::move(connection)), keep_alive_(keep_alive), gzip_wanted_(gzip_wanted), head_(head) {}

  void respond(HttpResponse response) override {
    std::vector<SharedBytes> body = std::move(response.pieces);
    if (body.empty()) body.push_back(std::make_shared<const std::string>(std::move(response.body)));
    std::size_t size = size_of(body);
    if (gzip_wanted_ && size >= kGzipBytesMin)
      if (auto small = gzip(joined(body))) {
        size = small->size();
        body.assign(1, std::make_shared<const std::string>(*std::move(small)));
        response.headers.emplace_back("Content-Encoding", "gzip");
      }
    auto bytes = std::make_shared<std::string>(head(response.status, response.headers));
    *bytes += base::format("Content-Length: {}\r\n\r\n", size);
    if (head_) body.clear();
    body.insert(body.begin(), std::move(bytes));
    enqueue(std::move(body), true);
  }

  void start(int status, Headers headers) override {
    auto bytes = std::make_shared<std::string>(head(status, headers));
    *bytes += "Transfer-Encoding: chunked\r\n\r\n";
    enqueue({std::move(bytes)}, false);
  }

  void send(SharedBytes payload) override {
    if (payload->empty()) return;
    auto prefix = std::make_shared<std::string>(base::format("{:x}\r\n", payload->size()));
    connection_->backlog += payload->size();
    connection_->post([self = shared_from_this(), prefix = std::move(prefix), payload = std::move(payload)] {
      static const auto end = std::make_shared<const std::string>("\r\n");
      self->connection_->write({prefix, payload, end});
      self->connection_->backlog -= payload->size();
    });
  }

  void finish() override { enqueue({std::make_shared<const std::string>("0\r\n\r\n")}, true); }
  std::size_t backlog_bytes() const override { return connection_->backlog; }

  void on_closed(std::function<void()> callback) override {
    connection_->post([self = shared_from_this(), callback = std::move(callback)]() mutable {
      if (self->closed_) return callback();
      self->on_closed_ = std::move(callback);
    });
  }

  void closed() {  // I/O thread
    closed_ = true;
    if (auto callback = std::exchange(on_closed_, nullptr)) callback();
  }

 private:
  std::string head(int status, const Headers& headers) const {
    std::string text = base::format("HTTP/1.1 {} {}\r\n", status, status_text(status));
    for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
    if (!keep_alive_) text += "Connection: close\r\n";
    return text;
  }

  static std::size_t size_of(const std::vector<SharedBytes>& pieces) {
    std::size_t size = 0;
    for (const SharedBytes& piece : pieces) size += piece->size();
    return size;
  }

  static std::string joined(const std::vector<SharedBytes>& pieces) {
    std::string out;
    out.reserve(size_of(pieces));
    for (const SharedBytes& piece : pieces) out += *piece;
    return out;
  }

  void enqueue(std::vector<SharedBytes> pieces, bool last) {
    const std::size_t size = size_of(pieces);
    connection_->backlog += size;
    connection_->post([self = shared_from_this(), pieces = std::move(pieces), size, last]() mutable {
      self->connection_->backlog -= size;
      self->connection_->write(std::move(pieces));
      if (!last) return;
      self->on_closed_ = nullptr;
      self->connection_->answered(self->keep_alive_);
    });
  }

  std::shared_ptr<ConnectionBase> connection_;
  bool keep_alive_;
  bool gzip_wanted_;
  bool head_;
  bool closed_ = false;
  std::function<void()> on_closed_;
};

template <class Stream>
class Connection : public ConnectionBase, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  template <class... Args>
  Connection(Context context, std::shared_ptr<Shared> shared, Args&&... args)
      : context_(std::move(context)),
        shared_(std::move(shared)),
        stream_(std::forward<Args>(args)...),
        timer_(*context_) {}

  bool post(std::function<void()> task) override {
    if (shared_->stopped) return false;
    asio::post(*context_, std::move(task));
    return true;
  }
  void shut() override { gone(); }

  void start() {
    if constexpr (requires {
                    stream_.native_handle();
                    stream_.next_layer();
                  }) {
      arm(base::seconds(10));
      stream_.async_handshake(asio::ssl::stream_base::server, [self = this->shared_from_this()](ErrorCode error) {
        self->disarm();
        if (error) return;
        read_peer_names(self->stream_.native_handle(), self->peer_name_, self->peer_organizations_);
        self->begin_request();
        self->read();
      });
    } else {
      begin_request();
      read();
    }
  }

  void write(std::vector<SharedBytes> pieces) override {
    if (failed_) return;
    for (SharedBytes& bytes : pieces) {
      backlog += bytes->size();
      out_.push_back(std::move(bytes));
    }
    if (!writing_) flush();
  }

  void answered(bool keep_alive) override {
    current_.reset();
    if (!keep_alive) {
      close_when_written_ = true;
      if (!writing_) close();
      return;
    }
    begin_request();
    consume();
  }

 private:
  tcp::socket& socket() {
    if constexpr (requires { stream_.next_layer(); })
      return stream_.next_layer();
    else
      return stream_;
  }

  void arm(base::Duration time) {
    timer_.expires_after(std::chrono::nanoseconds(time.ns));
    timer_.async_wait([self = this->shared_from_this(), armed = ++armed_](ErrorCode error) {
      // One that ran out just before it was cancelled no longer counts.
      if (!error && armed == self->armed_) self->close();
    });
  }
  void disarm() {
    ++armed_;
    timer_.cancel();
  }

  void begin_request() {
    parser_.emplace();
    parser_->body_limit(shared_->options.body_bytes_max);
    parser_->header_limit(static_cast<std::uint32_t>(shared_->options.header_bytes_max));
    parser_->eager(true);
    continued_ = false;
  }

  // A read is always pending: while a request is answered it notices that the peer has gone.
  void read() {
    stream_.async_read_some(asio::buffer(chunk_), [self = this->shared_from_this()](ErrorCode error, std::size_t size) {
      if (error) return self->gone();
      self->in_.append(self->chunk_.data(), size);
      self->consume();
      if (!self->failed_ && !self->paused_) self->read();
    });
  }

  void consume() {
    while (!current_ && !in_.empty() && !failed_) {
      ErrorCode error;
      const std::size_t used = parser_->put(asio::buffer(in_), error);
      in_.erase(0, used);
      if (error == http::error::need_more) error = {};
      if (error) return refuse(error);
      if (!continued_ && parser_->is_header_done() && !parser_->is_done() &&
          parser_->get()[http::field::expect] == "100-continue") {
        continued_ = true;
        write({std::make_shared<const std::string>("HTTP/1.1 100 Continue\r\n\r\n")});
      }
      if (parser_->is_done()) return dispatch();
      watch_progress();
      if (used == 0) break;
    }
    // A peer that pipelines without reading answers is held back.
    const bool full = in_.size() > shared_->options.body_bytes_max;
    if (full && !paused_) paused_ = true;
    if (!full && paused_) {
      paused_ = false;
      read();
    }
  }

  // A peer that begins a request must end it: a connection that waits for the rest costs as much as a busy one.
  void watch_progress() {
    const auto& options = shared_->options;
    if (progress_ == Progress::kNone) {
      progress_ = Progress::kHeader;
      arm(options.header_time_max);
    }
    if (progress_ == Progress::kHeader && parser_->is_header_done()) {
      progress_ = Progress::kBody;
      arm(options.request_time_max);
    }
  }

  void refuse(ErrorCode error) {
    int status = 400;
    if (error == http::error::body_limit) status = 413;
    if (error == http::error::header_limit) status = 431;
    const std::string reason = status == 413 ? "RequestEntityTooLarge" : "BadRequest";
    const std::string message =
        status == 413 ? base::format("Request entity too large: limit is {}", shared_->options.body_bytes_max)
                      : "the request could not be read as HTTP/1.1";
    const std::string body = base::format(
        "{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{{}},\"status\":\"Failure\",\"message\":\"{}\","
        "\"reason\":\"{}\",\"code\":{}}}\n",
        message, reason, status);
    write({std::make_shared<const std::string>(base::format(
        "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}", status,
        status_text(status), body.size(), body))});
    close_when_written_ = true;
    if (!writing_) close();
  }

  void dispatch() {
    if (std::exchange(progress_, Progress::kNone) != Progress::kNone) disarm();
    auto message = parser_->release();
    HttpRequest request;
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    for (const auto& field : message)
      request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    request.body = std::move(message.body());
    request.peer_common_name = peer_name_;
    request.peer_organizations = peer_organizations_;
    const bool gzip_wanted = header(request.headers, "Accept-Encoding").find("gzip") != std::string_view::npos;
    current_ = std::make_shared<Exchange>(this->shared_from_this(), message.keep_alive(), gzip_wanted,
                                          request.method == "HEAD");
    shared_->handler(std::move(request), current_);
  }

  void flush() {
    if (out_.empty() || failed_) return;
    writing_ = true;
    // TLS writes one record a buffer: small pieces are joined first, a large one goes alone.
    auto joined = std::make_shared<std::string>();
    if (out_.size() > 1) joined->reserve(kJoinBytesMax);
    while (!out_.empty() && out_.front()->size() + joined->size() <= kJoinBytesMax) {
      *joined += *out_.front();
      backlog -= out_.front()->size();
      out_.pop_front();
    }
    if (joined->empty()) {
      in_flight_ = std::move(out_.front());
      out_.pop_front();
    } else {
      backlog += joined->size();
      in_flight_ = std::move(joined);
    }
    asio::async_write(stream_, asio::buffer(*in_flight_),
                      [self = this->shared_from_this()](ErrorCode error, std::size_t) {
                        self->writing_ = false;
                        self->backlog -= self->in_flight_->size();
                        self->in_flight_.reset();
                        if (error) return self->gone();
                        if (!self->out_.empty()) return self->flush();
                        if (self->close_when_written_) self->close();
                      });
  }

  void gone() {
    if (failed_) return;
    failed_ = true;
    if (current_) current_->closed();
    current_.reset();
    close();
  }

  void close() {
    failed_ = true;
    timer_.cancel();
    ErrorCode ignored;
    socket().shutdown(tcp::socket::shutdown_both, ignored);
    socket().close(ignored);
    if (current_) current_->closed();
    current_.reset();
  }

  Context context_;  // an answer may be given after the server is gone
  std::shared_ptr<Shared> shared_;
  Stream stream_;
  asio::steady_timer timer_;
  std::array<char, 16384> chunk_;
  std::string in_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::shared_ptr<Exchange> current_;
  std::deque<SharedBytes> out_;
  SharedBytes in_flight_;
  std::string peer_name_;
  std::vector<std::string> peer_organizations_;
  bool writing_ = false;
  bool failed_ = false;
  bool paused_ = false;
  std::uint32_t armed_ = 0;  // counts what the timer was set for
  enum class Progress : std::uint8_t { kNone, kHeader, kBody } progress_ = Progress::kNone;  // of a request in part
  bool continued_ = false;
  bool close_when_written_ = false;
};

class Server : public HttpServer {
 public:
  explicit Server(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {
    for (int i = 0; i < std::max(shared_->options.io_threads, 1); ++i)
      contexts_.push_back(std::make_shared<asio::io_context>(1));
    acceptor_.emplace(*contexts_[0]);
  }
  ~Server() override {
    // Every connection is closed on its own thread; the threads end when the last handler has run.
    asio::post(*contexts_[0], [this] {
      ErrorCode ignored;
      acceptor_->close(ignored);
      shared_->stopped = true;
      for (auto& [context, connection] : connections_)
        asio::post(*context, [connection = connection] {
          if (const auto live = connection.lock()) live->shut();
        });
      guards_.clear();
    });
    for (std::thread& thread : threads_) thread.join();
  }

  base::Status listen() {
    const ServerOptions& options = shared_->options;
    ErrorCode error;
    const auto address = asio::ip::make_address(options.address, error);
    if (error)
      return base::make_error(base::Code::kInvalid,
                              base::format("\"{}\" is not an address to listen on", options.address));
    const tcp::endpoint endpoint(address, options.port);
    acceptor_->open(endpoint.protocol(), error);
    if (!error) acceptor_->set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_->bind(endpoint, error);
    if (!error) acceptor_->listen(1024, error);
    if (error)
      return base::make_error(base::Code::kUnavailable, base::format("cannot listen on {}:{}: {}", options.address,
                                                                     options.port, error.message()));
    port_ = acceptor_->local_endpoint().port();
    accept();
    for (auto& context : contexts_) {
      guards_.push_back(asio::make_work_guard(*context));
      threads_.emplace_back([context] { context->run(); });
    }
    return {};
  }

  std::uint16_t port() const override { return port_; }

 private:
  void accept() {
    const Context& context = contexts_[next_++ % contexts_.size()];
    auto socket = std::make_shared<tcp::socket>(*context);
    acceptor_->async_accept(*socket, [this, socket, context](ErrorCode error) {
      if (error == asio::error::operation_aborted || !acceptor_->is_open()) return;
      if (!error) begin(std::move(*socket), context);
      accept();
    });
  }

  void begin(tcp::socket socket, const Context& context) {
    ErrorCode ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    std::erase_if(connections_, [](const auto& entry) { return entry.second.expired(); });
    const auto run = [this, &context](auto connection) {
      connections_.emplace_back(context, connection);
      asio::post(*context, [connection] { connection->start(); });
    };
    if (shared_->tls)
      run(std::make_shared<Connection<asio::ssl::stream<tcp::socket>>>(context, shared_, std::move(socket),
                                                                       *shared_->tls));
    else
      run(std::make_shared<Connection<tcp::socket>>(context, shared_, std::move(socket)));
  }

  std::shared_ptr<Shared> shared_;
  std::vector<Context> contexts_;
  std::vector<std::pair<Context, std::weak_ptr<ConnectionBase>>> connections_;  // first I/O thread
  std::optional<tcp::acceptor> acceptor_;
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards_;
  std::vector<std::thread> threads_;
  std::size_t next_ = 0;
  std::uint16_t port_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<HttpServer>> listen_http(ServerOptions options, HttpServer::Handler handler) {
  auto shared = std::make_shared<Shared>();
  shared->options = std::move(options);
  shared->handler = std::move(handler);
  if (!shared->options.certificate_pem.empty()) {
    shared->tls.emplace(asio::ssl::context::tls_server);
    TRY_VOID(use_server_keys(*shared->tls, shared->options));
  }
  auto server = std::make_unique<Server>(std::move(shared));
  TRY_VOID(server->listen());
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace rt
