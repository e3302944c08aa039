// gRPC over HTTP/2 as state machines: bytes in, bytes out, no sockets and no clock. Unary calls and streams of answers,
// without TLS and without compression.
//
// The cost of a hostile peer is limited: headers, messages, streams open at a time; floods of pings and settings end a
// session (libnghttp2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rt {

// The codes of gRPC that are used here.
enum class GrpcCode : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kUnauthenticated = 16,
};

struct GrpcStatus {
  GrpcCode code = GrpcCode::kOk;
  std::string message = {};  // any bytes of the peer's, at most 4 KiB

  bool ok() const { return code == GrpcCode::kOk; }
};
// "DeadlineExceeded"; of a code that is not known "Code(17)".
std::string grpc_code_name(GrpcCode code);

inline constexpr std::size_t kGrpcMessageBytesMax = 4 << 20;
inline constexpr std::size_t kGrpcHeaderBytesMax = 16 << 10;
inline constexpr std::size_t kGrpcCallsMax = 64;  // of one connection

// A length and a message, as they go over the wire.
std::string grpc_frame(std::string_view message);

// Takes the frames of one stream apart.
class GrpcFrames {
 public:
  explicit GrpcFrames(std::size_t message_bytes_max) : max_(message_bytes_max) {}
  // Appends what is complete. An error ends the stream.
  base::Status receive(std::string_view bytes, std::vector<std::string>& messages);
  bool is_midway() const { return !rest_.empty(); }

 private:
  std::size_t max_;
  std::string rest_;
};

// The client's side of a connection that makes one call. One thread; callbacks come from within receive() and close(),
// and may not destroy the session.
class GrpcClientSession {
 public:
  struct Call {
    std::string authority;
    std::string method;  // "/grpc.health.v1.Health/Check"
    std::string request;
    std::int64_t timeout_ms = 0;  // told to the server; 0: nothing is
    std::size_t message_bytes_max = kGrpcMessageBytesMax;
    int messages_max = 0;  // more end the call; 0: there may be any number
    std::function<void(std::string message)> on_message;
    std::function<void(GrpcStatus status)> on_end;  // once, last
  };
  explicit GrpcClientSession(Call call);
  ~GrpcClientSession();
  GrpcClientSession(const GrpcClientSession&) = delete;
  GrpcClientSession& operator=(const GrpcClientSession&) = delete;

  void receive(std::string_view bytes);
  std::string take_output();
  // The connection is gone, or nobody waits any more.
  void close(GrpcStatus status);
  bool is_over() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The server's side of one connection. One thread; callbacks come from within receive() and may call send() and
// finish().
class GrpcServerSession {
 public:
  using StreamId = std::int32_t;
  struct Callbacks {
    std::function<void(StreamId stream, const std::string& method, std::string request)> on_call;
    // The client does not wait any more; what is sent to the stream goes nowhere.
    std::function<void(StreamId stream)> on_gone;
  };
  explicit GrpcServerSession(Callbacks callbacks);
  ~GrpcServerSession();
  GrpcServerSession(const GrpcServerSession&) = delete;
  GrpcServerSession& operator=(const GrpcServerSession&) = delete;

  // An error ends the connection.
  base::Status receive(std::string_view bytes);
  std::string take_output();
  void send(StreamId stream, std::string_view message);
  void finish(StreamId stream, const GrpcStatus& status);
  bool is_answering() const;  // a call that was asked for and not finished
  bool is_over() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rt
