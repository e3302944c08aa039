// Calls to plugins over their sockets: each has an end, and each message a limit. A plugin may die, hang or lie.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "rt/grpc/grpc.h"

namespace node {

// "rpc error: code = Unavailable desc = ...", as Go's programs say it; text, and bounded.
std::string reason_of(const rt::GrpcStatus& status);

// Loop thread only. Calls under way when it is destroyed get no answer.
class PluginCalls {
 public:
  struct Call {
    std::string socket;
    std::string method;
    std::string request;
    base::Duration timeout;
    std::size_t answer_bytes_max = rt::kGrpcMessageBytesMax;
    std::function<void(const rt::GrpcStatus&)> on_status = {};  // before `done`
  };
  // Both outlive it.
  PluginCalls(rt::GrpcIo& io, rt::Loop& loop) : io_(io), loop_(loop) {}
  PluginCalls(const PluginCalls&) = delete;
  PluginCalls& operator=(const PluginCalls&) = delete;

  // `done` once, later: the answer, or reason_of() what went wrong.
  void begin(Call call, std::function<void(base::Result<std::string>)> done);

 private:
  rt::GrpcIo& io_;
  rt::Loop& loop_;
  std::map<std::uint64_t, std::unique_ptr<rt::GrpcCall>> calls_;
  std::uint64_t next_ = 1;
};

}  // namespace node
