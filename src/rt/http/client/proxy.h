// The HTTP proxy through which a client reaches its server: the proxy connects (CONNECT), and TLS runs end to end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rt {

struct Proxy {
  std::string host;  // a name or an address
  std::uint16_t port = 80;
  std::string authorization;  // the value of Proxy-Authorization; empty: none

  bool operator==(const Proxy&) const = default;
};

// From "http://[user:password@]host[:port]". An error names what is not supported (SOCKS, TLS to the proxy), and never
// the password.
base::Result<Proxy> parse_proxy_url(std::string_view text);

// The request to the proxy. An error where the name cannot be part of it.
base::Result<std::string> connect_request(const std::string& authority, const Proxy& proxy);
// Whether the head of its answer says that bytes go through from here on, or what it says in its place.
base::Status read_connect_answer(std::string_view head);

}  // namespace rt
