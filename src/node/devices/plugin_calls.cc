// A connection a call.
#include "node/devices/plugin_calls.h"

#include "base/format.h"
#include "base/utf8.h"

namespace node {

namespace {

constexpr std::size_t kReasonMax = 512;

}  // namespace

std::string reason_of(const rt::GrpcStatus& status) {
  return base::format("rpc error: code = {} desc = {}", rt::grpc_code_name(status.code),
                      base::to_utf8(base::utf8_prefix(status.message, kReasonMax)));
}

void PluginCalls::begin(Call call, std::function<void(base::Result<std::string>)> done) {
  const std::uint64_t number = next_++;
  auto on_end = [this, number, on_status = std::move(call.on_status), done = std::move(done)](
                    const rt::GrpcStatus& status, std::string message) {
    // Not from within its own callback.
    loop_.post([call = std::shared_ptr(std::move(calls_[number]))] {});
    calls_.erase(number);
    if (on_status) on_status(status);
    if (status.ok()) return done(std::move(message));
    done(base::make_error(base::Code::kUnavailable, reason_of(status)));
  };
  calls_[number] = rt::begin_unary_call(
      io_, loop_, {.unix_path = std::move(call.socket)}, std::move(call.method), std::move(call.request),
      {.timeout = call.timeout, .message_bytes_max = call.answer_bytes_max}, std::move(on_end));
}

}  // namespace node
