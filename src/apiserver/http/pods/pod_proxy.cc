// Which pod and which of its ports.
#include "apiserver/http/pods/pod_proxy.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "api/kinds.h"
#include "apiserver/http/answers.h"
#include "apiserver/http/negotiation.h"
#include "apiserver/http/pods/pod_relay.h"
#include "apiserver/http/pods/proxied_request.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::make_error;
using base::Result;

namespace {

const api::TextField kSliceService{{"discovery.k8s.io", "v1", "endpointslices"},
                                   {"metadata", "labels", "kubernetes.io/service-name"}};
const api::ResourceId kPods{"", "v1", "pods"};
constexpr int kHttpPort = 80, kHttpsPort = 443;

// 0: it is not a port.
int port_number(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 && port <= 65535 ? port : 0;
}

// The first port that a container names, as for a stock server, or that of HTTP.
Result<int> port_of_pod(const Json& pod, std::string_view wanted, bool tls) {
  if (!wanted.empty()) {
    const int port = port_number(wanted);
    if (port == 0) return bad_request(base::format("port {:?} is not a number from 1 to 65535", wanted));
    return port;
  }
  for (const Json& container : pod["spec"]["containers"].items())
    if (!container["ports"].empty())
      return static_cast<int>(container["ports"].items().front()["containerPort"].as_int());
  return tls ? kHttpsPort : kHttpPort;
}

Result<ProxiedPod> pod_itself(const Json& pod, int port) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  if (phase != "Running")
    return pod_unreachable(base::format("pod {:?} is {}", api::name_of(pod), phase.empty() ? "Pending" : phase));
  return ProxiedPod{std::string(api::uid_of(pod)), port};
}

// A user who may write EndpointSlices may write any target into them: it counts if it is a pod of the namespace.
bool is_running_pod(std::string_view ns, const Json& target, const api::ObjectReader& objects) {
  if (target["kind"].as_string() != "Pod") return false;
  const auto pod = objects.find(kPods, ns, target["name"].as_string());
  return pod && api::uid_of(*pod) == target["uid"].as_string() && (*pod)["status"]["phase"].as_string() == "Running";
}

// The pods behind the port called `port` in the service's slices.
std::vector<ProxiedPod> pods_behind(std::string_view ns, std::string_view service, std::string_view port,
                                    const api::ObjectReader& objects) {
  std::vector<ProxiedPod> out;
  for (const Json& slice : objects.list_by(kSliceService, service)) {
    if (api::namespace_of(slice) != ns) continue;
    for (const Json& one : slice["ports"].items()) {
      if (one["name"].as_string() != port) continue;
      const std::int64_t number = one["port"].as_int();
      if (number < 1 || number > 65535) continue;
      for (const Json& endpoint : slice["endpoints"].items())
        if (endpoint["conditions"]["ready"].as_bool(true) && is_running_pod(ns, endpoint["targetRef"], objects))
          out.push_back({endpoint["targetRef"]["uid"].str(), static_cast<int>(number)});
    }
  }
  return out;
}

Result<ProxiedPod> pod_of_service(const Json& service, std::string_view wanted, const api::ObjectReader& objects,
                                  base::Random& random) {
  const std::string_view name = api::name_of(service);
  std::string port(wanted);
  if (const int number = port_number(wanted); number != 0) {
    const auto& ports = service["spec"]["ports"].items();
    const auto found =
        std::ranges::find_if(ports, [number](const Json& one) { return one["port"].as_int() == number; });
    if (found == ports.end())
      return make_error(Code::kUnavailable, base::format("no service port {} found for service \"{}\"", number, name));
    port = (*found)["name"].str();
  }
  const auto pods = pods_behind(api::namespace_of(service), name, port, objects);
  if (pods.empty())
    return make_error(Code::kUnavailable, base::format("no endpoints available for service \"{}\"", name));
  return pods[random.below(pods.size())];
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

// Relative links of a page lead below it only if its own path ends with a slash.
bool redirect(const rt::HttpRequest& http, rt::HttpExchange& exchange) {
  const std::string_view target = http.target, prefix = proxy_prefix(target);
  const std::string_view rest = target.substr(prefix.size());
  const bool is_page = (http.method == "GET" || http.method == "HEAD") && http.upgrade.empty();
  if (!is_page || rest.starts_with('/')) return false;
  // "//api" would be a host.
  const std::string_view path = prefix.substr(std::min(prefix.find_first_not_of('/'), prefix.size()));
  exchange.respond({301, {{"Location", base::format("/{}/{}", path, rest)}}, ""});
  return true;
}

void relay(Api& api, const Request& request, const rt::HttpRequest& http,
           const std::shared_ptr<rt::HttpExchange>& exchange) {
  const Encoding encoding = accepted_encoding(http);
  const auto pod = find_proxied_pod(request, api.reader(), api.env().random());
  if (!pod.ok()) return fail(*exchange, pod.error(), encoding);
  if (!api.pod_streams())
    return fail(*exchange, make_error(Code::kUnavailable, "no node agent in this process runs pods"), encoding);
  if (redirect(http, *exchange)) return;
  relay_to_pod(
      [&api, user = request.user, pod = *pod](api::PodStreamEvents events) {
        return api.stream_shares().open(user, StreamShares::Use::kConnection, std::move(events),
                                        [&](api::PodStreamEvents counted) {
                                          return api.pod_streams()->connect(pod.uid, pod.port, std::move(counted));
                                        });
      },
      *pod, http, exchange);
}

}  // namespace

bool is_pod_proxy(const Request& request) {
  return request.subresource == "proxy" && request.kind->namespaced && request.kind->resource.group.empty();
}

Result<ProxiedName> proxied_name(std::string_view kind, std::string_view text) {
  ProxiedName out;
  const auto colons = std::ranges::count(text, ':');
  std::string_view rest = text;
  if (colons == 2) {
    out.scheme = rest.substr(0, rest.find(':'));
    rest.remove_prefix(out.scheme.size() + 1);
  }
  out.name = rest.substr(0, rest.find(':'));
  if (out.name.size() < rest.size()) out.port = rest.substr(out.name.size() + 1);
  if (colons > 2 || out.name.empty() || (!out.scheme.empty() && out.scheme != "http" && out.scheme != "https"))
    return bad_request(base::format("invalid {} request \"{}\"", kind, text));
  return out;
}

Result<ProxiedPod> find_proxied_pod(const Request& request, const api::ObjectReader& objects, base::Random& random) {
  const bool is_pod = request.kind->kind == "Pod";
  TRY(const ProxiedName named, proxied_name(is_pod ? "pod" : "service", request.name));
  const auto found = objects.find(request.kind->resource, request.ns, named.name);
  if (!found) return not_found(*request.kind, named.name);
  ProxiedPod out;
  if (is_pod) {
    TRY(const int port, port_of_pod(*found, named.port, named.scheme == "https"));
    TRY(out, pod_itself(*found, port));
  } else {
    TRY(out, pod_of_service(*found, named.port, objects, random));
  }
  out.tls = named.scheme == "https";
  return out;
}

void serve_pod_proxy(Api& api, Request request, rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
  if (!is_printable(http.target))
    return fail(*exchange, bad_request("the path of the request has characters that belong percent-encoded"),
                accepted_encoding(http));
  api.env().loop().post([&api, request = std::move(request), http = std::move(http), exchange = std::move(exchange)] {
    relay(api, request, http, exchange);
  });
}

}  // namespace apiserver
