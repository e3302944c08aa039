// The HTTP/1.1 client: one I/O thread, kept connections, one request at a time on each.
#include "rt/http_client.h"

#include <openssl/ssl.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <deque>
#include <optional>
#include <thread>

#include "base/format.h"
#include "rt/client_tls.h"

namespace rt {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using base::Code;

// Servers end connections that were quiet for 60 to 90 s (proxies, Go's servers); a request that crosses such an end
// has no answer.
constexpr base::Duration kIdleMax = base::seconds(45);

struct Shared {
  explicit Shared(ClientOptions o) : options(std::move(o)) {}
  ClientOptions options;
  std::optional<asio::ssl::context> tls;
  asio::io_context context{1};
};

// One connection. Callbacks are on the I/O thread; the owner never uses it from another.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Callbacks {
    std::function<void(int, Headers)> on_head;  // streams only
    std::function<void(std::string)> on_data;   // streams only
    std::function<void(base::Result<HttpResponse>, bool reusable)> on_done;
  };

  explicit Connection(std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)), resolver_(shared_->context), timer_(shared_->context) {
    if (shared_->tls)
      secure_.emplace(shared_->context, *shared_->tls);
    else
      plain_.emplace(shared_->context);
  }

  bool used() const { return used_; }
  bool got_bytes() const { return got_bytes_; }

  // Waits for the next request. `on_gone` is called if the server ends the connection, or says something that nobody
  // asked for, or if it has been quiet for so long that the server might end it soon.
  void rest(std::function<void()> on_gone) {
    on_gone_ = std::move(on_gone);
    timer_.expires_after(std::chrono::nanoseconds(kIdleMax.ns));
    timer_.async_wait([self = shared_from_this(), armed = ++armed_](ErrorCode error) {
      if (!error && armed == self->armed_ && self->on_gone_) self->leave();
    });
    if (!reading_) read();
  }

  void run(const HttpRequest& request, bool stream, base::Duration timeout, Callbacks callbacks) {
    callbacks_ = std::move(callbacks);
    on_gone_ = nullptr;
    stream_ = stream;
    out_ = encode(request);
    parser_.emplace();
    parser_->body_limit(boost::none);
    parser_->header_limit(256 * 1024);
    parser_->eager(true);
    if (request.method == "HEAD") parser_->skip(true);
    head_sent_ = false;
    got_bytes_ = false;
    arm(timeout);
    if (connected_) return write();
    connect();
  }

  void abort() {
    callbacks_ = {};
    on_gone_ = nullptr;
    close();
  }

 private:
  template <class F>
  void with_stream(F f) {
    if (secure_)
      f(*secure_);
    else
      f(*plain_);
  }
  tcp::socket& socket() { return secure_ ? secure_->next_layer() : *plain_; }

  std::string encode(const HttpRequest& request) const {
    const ClientOptions& o = shared_->options;
    std::string text =
        request.method + " " + request.target + " HTTP/1.1\r\nHost: " + o.host + ":" + std::to_string(o.port) + "\r\n";
    for (const auto& [name, value] : request.headers) text += name + ": " + value + "\r\n";
    if (!request.body.empty() || request.method != "GET")
      text += base::format("Content-Length: {}\r\n", request.body.size());
    text += "\r\n";
    return text + request.body;
  }

  void arm(base::Duration timeout) {
    if (timeout.ns <= 0) return;
    timer_.expires_after(std::chrono::nanoseconds(timeout.ns));
    timer_.async_wait([self = shared_from_this(), armed = ++armed_](ErrorCode error) {
      // One that ran out just before it was cancelled no longer counts.
      if (!error && armed == self->armed_) self->fail(Code::kTimeout, "the server did not answer in time");
    });
  }

  void connect() {
    resolver_.async_resolve(
        shared_->options.host, std::to_string(shared_->options.port),
        [self = shared_from_this()](ErrorCode error, tcp::resolver::results_type found) {
          if (error)
            return self->fail(Code::kUnavailable, base::format("cannot resolve the name: {}", error.message()));
          asio::async_connect(self->socket(), found, [self](ErrorCode connect_error, const tcp::endpoint&) {
            if (connect_error)
              return self->fail(Code::kUnavailable, base::format("cannot connect: {}", connect_error.message()));
            ErrorCode ignored;
            self->socket().set_option(tcp::no_delay(true), ignored);
            self->secure();
          });
        });
  }

  void secure() {
    if (!secure_) {
      connected_ = true;
      return write();
    }
    const std::string& name =
        shared_->options.server_name.empty() ? shared_->options.host : shared_->options.server_name;
    SSL_set_tlsext_host_name(secure_->native_handle(), name.c_str());
    ErrorCode ignored;
    if (!shared_->options.insecure_skip_verify)
      secure_->set_verify_callback(asio::ssl::host_name_verification(name), ignored);
    secure_->async_handshake(asio::ssl::stream_base::client, [self = shared_from_this()](ErrorCode error) {
      if (error) return self->fail(Code::kUnavailable, base::format("TLS: {}", error.message()));
      self->connected_ = true;
      self->write();
    });
  }

  void write() {
    writing_ = true;
    with_stream([this](auto& stream) {
      asio::async_write(stream, asio::buffer(out_), [self = shared_from_this()](ErrorCode error, std::size_t) {
        self->writing_ = false;
        if (error) return self->fail(Code::kUnavailable, base::format("cannot send: {}", error.message()));
        if (!self->reading_) self->read();
      });
    });
  }

  // A resting connection reads too: what it then hears is the answer to the next request, or its end.
  void read() {
    reading_ = true;
    with_stream([this](auto& stream) {
      stream.async_read_some(asio::buffer(chunk_), [self = shared_from_this()](ErrorCode error, std::size_t size) {
        self->reading_ = false;
        if (self->on_gone_) return self->leave();
        if (error) return self->ended(error);
        self->got_bytes_ = true;
        self->in_.append(self->chunk_.data(), size);
        self->consume();
      });
    });
  }

  void ended(ErrorCode error) {
    if (!callbacks_.on_done) return close();
    if (parser_ && parser_->is_header_done() && parser_->need_eof()) {
      ErrorCode ignored;
      parser_->put_eof(ignored);
      return done();
    }
    fail(Code::kUnavailable, base::format("the connection was lost: {}", error.message()));
  }

  void consume() {
    while (!in_.empty() && callbacks_.on_done && !parser_->is_done()) {
      ErrorCode error;
      const std::size_t used = parser_->put(asio::buffer(in_), error);
      in_.erase(0, used);
      if (error == http::error::need_more) error = {};
      if (error) return fail(Code::kUnavailable, base::format("the answer is not HTTP: {}", error.message()));
      if (stream_) deliver();
      if (used == 0) break;
    }
    if (!callbacks_.on_done) return;
    if (parser_->is_done()) return done();
    read();
  }

  void deliver() {
    if (!parser_->is_header_done()) return;
    if (!head_sent_) {
      head_sent_ = true;
      disarm();
      if (callbacks_.on_head) callbacks_.on_head(parser_->get().result_int(), headers());
    }
    std::string body = std::exchange(parser_->get().body(), {});
    if (!body.empty() && callbacks_.on_data) callbacks_.on_data(std::move(body));
  }

  Headers headers() const {
    Headers all;
    for (const auto& field : parser_->get())
      all.emplace_back(std::string(field.name_string()), std::string(field.value()));
    return all;
  }

  void disarm() {
    ++armed_;
    timer_.cancel();
  }

  void done() {
    disarm();
    used_ = true;
    HttpResponse response;
    response.status = static_cast<int>(parser_->get().result_int());
    response.headers = headers();
    response.body = std::move(parser_->get().body());
    const bool reusable = parser_->get().keep_alive() && in_.empty() && !writing_;
    auto callback = std::exchange(callbacks_, {}).on_done;
    if (!reusable) close();
    callback(std::move(response), reusable);
  }

  void fail(Code code, const std::string& why) {
    close();
    auto callback = std::exchange(callbacks_, {}).on_done;
    if (!callback) return;
    const ClientOptions& o = shared_->options;
    callback(base::make_error(code, base::format("{}:{}: {}", o.host, o.port, why)), false);
  }

  void leave() {
    close();
    std::exchange(on_gone_, nullptr)();
  }

  void close() {
    connected_ = false;
    disarm();
    resolver_.cancel();
    ErrorCode ignored;
    socket().close(ignored);
  }

  std::shared_ptr<Shared> shared_;
  tcp::resolver resolver_;
  asio::steady_timer timer_;
  std::optional<tcp::socket> plain_;
  std::optional<asio::ssl::stream<tcp::socket>> secure_;
  std::optional<http::response_parser<http::string_body>> parser_;
  Callbacks callbacks_;
  std::function<void()> on_gone_;  // set: it rests
  std::string out_;
  std::string in_;
  std::array<char, 16384> chunk_;
  bool connected_ = false;
  bool reading_ = false;
  bool writing_ = false;
  std::uint32_t armed_ = 0;  // counts what the timer was set for
  bool stream_ = false;
  bool head_sent_ = false;
  bool got_bytes_ = false;
  bool used_ = false;
};

class Client : public HttpClient {
 public:
  Client(std::shared_ptr<Shared> shared, Loop& loop)
      : shared_(std::move(shared)),
        loop_(loop),
        alive_(std::make_shared<bool>(true)),
        guard_(asio::make_work_guard(shared_->context)) {
    thread_ = std::thread([this] { shared_->context.run(); });
  }
  ~Client() override {
    *alive_ = false;
    asio::post(shared_->context, [this] {
      for (const auto& one : all_)
        if (const auto connection = one.lock()) connection->abort();
      idle_.clear();
      // After the handlers that hear of it, which keep the connections.
      asio::post(shared_->context, [this] { shared_->context.stop(); });
    });
    thread_.join();
  }

  void send(HttpRequest request, OnResponse on_response) override {
    auto answer = [this, alive = alive_, on_response = std::move(on_response)](base::Result<HttpResponse> response) {
      loop_.post([alive, on_response, response = std::move(response)]() mutable {
        if (*alive) on_response(std::move(response));
      });
    };
    asio::post(shared_->context, [this, job = Job{std::move(request), std::move(answer)}]() mutable {
      waiting_.push_back(std::move(job));
      next();
    });
  }

  std::unique_ptr<HttpStream> stream(HttpRequest request, StreamCallbacks callbacks) override;

 private:
  struct Job {
    HttpRequest request;
    std::function<void(base::Result<HttpResponse>)> answer;
    bool repeated = false;
  };

  // I/O thread.
  void next() {
    while (!waiting_.empty() && (!idle_.empty() || open_ < shared_->options.connections_max)) {
      std::shared_ptr<Connection> connection;
      if (!idle_.empty()) {
        connection = std::move(idle_.back());
        idle_.pop_back();
      } else {
        connection = std::make_shared<Connection>(shared_);
        keep_in_sight(connection);
        ++open_;
      }
      Job job = std::move(waiting_.front());
      waiting_.pop_front();
      start(std::move(connection), std::move(job));
    }
  }

  void keep_in_sight(const std::shared_ptr<Connection>& connection) {
    std::erase_if(all_, [](const auto& one) { return one.expired(); });
    all_.push_back(connection);
  }

  void start(std::shared_ptr<Connection> connection, Job job) {
    const bool was_used = connection->used();
    Connection* raw = connection.get();
    HttpRequest request = job.request;
    raw->run(request, false, shared_->options.timeout,
             {nullptr, nullptr,
              [this, connection, job = std::move(job), was_used](base::Result<HttpResponse> response,
                                                                 bool reusable) mutable {
                if (reusable)
                  rest(connection);
                else
                  --open_;
                const bool lost = !response.ok() && response.error().code == Code::kUnavailable;
                if (lost && was_used && !connection->got_bytes() && may_repeat(job.request)) {
                  repeat(std::move(job));
                } else {
                  if (response.ok()) response->repeated = job.repeated;
                  job.answer(std::move(response));
                }
                asio::post(shared_->context, [this] { next(); });
              }});
  }

  void rest(const std::shared_ptr<Connection>& connection) {
    idle_.push_back(connection);
    connection->rest([this, raw = connection.get()] {
      std::erase_if(idle_, [raw](const auto& one) { return one.get() == raw; });
      --open_;
    });
  }

  static bool may_repeat(const HttpRequest& request) {
    return request.method == "GET" || request.method == "HEAD" || request.may_repeat;
  }

  // The server has ended a kept connection before it answered. The others are as old: the request goes on a new one.
  void repeat(Job job) {
    for (const auto& connection : std::exchange(idle_, {})) {
      connection->abort();
      --open_;
    }
    job.repeated = true;
    waiting_.push_front(std::move(job));
  }

  std::shared_ptr<Shared> shared_;
  Loop& loop_;
  std::shared_ptr<bool> alive_;  // loop thread
  std::deque<Job> waiting_;
  std::vector<std::shared_ptr<Connection>> idle_;
  std::vector<std::weak_ptr<Connection>> all_;  // and those of streams
  int open_ = 0;
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  std::thread thread_;
};

class Stream : public HttpStream {
 public:
  Stream(std::shared_ptr<Shared> shared, std::shared_ptr<Connection> connection, std::shared_ptr<bool> alive)
      : shared_(std::move(shared)), connection_(std::move(connection)), alive_(std::move(alive)) {}
  ~Stream() override {
    *alive_ = false;
    asio::post(shared_->context, [connection = connection_] { connection->abort(); });
  }

 private:
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<bool> alive_;  // loop thread
};

std::unique_ptr<HttpStream> Client::stream(HttpRequest request, StreamCallbacks callbacks) {
  auto connection = std::make_shared<Connection>(shared_);
  auto alive = std::make_shared<bool>(true);
  auto shared_callbacks = std::make_shared<StreamCallbacks>(std::move(callbacks));
  Loop& loop = loop_;
  auto to_loop = [&loop, alive](auto f) {
    loop.post([alive, f = std::move(f)]() mutable {
      if (*alive) f();
    });
  };
  Connection::Callbacks inner;
  inner.on_head = [to_loop, shared_callbacks](int status, Headers headers) {
    to_loop([shared_callbacks, status, headers = std::move(headers)] {
      if (shared_callbacks->on_start) shared_callbacks->on_start(status, headers);
    });
  };
  inner.on_data = [to_loop, shared_callbacks](std::string data) {
    to_loop([shared_callbacks, data = std::move(data)] {
      if (shared_callbacks->on_data) shared_callbacks->on_data(data);
    });
  };
  inner.on_done = [to_loop, shared_callbacks](base::Result<HttpResponse> response, bool) {
    to_loop([shared_callbacks, status = response.ok() ? base::Status() : base::Status(response.take_error())] {
      if (shared_callbacks->on_end) shared_callbacks->on_end(status);
    });
  };
  const base::Duration timeout = shared_->options.timeout;
  asio::post(shared_->context,
             [this, connection, request = std::move(request), timeout, inner = std::move(inner)]() mutable {
               keep_in_sight(connection);
               connection->run(request, true, timeout, std::move(inner));
             });
  return std::make_unique<Stream>(shared_, connection, alive);
}

}  // namespace

base::Result<std::unique_ptr<HttpClient>> make_http_client(ClientOptions options, Loop& loop) {
  auto shared = std::make_shared<Shared>(std::move(options));
  if (shared->options.tls) {
    shared->tls.emplace(asio::ssl::context::tls_client);
    TRY_VOID(use_client_keys(*shared->tls, shared->options));
  }
  return std::unique_ptr<HttpClient>(std::make_unique<Client>(std::move(shared), loop));
}

}  // namespace rt
