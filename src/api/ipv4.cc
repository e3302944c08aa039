// How addresses are read and written.
#include "api/ipv4.h"

#include <arpa/inet.h>

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

}  // namespace

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
