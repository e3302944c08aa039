// The question of a stream into a pod, whether the pod runs, and the protocol of the streams.
#include "apiserver/http/pods/pod_connect.h"

#include <algorithm>

#include "apiserver/http/access.h"
#include "apiserver/http/answers.h"
#include "apiserver/http/pods/pod_log.h"
#include "apiserver/http/pods/remote_command.h"
#include "apiserver/http/query_options.h"
#include "apiserver/http/route.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::make_error;
using base::Result;

namespace {

constexpr std::string_view kSpdy = "SPDY/3.1";

// How the client wants to go on.
struct Upgrade {
  bool web_socket = false;
  std::string protocol;  // empty: one of WebSockets that has no name
};

std::string listed(std::span<const std::string_view> words) {
  std::string list;
  for (const std::string_view one : words)
    if (!one.empty()) list += (list.empty() ? "" : ", ") + std::string(one);
  return list;
}

Result<Upgrade> upgrade_of(const rt::HttpRequest& http, bool ports) {
  if (!http.web_socket && !rt::same_header(http.upgrade, kSpdy)) return bad_request("Upgrade request required");
  const auto offered =
      http.web_socket ? offered_subprotocols(http) : rt::header_list(http.headers, "X-Stream-Protocol-Version");
  std::vector<std::string_view> known;
  if (ports) known.push_back(http.web_socket ? kPortTunnel : kPortProtocol);
  const std::span<const std::string_view> further = !ports ? http.web_socket ? kCommandChannels : kCommandStreams
                                                    : http.web_socket ? kPortChannels
                                                                      : std::span<const std::string_view>();
  known.insert(known.end(), further.begin(), further.end());
  if (const Protocol chosen = chosen_protocol(known, offered))
    return Upgrade{.web_socket = http.web_socket, .protocol = std::string(*chosen)};
  return bad_request(
      base::format("none of the protocols [{}] is known here; known are {}", listed(offered), listed(known)));
}

Result<api::ExecOptions> command_of(const rt::Target& target, bool attach) {
  api::ExecOptions options;
  options.container = target.get("container");
  for (const auto& [key, value] : target.query)
    if (key == "command" && !attach) options.command.push_back(value);
  options.input = asks_for(target, "stdin");
  options.output = asks_for(target, "stdout");
  options.errors = asks_for(target, "stderr");
  options.terminal = asks_for(target, "tty");
  if (!options.input && !options.output && !options.errors)
    return bad_request("you must specify at least 1 of stdin, stdout, stderr");
  if (options.terminal && options.errors)
    return bad_request("tty and stderr cannot both be true: a terminal has one output");
  if (!attach && (options.command.empty() || options.command[0].empty()))
    return bad_request("you must specify at least 1 command for the container");
  for (const std::string& one : options.command)
    if (one.find('\0') != std::string::npos) return bad_request("command: a word with a null byte");
  return options;
}

bool runs(const Json& pod, std::string_view container) {
  for (const char* list : {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"})
    for (const Json& status : pod["status"][list].items())
      if (status["name"].as_string() == container) return status["state"].has("running");
  return false;
}

// On the loop.
struct Connecting {
  Api& api;
  Request request;
  Upgrade upgrade;
  api::ExecOptions options;
  std::vector<int> ports;  // as channels
  Encoding encoding;       // of an error
  std::shared_ptr<rt::HttpExchange> exchange;

  void go() {
    const auto pod = pod_to_reach();
    if (!pod.ok()) return fail(*exchange, pod.error(), encoding);
    api::PodStreams& streams = *api.pod_streams();
    StreamShares& shares = api.stream_shares();
    const std::string uid(api::uid_of(*pod));
    if (request.subresource == "portforward") {
      BeginPort begin = [&streams, &shares, uid, user = request.user](int port, api::PodStreamEvents events) {
        return shares.open(user, StreamShares::Use::kConnection, std::move(events),
                           [&streams, uid, port](api::PodStreamEvents counted) {
                             return streams.connect(uid, port, std::move(counted));
                           });
      };
      if (ports.empty()) return serve_ports(api.env(), std::move(exchange), upgrade.web_socket, std::move(begin));
      const PortRequest asked{std::move(ports), base::format("{}_{}, uid {}", request.name, request.ns, uid)};
      return serve_port_channels(api.env(), std::move(exchange), upgrade.protocol, asked, begin);
    }
    BeginStream begin = [&streams, &shares, uid, user = request.user, asked = options,
                         attach = request.subresource == "attach"](api::PodStreamEvents events) {
      return shares.open(user, StreamShares::Use::kCommand, std::move(events), [&](api::PodStreamEvents counted) {
        return attach ? streams.attach(uid, asked, std::move(counted)) : streams.exec(uid, asked, std::move(counted));
      });
    };
    if (upgrade.web_socket) return serve_channels(api.env(), std::move(exchange), upgrade.protocol, begin);
    serve_command_streams(api.env(), std::move(exchange), upgrade.protocol,
                          {options.input, options.output, options.errors, options.terminal}, std::move(begin));
  }

  Result<Json> pod_to_reach() {
    const store::ObjectPtr stored = api.store().find(request.resource, request.ns, request.name, store::View::kDurable);
    if (!stored) return not_found(*request.kind, request.name);
    Json pod = stored->json();
    const bool ports = request.subresource == "portforward";
    if (!ports) {
      TRY(options.container, container_of(pod));
    }
    if (pod["spec"]["nodeName"].as_string().empty())
      return bad_request(base::format("pod {} does not have a host assigned", request.name));
    if (!api.pod_streams()) return make_error(Code::kUnavailable, "no node agent in this process runs pods");
    if (ports && pod["status"]["phase"].as_string() != "Running")
      return bad_request(base::format("unable to forward port because pod is not running. Current status={}",
                                      pod["status"]["phase"].as_string()));
    if (!ports && !runs(pod, options.container))
      return make_error(Code::kNotFound, base::format("container not found (\"{}\")", options.container));
    return pod;
  }

  Result<std::string> container_of(const Json& pod) const {
    const Json& chosen = pod["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"];
    return choose_container(pod, options.container.empty() ? chosen.str() : options.container);
  }
};

}  // namespace

bool is_connect(const Request& request) {
  return request.subresource == "exec" || request.subresource == "attach" || request.subresource == "portforward";
}

void serve_connect(Api& api, Request request, const rt::HttpRequest& http, const rt::Target& target,
                   std::shared_ptr<rt::HttpExchange> exchange) {
  const Encoding encoding = accepted_encoding(http);
  if (request.verb != Verb::kGet && request.verb != Verb::kCreate)
    return fail(*exchange,
                make_error(Code::kMethodNotAllowed, "the server does not allow this method on the requested resource"),
                encoding);
  const bool ports = request.subresource == "portforward";
  auto options =
      ports ? Result<api::ExecOptions>(api::ExecOptions()) : command_of(target, request.subresource == "attach");
  if (!options.ok()) return fail(*exchange, options.error(), encoding);
  auto upgrade = upgrade_of(http, ports);
  if (!upgrade.ok()) return fail(*exchange, upgrade.error(), encoding);
  const bool as_channels = ports && upgrade->web_socket && upgrade->protocol != kPortTunnel;
  auto wanted = as_channels ? wanted_ports(target) : Result<std::vector<int>>(std::vector<int>());
  if (!wanted.ok()) return fail(*exchange, wanted.error(), encoding);
  api.env().loop().post(
      [connecting = Connecting{api, std::move(request), *std::move(upgrade), *std::move(options), *std::move(wanted),
                               encoding, std::move(exchange)}]() mutable { connecting.go(); });
}

}  // namespace apiserver
