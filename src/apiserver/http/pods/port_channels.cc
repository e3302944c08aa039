// Ports of a pod as channels of a WebSocket: for each port one of bytes and one that says why it failed. Both begin
// with the port's number, the low byte first.
#include <charconv>
#include <utility>

#include "apiserver/http/pods/remote_command.h"
#include "base/format.h"
#include "base/split.h"

namespace apiserver {

using base::Result;

namespace {

constexpr std::size_t kForwardedPortsMax = 32;  // their channels are ASCII letters in base64.channel.k8s.io

// On the loop. A message at a time: the next is read when there is room for more.
class PortChannels : public std::enable_shared_from_this<PortChannels> {
 public:
  PortChannels(rt::Loop& loop, std::shared_ptr<rt::HttpExchange> exchange, std::string_view protocol)
      : loop_(loop), exchange_(std::move(exchange)), form_(form_of(protocol)) {}

  void begin(std::string_view protocol, const PortRequest& asked, const BeginPort& begin_port) {
    rt::Headers headers;
    if (!protocol.empty()) headers.emplace_back("Sec-WebSocket-Protocol", std::string(protocol));
    exchange_->start_web_socket(std::move(headers), messages_of(form_),
                                [&loop = loop_, self = shared_from_this()](std::string message) {
                                  loop.post([self, message = std::move(message)] {
                                    if (self->take(message)) self->exchange_->resume_reading();
                                  });
                                  return false;
                                });
    exchange_->on_closed([&loop = loop_, self = shared_from_this()] { loop.post([self] { self->gone(); }); });
    ports_.resize(asked.ports.size());
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const auto number = static_cast<unsigned>(asked.ports[i]);
      const std::string bytes = {static_cast<char>(number & 0xff), static_cast<char>(number >> 8)};
      for (const int channel : {data_of(i), errors_of(i)}) send_on_channel(*exchange_, form_, channel, bytes);
    }
    for (std::size_t i = 0; i < ports_.size(); ++i) connect(i, asked, begin_port);
  }

 private:
  struct Port {
    std::shared_ptr<api::PodStream> stream;
    bool ended = false;
  };

  static int data_of(std::size_t port) { return static_cast<int>(2 * port); }
  static int errors_of(std::size_t port) { return static_cast<int>(2 * port + 1); }

  void connect(std::size_t at, const PortRequest& asked, const BeginPort& begin_port) {
    const int number = asked.ports[at];
    const auto on_error = [number, pod = asked.pod](const base::Error& error) {
      return base::format("error forwarding port {} to pod {}: {}", number, pod, error.message);
    };
    auto opened = begin_port(
        number,
        {.on_output =
             [exchange = exchange_, form = form_, at](int, const std::string& bytes) {
               send_on_channel(*exchange, form, data_of(at), bytes);
               exchange->wait_until_drained();
             },
         .on_room = [self = shared_from_this(), at] { self->loop_.post([self, at] { self->has_room(at); }); },
         .on_end =
             [self = shared_from_this(), at, on_error](const Result<int>& how) {
               self->loop_.post([self, at, why = how.ok() ? "" : on_error(how.error())] { self->end(at, why); });
             }});
    if (!opened.ok()) return end(at, on_error(opened.error()));
    ports_[at].stream = *std::move(opened);
  }

  // False: no more until there is room.
  bool take(const std::string& message) {
    const auto message_in = channel_message(form_, message);
    if (!message_in || message_in->channel % 2 != 0) return true;  // on a channel of errors nobody listens
    const auto at = static_cast<std::size_t>(message_in->channel / 2);
    if (at >= ports_.size() || ports_[at].ended || !ports_[at].stream || message_in->bytes.empty()) return true;
    if (ports_[at].stream->write(message_in->bytes)) return true;
    full_ = at;
    return false;
  }

  void has_room(std::size_t at) {
    if (full_ != at) return;
    full_ = kNone;
    exchange_->resume_reading();
  }

  // The socket stays while one of the ports is open.
  void end(std::size_t at, const std::string& why) {
    if (std::exchange(ports_[at].ended, true)) return;
    if (!why.empty()) send_on_channel(*exchange_, form_, errors_of(at), why);
    has_room(at);
    if (std::ranges::all_of(ports_, &Port::ended)) exchange_->finish();
  }

  void gone() {
    for (const Port& port : ports_)
      if (port.stream) port.stream->end();
  }

  static constexpr std::size_t kNone = kForwardedPortsMax;

  rt::Loop& loop_;
  std::shared_ptr<rt::HttpExchange> exchange_;
  ChannelForm form_;
  std::vector<Port> ports_;
  std::size_t full_ = kNone;  // the port that has no room for what came last
};

}  // namespace

Result<std::vector<int>> wanted_ports(const rt::Target& target) {
  std::vector<int> ports;
  for (const auto& [key, value] : target.query) {
    if (key != "ports") continue;
    for (const std::string_view word : base::split(value, ',')) {
      int port = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), port);
      if (error != std::errc() || end != word.data() + word.size() || port < 1 || port > 65535)
        return base::make_error(base::Code::kBadRequest,
                                base::format("query parameter \"ports\": {:?} is not a port from 1 to 65535", word));
      ports.push_back(port);
    }
  }
  if (ports.empty()) return base::make_error(base::Code::kBadRequest, "query parameter \"ports\" is required");
  if (ports.size() > kForwardedPortsMax)
    return base::make_error(
        base::Code::kBadRequest,
        base::format("query parameter \"ports\": {} ports are more than {}", ports.size(), kForwardedPortsMax));
  return ports;
}

void serve_port_channels(rt::Env& env, std::shared_ptr<rt::HttpExchange> exchange, const std::string& protocol,
                         const PortRequest& asked, const BeginPort& begin) {
  std::make_shared<PortChannels>(env.loop(), std::move(exchange), protocol)->begin(protocol, asked, begin);
}

}  // namespace apiserver
