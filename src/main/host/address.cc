// Grammar of addresses, and those of this machine.
#include "main/host/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <charconv>

#include "base/format.h"
#include "rt/tls.h"

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

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  for (const ifaddrs* one = list; one; one = one->ifa_next) {
    if (!one->ifa_addr) continue;
    char text[INET6_ADDRSTRLEN];
    const void* bytes = nullptr;
    if (one->ifa_addr->sa_family == AF_INET)
      bytes = &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    else if (one->ifa_addr->sa_family == AF_INET6)
      bytes = &reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
    if (bytes && ::inet_ntop(one->ifa_addr->sa_family, bytes, text, sizeof text)) addresses.emplace_back(text);
  }
  ::freeifaddrs(list);
  return addresses;
}

std::string own_host_name() {
  char buffer[256] = "localhost";
  gethostname(buffer, sizeof buffer - 1);
  std::string name = buffer;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace volcano_main
