// The list of those that are reached directly.
#include "rt/http/client/proxy_environment.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "base/format.h"

namespace rt {
namespace {

namespace ip = boost::asio::ip;
using ErrorCode = boost::system::error_code;

std::optional<ip::address> address_of(const std::string& text) {
  ErrorCode error;
  const ip::address address = ip::make_address(text, error);
  if (error) return std::nullopt;
  if (address.is_v6() && address.to_v6().is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, address.to_v6());
  return address;
}

std::string lowercase(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_in_network(const ip::address& address, const std::string& network) {
  ErrorCode error;
  if (address.is_v4()) {
    const ip::network_v4 net = ip::make_network_v4(network, error);
    return !error && ip::network_v4(address.to_v4(), net.prefix_length()).canonical() == net.canonical();
  }
  const ip::network_v6 net = ip::make_network_v6(network, error);
  return !error && ip::network_v6(address.to_v6(), net.prefix_length()).canonical() == net.canonical();
}

// "host:port", "[v6]:port", or either part alone.
struct Entry {
  std::string host;
  std::string port;
};

Entry taken_apart(const std::string& text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string::npos) return {text, ""};
    return {text.substr(1, end - 1), text.substr(end + 1).starts_with(':') ? text.substr(end + 2) : ""};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.find(':', colon + 1) != std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool is_meant(const std::string& text, const std::string& host, const std::optional<ip::address>& address,
              std::uint16_t port) {
  if (text == "*") return true;
  if (text.find('/') != std::string::npos) return address && is_in_network(*address, text);
  Entry entry = taken_apart(text);
  if (!entry.port.empty() && entry.port != std::to_string(port)) return false;
  if (address) return address_of(entry.host) == address;
  if (entry.host.starts_with("*.")) entry.host.erase(0, 1);
  if (entry.host.empty()) return false;
  if (entry.host.starts_with('.')) return host.ends_with(entry.host);
  return host == entry.host || host.ends_with("." + entry.host);
}

}  // namespace

base::Result<std::optional<Proxy>> proxy_of_environment(std::string_view https_proxy, std::string_view no_proxy,
                                                        const std::string& host, std::uint16_t port) {
  if (https_proxy.empty()) return std::optional<Proxy>();
  std::string name = lowercase(host);
  if (name.ends_with('.')) name.pop_back();
  const std::optional<ip::address> address = address_of(name);
  if (name == "localhost" || (address && address->is_loopback())) return std::optional<Proxy>();
  for (std::size_t start = 0; start <= no_proxy.size();) {
    const std::size_t end = std::min(no_proxy.find(',', start), no_proxy.size());
    std::string entry = lowercase(no_proxy.substr(start, end - start));
    std::erase_if(entry, [](char c) { return c == ' ' || c == '\t'; });
    if (!entry.empty() && is_meant(entry, name, address, port)) return std::optional<Proxy>();
    start = end + 1;
  }
  const bool has_scheme = https_proxy.find("://") != std::string_view::npos;
  auto proxy = parse_proxy_url(has_scheme ? std::string(https_proxy) : "http://" + std::string(https_proxy));
  if (!proxy.ok()) return base::within(proxy.take_error(), "HTTPS_PROXY");
  return std::optional(*std::move(proxy));
}

}  // namespace rt
