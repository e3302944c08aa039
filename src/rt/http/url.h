// The URL of a server, read by the rules of RFC 3986 (Boost.URL).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rt {

// "https://host:port/path?query".
struct ServerUrl {
  bool tls = true;
  std::string host;  // a name or an address; an IPv6 address without its brackets
  std::uint16_t port = 443;
  std::string path;   // as it is written: empty, or from the first slash
  std::string query;  // as it is written, with the question mark; empty without one

  // The target of a request for it.
  std::string target() const { return (path.empty() ? "/" : path) + query; }
};

// kInvalid, with the URL and what is wrong with it, unless it is http or https, with a host and without a user.
base::Result<ServerUrl> parse_server_url(std::string_view text);

}  // namespace rt
