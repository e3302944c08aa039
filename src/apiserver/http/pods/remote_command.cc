// The channels of v4.channel.k8s.io, v5.channel.k8s.io and their older forms: each message is of one channel.
#include "apiserver/http/pods/remote_command.h"

#include <algorithm>

#include "base/base64.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

// 1 and 2 are those of api::PodStreamEvents.
constexpr int kInput = 0, kErrors = 3, kResize = 4;
constexpr int kClose = 255;  // of the fifth version: the channel behind it is closed
constexpr std::string_view kNamesOfChannels[] = {"v5.channel.k8s.io",        "v4.channel.k8s.io",
                                                 "v4.base64.channel.k8s.io", "channel.k8s.io",
                                                 "base64.channel.k8s.io",    ""};
constexpr std::string_view kNamesOfStreams[] = {"v5.channel.k8s.io", "v4.channel.k8s.io"};
constexpr std::string_view kNamesOfPortChannels[] = {"v4.channel.k8s.io", "v4.base64.channel.k8s.io", ""};

// On the loop. A message at a time: the next is read when there is room for more.
class ChannelSocket : public std::enable_shared_from_this<ChannelSocket> {
 public:
  ChannelSocket(rt::Loop& loop, std::shared_ptr<rt::HttpExchange> exchange, std::string_view protocol)
      : loop_(loop),
        exchange_(std::move(exchange)),
        form_(form_of(protocol)),
        sends_status_(protocol.starts_with("v4.") || protocol.starts_with("v5.")) {}

  void begin(const std::string& protocol, const BeginStream& begin_stream) {
    rt::Headers headers;
    if (!protocol.empty()) headers.emplace_back("Sec-WebSocket-Protocol", protocol);
    exchange_->start_web_socket(std::move(headers), messages_of(form_),
                                [&loop = loop_, self = shared_from_this()](std::string message) {
                                  loop.post([self, message = std::move(message)] {
                                    if (self->take(message)) self->exchange_->resume_reading();
                                  });
                                  return false;
                                });
    send_on_channel(*exchange_, form_, 1, {});  // a client may wait for the first word
    auto opened =
        begin_stream({.on_output =
                          [exchange = exchange_, form = form_](int channel, const std::string& bytes) {
                            send_on_channel(*exchange, form, channel, bytes);
                            exchange->wait_until_drained();
                          },
                      .on_room = [exchange = exchange_] { exchange->resume_reading(); },
                      .on_end = [self = shared_from_this()](const base::Result<int>& end) { self->finish(end); }});
    if (!opened.ok()) return finish(opened.error());
    stream_ = *std::move(opened);
    exchange_->on_closed([stream = stream_] { stream->end(); });
  }

 private:
  bool take(std::string_view message) {
    const auto message_in = channel_message(form_, message);
    if (!message_in || !stream_) return true;
    const std::string& bytes = message_in->bytes;
    if (message_in->channel == kInput) return bytes.empty() || stream_->write(bytes);
    if (message_in->channel == kClose && bytes == std::string_view("\0", 1)) stream_->close_input();
    if (message_in->channel == kResize)
      if (const auto size = terminal_size(bytes); size.ok()) stream_->resize(size->columns, size->rows);
    return true;
  }

  // Any thread. Before the fourth version only failures are told, as text.
  void finish(const base::Result<int>& end) {
    const Json status = command_status(end);
    if (sends_status_)
      send_on_channel(*exchange_, form_, kErrors, status.dump());
    else if (const std::string_view text = status["message"].as_string(); !text.empty())
      send_on_channel(*exchange_, form_, kErrors, text);
    exchange_->finish();
  }

  rt::Loop& loop_;
  std::shared_ptr<rt::HttpExchange> exchange_;
  const ChannelForm form_;
  const bool sends_status_;
  std::shared_ptr<api::PodStream> stream_;
};

}  // namespace

const std::span<const std::string_view> kCommandChannels = kNamesOfChannels;
const std::span<const std::string_view> kCommandStreams = kNamesOfStreams;
const std::span<const std::string_view> kPortChannels = kNamesOfPortChannels;

Protocol chosen_protocol(std::span<const std::string_view> known, const std::vector<std::string_view>& offered) {
  for (const std::string_view one : known)
    if (one.empty() ? offered.empty() : std::ranges::find(offered, one) != offered.end()) return one;
  return std::nullopt;
}

ChannelForm form_of(std::string_view protocol) {
  return protocol.starts_with("base64.") || protocol.starts_with("v4.base64.") ? ChannelForm::kBase64
                                                                               : ChannelForm::kBytes;
}

rt::HttpExchange::Messages messages_of(ChannelForm form) {
  return form == ChannelForm::kBytes ? rt::HttpExchange::Messages::kBytes : rt::HttpExchange::Messages::kText;
}

void send_on_channel(rt::HttpExchange& exchange, ChannelForm form, int channel, std::string_view bytes) {
  auto message = std::make_shared<std::string>();
  message->reserve(bytes.size() + 1);
  message->push_back(static_cast<char>(form == ChannelForm::kBytes ? channel : '0' + channel));
  message->append(form == ChannelForm::kBytes ? bytes : base::base64_encode(bytes));
  exchange.send_one(std::move(message));
}

std::optional<ChannelMessage> channel_message(ChannelForm form, std::string_view message) {
  if (message.empty()) return std::nullopt;
  const int first = static_cast<unsigned char>(message.front());
  message.remove_prefix(1);
  if (form == ChannelForm::kBytes) return ChannelMessage{first, std::string(message)};
  auto bytes = base::base64_decode(message);
  if (!bytes.ok() || first < '0') return std::nullopt;
  return ChannelMessage{first - '0', *std::move(bytes)};
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
  std::make_shared<ChannelSocket>(env.loop(), std::move(exchange), protocol)->begin(protocol, begin);
}

}  // namespace apiserver
