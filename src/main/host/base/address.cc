// Grammar of addresses, and those of this machine.
#include "main/host/base/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "base/letters.h"
#include "rt/tls/tls.h"

namespace volcano_main {

base::Result<HostPort> parse_host_port(std::string_view text) {
  const auto wrong = [text] {
    return base::make_error(base::Code::kInvalid, base::format("address \"{}\" is not host:port", text));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  HostPort place;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  if (error != std::errc() || end != port.data() + port.size()) return wrong();
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string_view::npos) return wrong();
  if (host == "localhost") host = "127.0.0.1";
  if (!host.empty() && !rt::usual_ip(std::string(host))) return wrong();
  place.host = host;
  return place;
}

base::Status check_ip(std::string_view flag, const std::string& text) {
  if (rt::usual_ip(text)) return {};
  return base::make_error(base::Code::kInvalid, base::format("{}: \"{}\" is not an IP address", flag, text));
}

bool is_any_address(const std::string& ip) {
  const auto usual = rt::usual_ip(ip);
  return usual == "0.0.0.0" || usual == "::";
}

std::string https_url(const std::string& ip, std::uint16_t port) {
  const bool v6 = ip.find(':') != std::string::npos;
  const std::string host = !is_any_address(ip) ? ip : v6 ? "::1" : "127.0.0.1";
  return base::format("https://{}:{}", v6 ? "[" + host + "]" : host, port);
}

namespace {

// Asked of the routes; nothing is sent. The address is one for documents, which nobody has.
std::string address_of_default_route() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return {};
  sockaddr_in far{}, near{};
  far.sin_family = AF_INET;
  far.sin_port = htons(9);
  ::inet_pton(AF_INET, "192.0.2.1", &far.sin_addr);
  socklen_t size = sizeof near;
  char text[INET_ADDRSTRLEN] = "";
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&far), sizeof far) == 0 &&
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&near), &size) == 0)
    ::inet_ntop(AF_INET, &near.sin_addr, text, sizeof text);
  ::close(socket);
  return text;
}

bool is_bridge_of_containers(std::string_view interface) {
  static constexpr std::string_view kBegins[] = {"vcbr", "docker",  "br-",  "virbr",  "veth",
                                                 "cni",  "flannel", "cali", "podman", "lxc"};
  return std::ranges::any_of(kBegins, [&](std::string_view word) { return interface.starts_with(word); });
}

bool can_be_reached(const std::string& ip) {
  return !ip.empty() && !ip.starts_with("127.") && ip != "::1" && !ip.starts_with("169.254.") &&
         !ip.starts_with("fe80:") && !is_any_address(ip);
}

std::string text_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN];
  const void* bytes = nullptr;
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET)
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  else if (address->sa_family == AF_INET6)
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  return bytes != nullptr && ::inet_ntop(address->sa_family, bytes, text, sizeof text) ? text : std::string();
}

}  // namespace

std::string outward_address() {
  if (std::string routed = address_of_default_route(); can_be_reached(routed)) return routed;
  std::string v4, v6;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) == 0) {
    for (const ifaddrs* one = list; one; one = one->ifa_next) {
      const std::string ip = text_of(one->ifa_addr);
      if ((one->ifa_flags & IFF_UP) == 0 || is_bridge_of_containers(one->ifa_name) || !can_be_reached(ip)) continue;
      std::string& found = one->ifa_addr->sa_family == AF_INET ? v4 : v6;
      if (found.empty()) found = ip;
    }
    ::freeifaddrs(list);
  }
  return !v4.empty() ? v4 : !v6.empty() ? v6 : "127.0.0.1";
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  for (const ifaddrs* one = list; one; one = one->ifa_next)
    if (std::string ip = text_of(one->ifa_addr); !ip.empty()) addresses.push_back(std::move(ip));
  ::freeifaddrs(list);
  return addresses;
}

std::string own_host_name() {
  char buffer[256] = "localhost";
  gethostname(buffer, sizeof buffer - 1);
  return base::lower(buffer);
}

}  // namespace volcano_main
