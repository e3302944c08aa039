// Calls: a socket and a session each.
#include <pthread.h>

#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "base/format.h"
#include "rt/grpc/grpc_io.h"

namespace rt {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

GrpcIo::GrpcIo() : state_(std::make_shared<State>()) {
  // Makes what all sockets need, whose lack would otherwise be an exception of the first call.
  const asio::steady_timer first(state_->context);
  state_->thread = std::thread([state = state_.get()] { state->context.run(); });
  pthread_setname_np(state_->thread.native_handle(), "grpc");
}
GrpcIo::~GrpcIo() {
  // Requests from before, such as the end of a call, still happen.
  state_->post([state = state_.get()] { state->context.stop(); });
  state_->guard.reset();
  state_->thread.join();
  state_->end();
}

base::Result<std::unique_ptr<GrpcIo>> make_grpc_io() {
  try {
    return std::make_unique<GrpcIo>();
  } catch (const std::runtime_error& scarce) {  // std::system_error, or Boost's
    return base::make_error(base::Code::kUnavailable,
                            base::format("no thread for calls of gRPC, please try again later: {}", scarce.what()));
  }
}

base::Result<GrpcEndpoint> grpc_endpoint(const GrpcTarget& target) {
  if (!target.unix_path.empty()) {
    if (target.unix_path.size() > 107)
      return base::make_error(base::Code::kInvalid,
                              base::format("{}: longer than the 107 bytes of a socket's path", target.unix_path));
    return GrpcEndpoint(asio::local::stream_protocol::endpoint(target.unix_path));
  }
  ErrorCode error;
  const auto address = asio::ip::make_address(target.address, error);
  if (error) return base::make_error(base::Code::kInvalid, base::format("{:?} is not an IP address", target.address));
  return GrpcEndpoint(asio::ip::tcp::endpoint(address, target.port));
}

std::string grpc_place(const GrpcTarget& target) {
  return target.unix_path.empty() ? base::format("{}:{}", target.address, target.port) : target.unix_path;
}

namespace {

constexpr int kUntakenMax = 8;  // messages that the loop has not taken

// On the I/O thread but for `told`, which the loop reads.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<GrpcIo::State> io, Loop& loop, GrpcTarget target, const GrpcCallOptions& options,
             GrpcCallbacks callbacks)
      : io_(std::move(io)),
        loop_(loop),
        target_(std::move(target)),
        pause_(options.pause),
        newest_only_(options.newest_only),
        callbacks_(std::make_shared<GrpcCallbacks>(std::move(callbacks))),
        socket_(io_->context),
        timer_(io_->context),
        pause_timer_(io_->context) {}

  void begin(GrpcClientSession::Call call, base::Duration timeout) {
    call.on_message = [this](std::string message) { take(std::move(message)); };
    call.on_end = [this](GrpcStatus status) { end(std::move(status)); };
    session_.emplace(std::move(call));
    if (timeout > base::Duration{}) {
      timer_.expires_after(std::chrono::nanoseconds(timeout.ns));
      timer_.async_wait([self = shared_from_this()](ErrorCode error) {
        if (!error) self->session_->close({GrpcCode::kDeadlineExceeded, "context deadline exceeded"});
      });
    }
    const auto endpoint = grpc_endpoint(target_);
    if (!endpoint.ok()) return session_->close({GrpcCode::kInvalidArgument, endpoint.error().message});
    socket_.async_connect(*endpoint, [self = shared_from_this()](ErrorCode error) {
      if (error)
        return self->session_->close(
            {GrpcCode::kUnavailable,
             base::format("cannot connect to {}: {}", grpc_place(self->target_), error.message())});
      self->write();
      self->read();
    });
  }
  void cancel() {
    muted_ = true;
    if (session_) session_->close({GrpcCode::kCancelled, "nobody waits any more"});
  }
  std::shared_ptr<std::atomic<bool>> wanted() const { return wanted_; }

 private:
  void take(std::string message) {
    if (pause_ > base::Duration{}) {
      if (newest_only_) received_.clear();
      return received_.push_back(std::move(message));
    }
    ++untaken_;
    loop_.post(
        [self = shared_from_this(), wanted = wanted_, callbacks = callbacks_, message = std::move(message)]() mutable {
          if (*wanted && callbacks->on_message) callbacks->on_message(std::move(message));
          self->io_->post([self] {
            if (self->untaken_-- == kUntakenMax) self->read();
          });
        });
  }
  // Hands over the messages of a piece; the next is read when that was taken and some time has passed.
  void deliver_received() {
    pausing_ = true;
    loop_.post([self = shared_from_this(), wanted = wanted_, callbacks = callbacks_,
                received = std::exchange(received_, {})]() mutable {
      for (std::string& message : received)
        if (*wanted && callbacks->on_message) callbacks->on_message(std::move(message));
      self->io_->post([self] {
        self->pause_timer_.expires_after(std::chrono::nanoseconds(self->pause_.ns));
        self->pause_timer_.async_wait([self](ErrorCode error) {
          if (error) return;
          self->pausing_ = false;
          self->read();
        });
      });
    });
  }
  void end(GrpcStatus status) {
    timer_.cancel();
    pause_timer_.cancel();
    if (!received_.empty()) deliver_received();
    // Later, since the session is not done with what it was doing. Its last word is that it goes.
    io_->post([self = shared_from_this()] {
      ErrorCode ignored;
      self->socket_.close(ignored);
    });
    if (muted_) return;
    loop_.post([wanted = wanted_, callbacks = callbacks_, status = std::move(status)]() mutable {
      if (*wanted && callbacks->on_end) callbacks->on_end(std::move(status));
    });
  }
  void read() {
    if (reading_ || pausing_ || session_->is_over() || untaken_ >= kUntakenMax) return;
    reading_ = true;
    socket_.async_read_some(asio::buffer(chunk_), [self = shared_from_this()](ErrorCode error, std::size_t size) {
      self->reading_ = false;
      if (error) return self->session_->close({GrpcCode::kUnavailable, "the connection ended: " + error.message()});
      self->session_->receive({self->chunk_.data(), size});
      if (!self->received_.empty()) self->deliver_received();
      self->write();
      self->read();
    });
  }
  void write() {
    if (writing_ || session_->is_over()) return;
    out_ = session_->take_output();
    if (out_.empty()) return;
    writing_ = true;
    asio::async_write(socket_, asio::buffer(out_), [self = shared_from_this()](ErrorCode error, std::size_t) {
      self->writing_ = false;
      if (!error) self->write();  // a failure shows when reading, after what the server has said
    });
  }

  const std::shared_ptr<GrpcIo::State> io_;
  Loop& loop_;
  GrpcTarget target_;
  base::Duration pause_;
  bool newest_only_;
  std::shared_ptr<GrpcCallbacks> callbacks_;
  std::shared_ptr<std::atomic<bool>> wanted_ = std::make_shared<std::atomic<bool>>(true);
  GrpcSocket socket_;
  asio::steady_timer timer_;
  asio::steady_timer pause_timer_;
  std::vector<std::string> received_;  // of the piece that was read last
  std::optional<GrpcClientSession> session_;
  std::array<char, 16384> chunk_;
  std::string out_;
  bool reading_ = false;
  bool writing_ = false;
  bool muted_ = false;
  bool pausing_ = false;
  int untaken_ = 0;
};

class RunningCall final : public GrpcCall {
 public:
  RunningCall(std::shared_ptr<GrpcIo::State> io, std::shared_ptr<Connection> connection)
      : io_(std::move(io)), connection_(std::move(connection)) {}
  ~RunningCall() override {
    *connection_->wanted() = false;
    io_->post([connection = std::move(connection_)] { connection->cancel(); });
  }

 private:
  const std::shared_ptr<GrpcIo::State> io_;
  std::shared_ptr<Connection> connection_;
};

}  // namespace

std::unique_ptr<GrpcCall> begin_grpc_call(GrpcIo& io, Loop& loop, const GrpcTarget& target, std::string method,
                                          std::string request, GrpcCallOptions options, GrpcCallbacks callbacks) {
  auto connection = std::make_shared<Connection>(io.state(), loop, target, options, std::move(callbacks));
  GrpcClientSession::Call call{.authority = target.unix_path.empty() ? grpc_place(target) : "localhost",
                               .method = std::move(method),
                               .request = std::move(request),
                               .timeout_ms = options.timeout.ns / 1'000'000,
                               .message_bytes_max = options.message_bytes_max,
                               .messages_max = options.messages_max,
                               .on_message = {},
                               .on_end = {}};
  io.state()->post([connection, call = std::move(call), timeout = options.timeout]() mutable {
    connection->begin(std::move(call), timeout);
  });
  return std::make_unique<RunningCall>(io.state(), std::move(connection));
}

std::unique_ptr<GrpcCall> begin_unary_call(GrpcIo& io, Loop& loop, const GrpcTarget& target, std::string method,
                                           std::string request, GrpcCallOptions options,
                                           std::function<void(GrpcStatus status, std::string message)> done) {
  const auto answer = std::make_shared<std::optional<std::string>>();
  options.messages_max = 1;  // who sends more would go on until the time is up
  return begin_grpc_call(io, loop, target, std::move(method), std::move(request), options,
                         {.on_message = [answer](std::string message) { *answer = std::move(message); },
                          .on_end =
                              [answer, done = std::move(done)](GrpcStatus status) {
                                if (status.ok() && !*answer) status = {GrpcCode::kInternal, "no message in the answer"};
                                std::string message = status.ok() ? std::move(**answer) : std::string();
                                done(std::move(status), std::move(message));
                              }});
}

}  // namespace rt
