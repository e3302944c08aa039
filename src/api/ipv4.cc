// How addresses are read and written.
#include "api/ipv4.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/format.h"

namespace api {

namespace {

// A number up to `max` without leading zeros at the front of `text`, which loses it.
std::optional<std::uint32_t> take_number(std::string_view& text, std::uint32_t max) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > max || (text.front() == '0' && end != text.data() + 1)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// An address and how much of it counts.
struct Prefix {
  std::array<unsigned char, 16> bytes{};
  int family = AF_INET;
  std::uint32_t length = 0;
};

std::optional<Prefix> parse_prefix(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string address(text.substr(0, slash));
  text.remove_prefix(slash + 1);
  Prefix prefix;
  prefix.family = address.find(':') == std::string::npos ? AF_INET : AF_INET6;
  if (text.empty() || !is_ip_address(address) || ::inet_pton(prefix.family, address.c_str(), prefix.bytes.data()) != 1)
    return std::nullopt;
  const auto length = take_number(text, prefix.family == AF_INET ? 32 : 128);
  if (!length || !text.empty()) return std::nullopt;
  prefix.length = *length;
  return prefix;
}

bool is_mapped(const Prefix& prefix) {
  constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return prefix.family == AF_INET6 && std::equal(kMapped.begin(), kMapped.end(), prefix.bytes.begin());
}

bool has_bits_behind(const Prefix& prefix) {
  for (std::uint32_t bit = prefix.length; bit < (prefix.family == AF_INET ? 32u : 128u); ++bit)
    if ((prefix.bytes[bit / 8] & (0x80 >> bit % 8)) != 0) return true;
  return false;
}

}  // namespace

bool is_ip_range(std::string_view text) { return parse_prefix(text).has_value(); }

bool is_within(std::string_view inner, std::string_view outer) {
  const auto a = parse_prefix(inner), b = parse_prefix(outer);
  if (!a || !b || a->family != b->family || a->length <= b->length) return false;
  for (std::uint32_t bit = 0; bit < b->length; ++bit)
    if ((a->bytes[bit / 8] ^ b->bytes[bit / 8]) & (0x80 >> bit % 8)) return false;
  return true;
}

std::string_view ip_problem(std::string_view text) {
  if (!is_ip_address(text)) return "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
  const auto whole = parse_prefix(base::format("{}/0", text));
  return whole && is_mapped(*whole) ? "must not be an IPv4-mapped IPv6 address" : "";
}

std::string_view ip_range_problem(std::string_view text) {
  const auto prefix = parse_prefix(text);
  if (!prefix) return "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  if (is_mapped(*prefix)) return "must not have an IPv4-mapped IPv6 address";
  return has_bits_behind(*prefix) ? "must not have bits set beyond the prefix length" : "";
}

std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
  std::uint32_t address = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
    const auto number = take_number(text, 255);
    if (!number) return std::nullopt;
    address = address << 8 | *number;
  }
  return text.empty() ? std::optional(address) : std::nullopt;
}

std::string ipv4_text(std::uint32_t address) {
  return base::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
}

std::string Ipv4Range::text() const { return base::format("{}/{}", ipv4_text(first), prefix_length); }

std::optional<Ipv4Range> parse_ipv4_range(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto first = parse_ipv4(text.substr(0, slash));
  text.remove_prefix(slash + 1);
  const auto length = take_number(text, 32);
  if (!first || !length || !text.empty()) return std::nullopt;
  const Ipv4Range range{*first, static_cast<int>(*length)};
  return *first % range.size() == 0 ? std::optional(range) : std::nullopt;
}

bool is_ip_address(std::string_view text) {
  if (parse_ipv4(text)) return true;
  in6_addr six;
  return ::inet_pton(AF_INET6, std::string(text).c_str(), &six) == 1;
}

}  // namespace api
