// Connections: a socket and a session each.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <future>
#include <optional>
#include <set>

#include "base/format.h"
#include "rt/grpc/grpc_io.h"

namespace rt {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using StreamId = GrpcServerSession::StreamId;

namespace {

constexpr std::size_t kConnectionsMax = 32;
constexpr std::chrono::milliseconds kAcceptPause{200};  // after a failure, such as too many open files

class ServerConnection;

// All on the I/O thread.
struct ServerState : std::enable_shared_from_this<ServerState> {
  ServerState(std::shared_ptr<GrpcIo::State> i, GrpcServer::Handler h)
      : io(std::move(i)), handler(std::move(h)), pause(io->context) {}

  const std::shared_ptr<GrpcIo::State> io;
  GrpcServer::Handler handler;
  asio::steady_timer pause;
  std::function<void()> accept;  // the next one
  std::function<void()> close;
  std::set<std::shared_ptr<ServerConnection>> connections;
  std::uint64_t reads = 0;
  bool closed = false;

  void make_room();
};

class ServerConnection : public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(std::shared_ptr<ServerState> server, GrpcSocket socket)
      : server_(std::move(server)), socket_(std::move(socket)) {}

  void begin() {
    last_read_ = ++server_->reads;
    session_.emplace(
        GrpcServerSession::Callbacks{.on_call = [this](StreamId stream, const std::string& method,
                                                       const std::string& request) { asked(stream, method, request); },
                                     .on_gone = {}});
    write();
    read();
  }
  void send(StreamId stream, const std::string& message) {
    if (over_) return;
    session_->send(stream, message);
    write();
  }
  void finish(StreamId stream, const GrpcStatus& status) {
    if (over_) return;
    session_->finish(stream, status);
    write();
  }
  // An answer is still to come, or on its way.
  bool is_busy() const { return writing_ || session_->is_answering(); }
  std::uint64_t last_read() const { return last_read_; }
  void end() {
    if (std::exchange(over_, true)) return;
    ErrorCode ignored;
    socket_.close(ignored);
    server_->io->post([self = shared_from_this()] {
      const bool full = self->server_->connections.size() >= kConnectionsMax;
      self->server_->connections.erase(self);
      if (full && self->server_->accept) self->server_->accept();
    });
  }

 private:
  class Answer;

  void asked(StreamId stream, const std::string& method, const std::string& request);
  void read() {
    socket_.async_read_some(asio::buffer(chunk_), [self = shared_from_this()](ErrorCode error, std::size_t size) {
      if (self->over_) return;
      self->last_read_ = ++self->server_->reads;
      if (error || !self->session_->receive({self->chunk_.data(), size}).ok()) return self->end();
      self->write();
      if (!self->over_) self->read();
    });
  }
  void write() {
    if (writing_ || over_) return;
    out_ = session_->take_output();
    if (out_.empty()) {
      if (session_->is_over()) end();
      return;
    }
    writing_ = true;
    asio::async_write(socket_, asio::buffer(out_), [self = shared_from_this()](ErrorCode error, std::size_t) {
      self->writing_ = false;
      if (error) return self->end();
      self->write();
      self->server_->make_room();
    });
  }

  std::shared_ptr<ServerState> server_;
  GrpcSocket socket_;
  std::optional<GrpcServerSession> session_;
  std::array<char, 16384> chunk_;
  std::string out_;
  std::uint64_t last_read_ = 0;  // by the count of the server's
  bool writing_ = false;
  bool over_ = false;
};

// Clients may keep connections that they do not use, and would keep all others out: the one that said nothing for
// longest goes.
void ServerState::make_room() {
  if (closed || connections.size() < kConnectionsMax) return;
  std::shared_ptr<ServerConnection> idlest;
  for (const auto& one : connections)
    if (!one->is_busy() && (!idlest || one->last_read() < idlest->last_read())) idlest = one;
  if (idlest) idlest->end();
}

class ServerConnection::Answer final : public GrpcAnswer {
 public:
  Answer(std::weak_ptr<ServerConnection> connection, std::shared_ptr<GrpcIo::State> io, StreamId stream)
      : connection_(std::move(connection)), io_(std::move(io)), stream_(stream) {}
  void send(std::string message) override {
    io_->post([weak = connection_, stream = stream_, message = std::move(message)] {
      if (const auto connection = weak.lock()) connection->send(stream, message);
    });
  }
  void finish(GrpcStatus status) override {
    io_->post([weak = connection_, stream = stream_, status = std::move(status)] {
      if (const auto connection = weak.lock()) connection->finish(stream, status);
    });
  }

 private:
  std::weak_ptr<ServerConnection> connection_;
  const std::shared_ptr<GrpcIo::State> io_;
  StreamId stream_;
};

void ServerConnection::asked(StreamId stream, const std::string& method, const std::string& request) {
  server_->handler(method, request, std::make_shared<Answer>(weak_from_this(), server_->io, stream));
}

// A server on TCP or on Unix sockets.
template <class Acceptor>
void accept_next(const std::shared_ptr<ServerState>& state, const std::shared_ptr<Acceptor>& acceptor) {
  if (state->closed || state->connections.size() >= kConnectionsMax) return;
  acceptor->async_accept([state, acceptor](ErrorCode error, typename Acceptor::protocol_type::socket socket) {
    if (state->closed) return;
    if (error) {
      state->pause.expires_after(kAcceptPause);
      return state->pause.async_wait([state, acceptor](ErrorCode) { accept_next(state, acceptor); });
    }
    const auto connection = std::make_shared<ServerConnection>(state, GrpcSocket(std::move(socket)));
    state->connections.insert(connection);
    connection->begin();
    state->make_room();
    accept_next(state, acceptor);
  });
}

template <class Protocol>
base::Status listen(const std::shared_ptr<ServerState>& state, const typename Protocol::endpoint& endpoint,
                    const std::string& place, std::uint16_t* port) {
  using Acceptor = asio::basic_socket_acceptor<Protocol>;
  auto acceptor = std::make_shared<Acceptor>(state->io->context);
  ErrorCode error;
  acceptor->open(endpoint.protocol(), error);
  if (!error) acceptor->bind(endpoint, error);
  if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return base::make_error(base::Code::kUnavailable, base::format("cannot listen at {}: {}", place, error.message()));
  if constexpr (std::is_same_v<Protocol, asio::ip::tcp>) *port = acceptor->local_endpoint(error).port();
  state->accept = [weak = std::weak_ptr(state), acceptor] {
    if (const auto self = weak.lock()) accept_next(self, acceptor);
  };
  state->close = [acceptor] {
    ErrorCode ignored;
    acceptor->close(ignored);
  };
  state->io->post([accept = state->accept] { accept(); });
  return {};
}

class RunningServer final : public GrpcServer {
 public:
  RunningServer(std::shared_ptr<ServerState> state, std::string unix_path, std::uint16_t port)
      : state_(std::move(state)), unix_path_(std::move(unix_path)), port_(port) {
    struct stat facts {};
    if (!unix_path_.empty() && ::stat(unix_path_.c_str(), &facts) == 0) inode_ = facts.st_ino;
  }
  // The handler is not asked for anything afterwards.
  ~RunningServer() override {
    std::promise<void> closed;
    state_->io->post([this, &closed] {
      state_->closed = true;
      state_->close();
      state_->pause.cancel();
      for (const auto& connection : std::set(state_->connections)) connection->end();
      state_->connections.clear();  // each holds the server in turn, and what was posted may not be done any more
      state_->accept = nullptr;
      state_->close = nullptr;
      state_->handler = [](const std::string&, const std::string&, const std::shared_ptr<GrpcAnswer>&) {};
      closed.set_value();
    });
    closed.get_future().wait();
    // Another may have taken its place.
    struct stat facts {};
    if (inode_ != 0 && ::stat(unix_path_.c_str(), &facts) == 0 && facts.st_ino == inode_) ::unlink(unix_path_.c_str());
  }
  std::uint16_t port() const override { return port_; }

 private:
  std::shared_ptr<ServerState> state_;
  std::string unix_path_;
  std::uint16_t port_;
  ino_t inode_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<GrpcServer>> start_grpc_server(GrpcIo& io, const GrpcTarget& target,
                                                            GrpcServer::Handler handler) {
  TRY([[maybe_unused]] const GrpcEndpoint checked, grpc_endpoint(target));
  auto state = std::make_shared<ServerState>(io.state(), std::move(handler));
  std::uint16_t port = 0;
  if (target.unix_path.empty()) {
    const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(target.address), target.port);
    TRY_VOID(listen<asio::ip::tcp>(state, endpoint, grpc_place(target), &port));
  } else {
    ::unlink(target.unix_path.c_str());
    const asio::local::stream_protocol::endpoint endpoint(target.unix_path);
    TRY_VOID(listen<asio::local::stream_protocol>(state, endpoint, target.unix_path, &port));
    ::chmod(target.unix_path.c_str(), 0600);
  }
  return std::unique_ptr<GrpcServer>(std::make_unique<RunningServer>(std::move(state), target.unix_path, port));
}

}  // namespace rt
