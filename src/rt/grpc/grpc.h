// gRPC over TCP and Unix sockets, without TLS: calls of programs on this machine and in its pods.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "rt/grpc/grpc_session.h"
#include "rt/loop/loop.h"

namespace rt {

// The thread on which all of it happens. It never waits for a peer. Servers made with it go before; calls and
// answers may go later, and come to nothing then.
class GrpcIo {
 public:
  GrpcIo();
  ~GrpcIo();
  GrpcIo(const GrpcIo&) = delete;
  GrpcIo& operator=(const GrpcIo&) = delete;

  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};
// An error where the process has no thread or descriptor left; the constructor throws there.
base::Result<std::unique_ptr<GrpcIo>> make_grpc_io();

// One of both.
struct GrpcTarget {
  std::string unix_path = {};  // of a socket; 107 bytes at most
  std::string address = {};    // an IP address, no name
  std::uint16_t port = 0;
};

struct GrpcCallOptions {
  base::Duration timeout = {};  // of the whole call, connecting included; none: no end
  std::size_t message_bytes_max = kGrpcMessageBytesMax;
  int messages_max = 0;  // that the server may send; 0: as many as it likes
  // The pace for a peer that sends without end: after each piece of 16 KiB that brought messages so much time passes
  // before the next is read, and of a piece's messages either all are told or the last alone.
  base::Duration pause = {};
  bool newest_only = false;
};

// A call that is under way, on a connection of its own. Destroying it tells the server that nobody waits, and nothing
// is told of it any more.
class GrpcCall {
 public:
  virtual ~GrpcCall() = default;
};

// Callbacks on `loop`, which outlives the call, never before this returns. A peer whose messages are not taken is not
// read from.
struct GrpcCallbacks {
  std::function<void(std::string message)> on_message;
  std::function<void(GrpcStatus status)> on_end;  // once, last
};
std::unique_ptr<GrpcCall> begin_grpc_call(GrpcIo& io, Loop& loop, const GrpcTarget& target, std::string method,
                                          std::string request, GrpcCallOptions options, GrpcCallbacks callbacks);
// The same for an answer of one message: `done` once, with a message if the status is OK.
std::unique_ptr<GrpcCall> begin_unary_call(GrpcIo& io, Loop& loop, const GrpcTarget& target, std::string method,
                                           std::string request, GrpcCallOptions options,
                                           std::function<void(GrpcStatus status, std::string message)> done);

// How a server answers one call. Any thread; what is said after the client went is dropped.
class GrpcAnswer {
 public:
  virtual ~GrpcAnswer() = default;
  virtual void send(std::string message) = 0;
  virtual void finish(GrpcStatus status) = 0;
};

// Listens until it is destroyed. At most 32 connections at a time; one that makes no call for a while stays.
class GrpcServer {
 public:
  // On the I/O thread, must be quick: what takes time answers later.
  using Handler =
      std::function<void(const std::string& method, const std::string& request, std::shared_ptr<GrpcAnswer> answer)>;
  virtual ~GrpcServer() = default;
  // The port that was chosen, over TCP.
  virtual std::uint16_t port() const = 0;
};
// A socket's file that is there is replaced; it is the owner's alone.
base::Result<std::unique_ptr<GrpcServer>> start_grpc_server(GrpcIo& io, const GrpcTarget& target,
                                                            GrpcServer::Handler handler);

}  // namespace rt
