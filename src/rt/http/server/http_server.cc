// The HTTP server: it accepts connections, spreads them over its I/O threads, and says no to those above the limit.
#include "rt/http/server/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "rt/http/server/http_connection.h"
#include "rt/http/server/server_tls.h"
#include "rt/loop/rest.h"

namespace rt {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Context = std::shared_ptr<asio::io_context>;

constexpr auto kAcceptPause = std::chrono::milliseconds(100);  // while there are no descriptors, or no memory
constexpr auto kReportPause = std::chrono::seconds(60);        // between two lines about strangers that make room
constexpr auto kDrainLook = std::chrono::milliseconds(10);
constexpr int kQueueMax = 1024;  // connections that the kernel lets in ahead of us

// The kernel asks a peer that says nothing whether it is still there: where a machine has gone, a watch or a log would
// otherwise stay until something is written to it. As Go's servers.
void keep_alive(tcp::socket& socket) {
  using Seconds = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
  using Between = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
  using Count = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>;
  ErrorCode ignored;
  socket.set_option(Seconds(15), ignored);
  socket.set_option(Between(15), ignored);
  socket.set_option(Count(9), ignored);
  socket.set_option(tcp::socket::keep_alive(true), ignored);
}

// A quarter of the descriptors is left to the rest of the process.
int connections_max(int wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  return static_cast<int>(std::min<rlim_t>(static_cast<rlim_t>(wanted), limit.rlim_cur - limit.rlim_cur / 4));
}

class Server : public HttpServer {
 public:
  explicit Server(std::shared_ptr<ConnectionsShared> shared)
      : shared_(std::move(shared)), connections_max_(connections_max(shared_->options.connections_max)) {
    if (shared_->options.recognized_as) {
      shared_->of_a_user_max = std::max(connections_max_ / 4, 1);
      shared_->shares = std::make_shared<ConnectionShares>(ConnectionShares::Limits{
          .all = connections_max_,
          .strangers = std::max(connections_max_ - connections_max_ / 4, 1),
          .of_an_address = std::min(shared_->options.strangers_of_an_address_max, std::max(connections_max_ / 2, 1)),
          .of_a_user = shared_->of_a_user_max});
    }
    for (int i = 0; i < std::max(shared_->options.io_threads, 1); ++i)
      contexts_.push_back(std::make_shared<asio::io_context>(1));
    // Makes what all sockets need: where there are no descriptors that is not an error but an exception, which has to
    // be the start's and not that of the first connection.
    for (const auto& context : contexts_) const asio::steady_timer first(*context);
    acceptor_.emplace(*contexts_[0]);
    pause_.emplace(*contexts_[0]);
    drain_look_.emplace(*contexts_[0]);
  }
  ~Server() override {
    // Every connection is closed on its own thread; the threads end when the last handler has run.
    asio::post(*contexts_[0], [this] {
      ErrorCode ignored;
      acceptor_->close(ignored);
      pause_->cancel();
      drain_look_->cancel();
      shared_->stop();
      for (const auto& weak : seats_)
        if (const auto seat = weak.lock())
          asio::post(*seat->context, [seat] {
            if (const auto driver = seat->driver.lock()) driver->shut();
          });
      guards_.clear();
    });
    for (std::thread& thread : threads_) thread.join();
  }

  base::Status listen() {
    const ServerOptions& options = shared_->options;
    ErrorCode error;
    if (options.address.empty()) {
      error = open_at(asio::ip::address_v6::any());
      // A port that is taken in one family would be half of what was asked for.
      if (error && error != asio::error::address_in_use) error = open_at(asio::ip::address_v4::any());
    } else {
      const auto address = asio::ip::make_address(options.address, error);
      if (error)
        return base::make_error(base::Code::kInvalid,
                                base::format("\"{}\" is not an address to listen on", options.address));
      error = open_at(address);
    }
    if (error)
      return base::make_error(base::Code::kUnavailable, base::format("cannot listen on {}:{}: {}", options.address,
                                                                     options.port, error.message()));
    port_ = acceptor_->local_endpoint().port();
    accept();
    for (auto& context : contexts_) {
      guards_.push_back(asio::make_work_guard(*context));
      pthread_setname_np(threads_.emplace_back([context] { run_with_rests(*context); }).native_handle(), "http");
    }
    return {};
  }

  std::uint16_t port() const override { return port_; }
  std::function<ConnectionShares::Counts()> connections() const override {
    // The counts alone: the owner of the handlers that `shared_` has may hold this function, and would keep itself.
    return [shares = shared_->shares] { return shares ? shares->counts() : ConnectionShares::Counts(); };
  }

  void drain(base::Duration time_max, std::function<void()> done) override {
    const auto until = asio::steady_timer::clock_type::now() + std::chrono::nanoseconds(time_max.ns);
    shared_->draining = true;
    asio::post(*contexts_[0], [this, until, done = std::move(done)] {
      take_who_waits();
      ErrorCode ignored;
      acceptor_->close(ignored);
      pause_->cancel();
      for (const auto& weak : seats_)
        if (const auto seat = weak.lock())
          asio::post(*seat->context, [seat] {
            if (const auto driver = seat->driver.lock()) driver->drain();
          });
      when_empty(until, done);
    });
  }

  base::Status set_keys(const ServerKeys& keys) override {
    if (!shared_->options.tls) return base::make_error(base::Code::kInvalid, "a server without TLS has no keys");
    TRY(auto tls, server_context(keys, shared_->options.offer_http2));
    const std::lock_guard lock(shared_->mutex);
    shared_->keys = std::move(tls);
    return {};
  }

 private:
  // Connections are of several threads, and an end is rare: it is looked at now and then.
  void when_empty(asio::steady_timer::time_point until, const std::function<void()>& done) {
    std::erase_if(seats_, [](const auto& weak) {
      const auto seat = weak.lock();
      return seat == nullptr || seat->closed;
    });
    if ((seats_.empty() && !accepting_) || asio::steady_timer::clock_type::now() >= until) return done();
    drain_look_->expires_after(kDrainLook);
    drain_look_->async_wait([this, until, done](ErrorCode cancelled) {
      if (!cancelled) when_empty(until, done);
    });
  }

  ErrorCode open_at(const asio::ip::address& address) {
    const ServerOptions& options = shared_->options;
    const tcp::endpoint endpoint(address, options.port);
    ErrorCode error, ignored;
    acceptor_->close(ignored);
    acceptor_->open(endpoint.protocol(), error);
    if (!error) acceptor_->set_option(tcp::acceptor::reuse_address(true), error);
    // This holds whatever the machine's default is (net.ipv6.bindv6only).
    if (!error && options.address.empty() && address.is_v6()) acceptor_->set_option(asio::ip::v6_only(false), error);
    using FreeBind = asio::detail::socket_option::boolean<IPPROTO_IP, IP_FREEBIND>;
    if (!error && options.address_may_come) acceptor_->set_option(FreeBind(true), error);
    if (!error) acceptor_->bind(endpoint, error);
    if (!error) acceptor_->listen(kQueueMax, error);
    return error;
  }

  void accept() {
    const Context& context = next_context();
    auto socket = std::make_shared<tcp::socket>(*context);
    accepting_ = true;
    acceptor_->async_accept(*socket, [this, socket, context](ErrorCode error) {
      accepting_ = false;
      if (error == asio::error::operation_aborted || shared_->stopped) return;
      if (!error) begin(std::move(*socket), context);
      if (!acceptor_->is_open()) return;
      if (!error || error == asio::error::connection_aborted) return accept();
      // The peer stays in the queue and would be reported again at once.
      if (!std::exchange(reported_, true))
        base::log_warning("http", base::format("no connection can be accepted at port {}: {}", port_, error.message()));
      pause_->expires_after(kAcceptPause);
      pause_->async_wait([this](ErrorCode cancelled) {
        if (!cancelled && acceptor_->is_open()) accept();
      });
    });
  }

  // Whom the kernel has let in already has a connection and may have asked: its end would be that of the port.
  void take_who_waits() {
    ErrorCode error;
    acceptor_->non_blocking(true, error);
    for (int taken = 0; taken <= kQueueMax && !error; ++taken) {
      const Context& context = next_context();
      tcp::socket socket(*context);
      acceptor_->accept(socket, error);
      if (!error)
        begin(std::move(socket), context);
      else if (error == asio::error::connection_aborted)
        error.clear();  // that one has left
    }
  }

  const Context& next_context() { return contexts_[next_++ % contexts_.size()]; }

  void begin(tcp::socket socket, const Context& context) {
    std::erase_if(seats_, [](const auto& seat) { return seat.expired(); });
    ConnectionShares::Id id = 0;
    bool surplus = shared_->connections >= connections_max_;
    if (shared_->shares) {
      const ConnectionShares::Beginning beginning = shared_->shares->begin(address_of(socket));
      id = beginning.id;
      surplus = id == 0;
      if (beginning.makes_room) make_room(*beginning.makes_room);
    }
    const int open = shared_->connections;
    if (!surplus) reported_ = false;
    if (surplus && !std::exchange(reported_, true))
      base::log_warning("http", base::format("port {} has its {} connections; more are refused", port_, open));
    // So many are told no at the same time.
    if (surplus && open >= connections_max_ + std::max(connections_max_ / 16, 1)) return;  // closed without a word
    ErrorCode ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    keep_alive(socket);
    const auto seat = std::make_shared<ConnectionSlot>(context, shared_, id, surplus);
    seats_.push_back(seat);
    begin_connection(seat, std::move(socket));
  }

  void make_room(ConnectionShares::Id id) {
    const auto now = asio::steady_timer::clock_type::now();
    if (now >= next_room_report_) {
      next_room_report_ = now + kReportPause;
      base::log_warning("http", base::format("port {} has as many connections as strangers may have, or one address of "
                                             "them; their oldest end for new ones",
                                             port_));
    }
    for (const auto& weak : seats_)
      if (const auto seat = weak.lock(); seat && seat->id == id)
        return asio::post(*seat->context, [seat] {
          if (const auto driver = seat->driver.lock()) driver->shut();
        });
  }

  std::shared_ptr<ConnectionsShared> shared_;
  const int connections_max_;
  std::vector<Context> contexts_;
  std::vector<std::weak_ptr<ConnectionSlot>> seats_;  // first I/O thread, as are the next two
  asio::steady_timer::time_point next_room_report_{};
  bool reported_ = false;   // that no more connections are taken
  bool accepting_ = false;  // a connection may have been taken that has no seat yet
  std::optional<tcp::acceptor> acceptor_;
  std::optional<asio::steady_timer> pause_;
  std::optional<asio::steady_timer> drain_look_;
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards_;
  std::vector<std::thread> threads_;
  std::size_t next_ = 0;
  std::uint16_t port_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<HttpServer>> listen_http(ServerOptions options, HttpServer::Handler handler) {
  auto shared = std::make_shared<ConnectionsShared>();
  shared->options = std::move(options);
  shared->handler = std::move(handler);
  if (shared->options.tls) {
    TRY(shared->keys, server_context(*shared->options.tls, shared->options.offer_http2));
  }
  auto server = std::make_unique<Server>(std::move(shared));
  TRY_VOID(server->listen());
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace rt
