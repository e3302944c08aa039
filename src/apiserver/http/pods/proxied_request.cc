// Which headers go through, and what is added (RFC 9110 7.6.1; Kubernetes' X-Forwarded headers).
#include "apiserver/http/pods/proxied_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "apiserver/http/access.h"
#include "base/format.h"

namespace apiserver {

namespace {

constexpr std::string_view kImpersonate = "impersonate-", kRemoteExtra = "x-remote-extra-";

bool is_one_of(std::string_view name, const auto& names) {
  return std::ranges::any_of(names, [name](std::string_view one) { return rt::same_header(name, one); });
}

// Headers of one connection: those of HTTP, and those that the message itself names.
std::vector<std::string_view> of_one_connection(const rt::Headers& headers) {
  std::vector<std::string_view> names = {
      "Connection", "Proxy-Connection",  "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "TE",
      "Trailer",    "Transfer-Encoding", "Upgrade"};
  for (const std::string_view one : rt::header_list(headers, "Connection")) names.push_back(one);
  return names;
}

// A header of the client that a pod must not see, or that is written anew.
bool is_withheld(std::string_view name) {
  static constexpr std::array kNames = {"Authorization",          "Host",
                                        "Content-Length",         "Expect",
                                        "Sec-WebSocket-Protocol", "X-Forwarded-For",
                                        "X-Forwarded-Host",       "X-Forwarded-Proto",
                                        "X-Forwarded-Uri",        "X-Remote-User",
                                        "X-Remote-Group",         "X-Remote-Uid"};
  const auto begins_with = [name](std::string_view begin) {
    return rt::same_header(name.substr(0, begin.size()), begin);
  };
  return is_one_of(name, kNames) || begins_with(kImpersonate) || begins_with(kRemoteExtra);
}

// "/a" of "/a" and of "http://localhost:80/a", which many servers make of the Host that they are called by.
std::optional<std::string> path_on_pod(std::string_view place, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!place.starts_with(scheme)) continue;
    std::string_view rest = place.substr(scheme.size());
    const bool usual_port = host.ends_with(":80") || host.ends_with(":443");
    const std::string_view without_port = host.substr(0, host.rfind(':'));
    if (rest.starts_with(host))
      rest.remove_prefix(host.size());
    else if (usual_port && rest.starts_with(without_port))
      rest.remove_prefix(without_port.size());
    else
      return std::nullopt;
    if (rest.empty()) return "/";
    return rest.starts_with('/') ? std::optional(std::string(rest)) : std::nullopt;
  }
  return place.starts_with('/') && !place.starts_with("//") ? std::optional(std::string(place)) : std::nullopt;
}

void add(std::string& text, std::string_view name, std::string_view value) {
  text += base::format("{}: {}\r\n", name, value);
}

}  // namespace

std::string_view proxy_prefix(std::string_view target) {
  std::size_t end = 0;
  const std::string_view path = target.substr(0, target.find('?'));
  for (int parts = 0; parts < 7 && end < path.size(); ++parts) {  // api v1 namespaces NS pods NAME proxy
    end = std::min(path.find_first_not_of('/', end), path.size());
    end = std::min(path.find('/', end), path.size());
  }
  return path.substr(0, end);
}

std::string request_for_pod(const rt::HttpRequest& http, std::string_view host) {
  const std::string_view target = http.target;
  std::string_view rest = target.substr(proxy_prefix(target).size());
  std::string text =
      base::format("{} {}{} HTTP/1.1\r\nHost: {}\r\n", http.method, rest.starts_with('/') ? "" : "/", rest, host);
  const auto held = of_one_connection(http.headers);
  for (const auto& [name, value] : http.headers)
    if (!is_withheld(name) && !is_one_of(name, held)) add(text, name, value);
  std::string protocols;  // those that carry a token are for this server
  for (const std::string_view one : offered_subprotocols(http))
    protocols += (protocols.empty() ? "" : ", ") + std::string(one);
  if (!protocols.empty()) add(text, "Sec-WebSocket-Protocol", protocols);
  std::string from(rt::header(http.headers, "X-Forwarded-For"));
  if (!http.peer_address.empty()) from += (from.empty() ? "" : ", ") + http.peer_address;
  if (!from.empty()) add(text, "X-Forwarded-For", from);
  add(text, "X-Forwarded-Host", rt::header(http.headers, "Host"));
  add(text, "X-Forwarded-Proto", "https");
  add(text, "X-Forwarded-Uri", target.substr(0, target.find('?')));
  if (!http.upgrade.empty()) add(text, "Upgrade", http.upgrade);
  add(text, "Connection", http.upgrade.empty() ? "close" : "Upgrade");
  if (!http.body.empty() || (http.method != "GET" && http.method != "HEAD"))
    add(text, "Content-Length", std::to_string(http.body.size()));
  return text + "\r\n" + http.body;
}

rt::Headers headers_for_client(const rt::Headers& headers, std::string_view prefix, std::string_view host,
                               bool upgraded) {
  static constexpr std::array kOurs = {"Content-Length", "Access-Control-Allow-Origin",
                                       "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
                                       "Access-Control-Allow-Methods"};
  rt::Headers out;
  const auto held = of_one_connection(headers);
  for (const auto& [name, value] : headers) {
    if (is_one_of(name, held) || is_one_of(name, kOurs)) continue;
    const auto path = rt::same_header(name, "Location") ? path_on_pod(value, host) : std::nullopt;
    out.emplace_back(name, path ? std::string(prefix) + *path : value);
  }
  if (upgraded) out.emplace_back("Upgrade", std::string(rt::header(headers, "Upgrade")));
  return out;
}

}  // namespace apiserver
