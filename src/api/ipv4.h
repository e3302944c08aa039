// IPv4 addresses and ranges of them, as texts and as numbers in the order of the host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace api {

// "10.96.0.1": four numbers without leading zeros, and nothing else.
std::optional<std::uint32_t> parse_ipv4(std::string_view text);
// True for IPv4 or IPv6, without a zone.
bool is_ip_address(std::string_view text);
// "10.0.0.0/8" or "2001:db8::/32"; bits behind the prefix may be set.
bool is_ip_range(std::string_view text);
// True if, of two such ranges of one family, `inner` is a part of `outer`, and not all of it.
bool is_within(std::string_view inner, std::string_view outer);
// The fault of an address or of a range in an object, in the words of Kubernetes; empty if there is none. Since 1.36 an
// IPv4 address is not written as one of IPv6, and no bit behind the prefix of a range is set.
std::string_view ip_problem(std::string_view text);
std::string_view ip_range_problem(std::string_view text);
std::string ipv4_text(std::uint32_t address);

struct Ipv4Range {
  std::uint32_t first = 0;
  int prefix_length = 32;  // 0 to 32

  std::uint64_t size() const { return std::uint64_t{1} << (32 - prefix_length); }
  bool contains(std::uint32_t address) const { return address >= first && address - first < size(); }
  std::string text() const;
};

// "10.96.0.0/12"; nothing where bits behind the prefix are set.
std::optional<Ipv4Range> parse_ipv4_range(std::string_view text);

}  // namespace api
