// The protocol between a client and a process in a container: channels over a WebSocket, or streams of SPDY.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/pod_streams.h"
#include "base/result.h"
#include "rt/env.h"
#include "rt/http/http.h"

namespace apiserver {

// Begins the stream, told where its events go.
using BeginStream = std::function<api::PodStreams::Opened(api::PodStreamEvents)>;

// The first of `known` that the client offers; nothing where it offers others only. Empty: it offers none, and that is
// known, too.
using Protocol = std::optional<std::string_view>;
Protocol chosen_protocol(std::span<const std::string_view> known, const std::vector<std::string_view>& offered);
extern const std::span<const std::string_view> kCommandChannels;  // of WebSockets
extern const std::span<const std::string_view> kCommandStreams;   // of SPDY
extern const std::span<const std::string_view> kPortChannels;
// How a process ended, as clients of the fourth version of the protocol read it on the channel of errors.
api::Json command_status(const base::Result<int>& end);
// The new size of a terminal, if the text is one.
struct TerminalSize {
  int columns = 0;
  int rows = 0;
};
base::Result<TerminalSize> terminal_size(std::string_view text);

// Messages of a WebSocket: a channel's number as a byte, and bytes; or its digit, and base64.
enum class ChannelForm : std::uint8_t { kBytes, kBase64 };
ChannelForm form_of(std::string_view protocol);
rt::HttpExchange::Messages messages_of(ChannelForm form);
void send_on_channel(rt::HttpExchange& exchange, ChannelForm form, int channel, std::string_view bytes);
struct ChannelMessage {
  int channel = 0;
  std::string bytes;
};
// Nothing: the message says nothing that can be read.
std::optional<ChannelMessage> channel_message(ChannelForm form, std::string_view message);

// All that follows is on the loop of `env`, which outlives the streams.

// Answers `exchange`, whose request asks for a WebSocket, until the process ends or the peer goes.
void serve_channels(rt::Env& env, std::shared_ptr<rt::HttpExchange> exchange, const std::string& protocol,
                    const BeginStream& begin);

struct WantedStreams {
  bool input = false, output = false, errors = false, terminal = false;
};
// The same for a request that asks for SPDY.
void serve_command_streams(rt::Env& env, std::shared_ptr<rt::HttpExchange> exchange, const std::string& protocol,
                           const WantedStreams& wanted, BeginStream begin);

// Ports of a pod: as SPDY streams, on an upgraded connection or, for `tunnel`, in the messages of a WebSocket.
using BeginPort = std::function<api::PodStreams::Opened(int port, api::PodStreamEvents)>;
inline constexpr std::string_view kPortProtocol = "portforward.k8s.io";
inline constexpr std::string_view kPortTunnel = "SPDY/3.1+portforward.k8s.io";
void serve_ports(rt::Env& env, std::shared_ptr<rt::HttpExchange> exchange, bool tunnel, BeginPort begin);
// The same as channels of a WebSocket.
struct PortRequest {
  std::vector<int> ports;
  std::string pod;  // in messages
};
base::Result<std::vector<int>> wanted_ports(const rt::Target& target);
void serve_port_channels(rt::Env& env, std::shared_ptr<rt::HttpExchange> exchange, const std::string& protocol,
                         const PortRequest& asked, const BeginPort& begin);

}  // namespace apiserver
