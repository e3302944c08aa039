// The channels of v4.channel.k8s.io and v5.channel.k8s.io: each message is a channel's number and bytes.
#include "apiserver/http/remote_command.h"

#include <algorithm>

#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

// 1 and 2 are those of api::PodStreamEvents.
constexpr char kInput = 0, kErrors = 3, kResize = 4;
constexpr char kClose = '\xff';  // of the fifth version: the channel behind it is closed

// On the loop. A message at a time: the next is read when there is room for more.
class ChannelSocket : public std::enable_shared_from_this<ChannelSocket> {
 public:
  ChannelSocket(rt::Loop& loop, std::shared_ptr<rt::HttpExchange> exchange)
      : loop_(loop), exchange_(std::move(exchange)) {}

  void begin(const std::string& protocol, const BeginStream& begin_stream) {
    exchange_->start_web_socket({{"Sec-WebSocket-Protocol", protocol}},
                                [&loop = loop_, self = shared_from_this()](std::string message) {
                                  loop.post([self, message = std::move(message)] {
                                    if (self->take(message)) self->exchange_->resume_reading();
                                  });
                                  return false;
                                });
    send(*exchange_, 1, {});  // a client may wait for the first word
    auto opened = begin_stream({.on_output =
                                    [exchange = exchange_](int channel, const std::string& bytes) {
                                      send(*exchange, static_cast<char>(channel), bytes);
                                      exchange->wait_until_drained();
                                    },
                                .on_room = [exchange = exchange_] { exchange->resume_reading(); },
                                .on_end =
                                    [exchange = exchange_](const base::Result<int>& end) {
                                      send(*exchange, kErrors, command_status(end).dump());
                                      exchange->finish();
                                    }});
    if (!opened.ok()) {
      send(*exchange_, kErrors, command_status(opened.error()).dump());
      return exchange_->finish();
    }
    stream_ = *std::move(opened);
    exchange_->on_closed([stream = stream_] { stream->end(); });
  }

 private:
  bool take(std::string_view message) {
    if (message.empty() || !stream_) return true;
    const char channel = message.front();
    const std::string_view bytes = message.substr(1);
    if (channel == kInput) return bytes.empty() || stream_->write(std::string(bytes));
    if (channel == kClose && bytes == std::string_view(&kInput, 1)) stream_->close_input();
    if (channel == kResize)
      if (const auto size = terminal_size(bytes); size.ok()) stream_->resize(size->columns, size->rows);
    return true;
  }

  static void send(rt::HttpExchange& exchange, char channel, std::string_view bytes) {
    auto message = std::make_shared<std::string>();
    message->reserve(bytes.size() + 1);
    message->push_back(channel);
    message->append(bytes);
    exchange.send_one(std::move(message));
  }

  rt::Loop& loop_;
  std::shared_ptr<rt::HttpExchange> exchange_;
  std::shared_ptr<api::PodStream> stream_;
};

}  // namespace

std::string chosen_command_protocol(const std::vector<std::string_view>& offered) {
  for (const std::string_view known : {"v5.channel.k8s.io", "v4.channel.k8s.io"})
    if (std::ranges::find(offered, known) != offered.end()) return std::string(known);
  return {};
}

Json command_status(const base::Result<int>& end) {
  if (end.ok() && *end == 0) return Json::object({{"metadata", Json::object()}, {"status", "Success"}});
  Json status = Json::object({{"metadata", Json::object()}, {"status", "Failure"}});
  if (end.ok()) {
    const std::string code = std::to_string(*end);
    status.set("message", "command terminated with non-zero exit code: exit status " + code);
    status.set("reason", "NonZeroExitCode");
    status.set("details",
               Json::object({{"causes", Json::array({Json::object({{"reason", "ExitCode"}, {"message", code}})})}}));
    return status;
  }
  status.set("message", "Internal error occurred: error executing command in container: " + end.error().message);
  status.set("reason", "InternalError");
  status.set("details", Json::object({{"causes", Json::array({Json::object({{"message", end.error().message}})})}}));
  status.set("code", 500);
  return status;
}

base::Result<TerminalSize> terminal_size(std::string_view text) {
  TRY(const Json json, api::parse_json(text));
  const std::int64_t columns = json["Width"].as_int(-1), rows = json["Height"].as_int(-1);
  if (columns < 1 || rows < 1 || columns > 65535 || rows > 65535)
    return base::make_error(base::Code::kInvalid, base::format("a terminal of {} by {}", columns, rows));
  return TerminalSize{static_cast<int>(columns), static_cast<int>(rows)};
}

void serve_channels(rt::Env& env, std::shared_ptr<rt::HttpExchange> exchange, const std::string& protocol,
                    const BeginStream& begin) {
  std::make_shared<ChannelSocket>(env.loop(), std::move(exchange))->begin(protocol, begin);
}

}  // namespace apiserver
