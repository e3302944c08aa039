// Addresses as flags give them: "127.0.0.1:8080", "[::1]:8080", ":8080".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace volcano_main {

struct HostPort {
  std::string host;  // an IP address; empty: every address of this machine
  std::uint16_t port = 0;
};

base::Result<HostPort> parse_host_port(std::string_view text);
// An error that names the flag, unless `text` is an IP address.
base::Status check_ip(std::string_view flag, const std::string& text);
bool is_any_address(const std::string& ip);
// "https://127.0.0.1:6443"; an address that means all of them is reached at home.
std::string https_url(const std::string& ip, std::uint16_t port);
// The address by which others reach this machine: that of its default route, else of an interface that is not a bridge
// of containers; "127.0.0.1" where there is no other. IPv4 comes first.
std::string outward_address();
// The addresses of this machine, in no order that means something.
std::vector<std::string> own_addresses();

// The name of this machine, in lower case as a node's name is.
std::string own_host_name();

}  // namespace volcano_main
