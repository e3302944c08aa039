// The formats, one function each.
#include "api/schema/text_formats.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "base/base64.h"
#include "base/letters.h"
#include "base/split.h"
#include "base/unix_time.h"

namespace api {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_number(std::string_view text, int most) {
  if (text.empty() || text.size() > 3 || !std::ranges::all_of(text, is_digit)) return false;
  if (text.size() > 1 && text[0] == '0') return false;
  int value = 0;
  for (const char c : text) value = value * 10 + (c - '0');
  return value <= most;
}

bool is_ipv4(std::string_view text) {
  const auto parts = base::split(text, '.');
  return parts.size() == 4 && std::ranges::all_of(parts, [](std::string_view part) { return is_number(part, 255); });
}

// The groups of one side of "::"; nothing where one is wrong. An IPv4 address at the end stands for two.
std::optional<int> groups_of(std::string_view text, bool at_end) {
  if (text.empty()) return 0;
  int groups = 0;
  const auto parts = base::split(text, ':');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (at_end && i + 1 == parts.size() && is_ipv4(parts[i])) return groups + 2;
    if (parts[i].empty() || parts[i].size() > 4 || !std::ranges::all_of(parts[i], is_hex)) return {};
    ++groups;
  }
  return groups;
}

bool is_ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return groups_of(text, true) == 8;
  const auto before = groups_of(text.substr(0, gap), false);
  const auto after = groups_of(text.substr(gap + 2), true);
  return before && after && *before + *after < 8;
}

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view address = text.substr(0, slash), bits = text.substr(slash + 1);
  return (is_ipv4(address) && is_number(bits, 32)) || (is_ipv6(address) && is_number(bits, 128));
}

bool is_date(std::string_view text) {
  return text.size() == 10 && base::parse_rfc3339_unix(std::string(text) + "T00:00:00Z").has_value();
}

bool is_uuid(std::string_view text) {
  const std::size_t size = text.size();
  if (size != 36 && size != 32) return false;
  for (std::size_t i = 0; i < size; ++i) {
    const bool dash = size == 36 && (i == 8 || i == 13 || i == 18 || i == 23);
    if (dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

bool is_mac(std::string_view text) {
  if (text.size() != 17) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (i % 3 == 2 ? text[i] != ':' && text[i] != '-' : !is_hex(text[i])) return false;
  return true;
}

bool is_email(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size()) return false;
  return text.find_first_of(" \t\r\n<>") == std::string_view::npos && text.find('@') == at;
}

bool is_hostname(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  for (const std::string_view part : base::split(text, '.')) {
    if (part.empty() || part.size() > 63 || part.front() == '-' || part.back() == '-') return false;
    if (!std::ranges::all_of(part, [](char c) { return is_letter(c) || is_digit(c) || c == '-'; })) return false;
  }
  return true;
}

// An absolute address or an absolute path.
bool is_uri(std::string_view text) {
  if (text.empty() ||
      std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }))
    return false;
  if (text[0] == '/') return true;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_letter(text[0])) return false;
  return std::ranges::all_of(text.substr(0, colon),
                             [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; });
}

// The units of spans: the words of one each, and of how many nanoseconds it is. A text that begins with the last word
// is the unit, too ("hours").
struct Unit {
  std::array<std::string_view, 3> words;
  std::int64_t ns;
};
constexpr std::array kUnits = {Unit{{"ns", "", "nano"}, 1},
                               Unit{{"us", "µs", "micro"}, 1'000},
                               Unit{{"ms", "", "milli"}, 1'000'000},
                               Unit{{"s", "", "sec"}, 1'000'000'000},
                               Unit{{"m", "", "min"}, 60'000'000'000},
                               Unit{{"h", "hr", "hour"}, 3'600'000'000'000},
                               Unit{{"d", "", "day"}, 86'400'000'000'000},
                               Unit{{"w", "wk", "week"}, 604'800'000'000'000}};

std::int64_t unit_of(std::string_view word) {
  const std::string name = base::lower(word);
  for (const Unit& unit : kUnits)
    if (name == unit.words[0] || (!unit.words[1].empty() && name == unit.words[1]) || name.starts_with(unit.words[2]))
      return unit.ns;
  return 0;
}

struct Format {
  std::string_view name;
  bool (*holds)(std::string_view);
};
constexpr std::array kFormats = {
    Format{"date-time", [](std::string_view text) { return base::parse_rfc3339_unix(text).has_value(); }},
    Format{"datetime", [](std::string_view text) { return base::parse_rfc3339_unix(text).has_value(); }},
    Format{"date", is_date},
    Format{"duration", [](std::string_view text) { return parse_duration_text(text).has_value(); }},
    Format{"byte", [](std::string_view text) { return base::base64_decode(text).ok(); }},
    Format{"ipv4", is_ipv4},
    Format{"ipv6", is_ipv6},
    Format{"cidr", is_cidr},
    Format{"uuid", is_uuid},
    Format{"mac", is_mac},
    Format{"email", is_email},
    Format{"hostname", is_hostname},
    Format{"uri", is_uri},
};

}  // namespace

std::optional<base::Duration> parse_duration_text(std::string_view text) {
  if (const auto span = base::parse_go_duration(text)) return span;
  // Numbers with units among anything else: "2 weeks and 3 days".
  std::int64_t sum = 0;
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), count);
    if (error != std::errc{}) return {};
    at = static_cast<std::size_t>(end - text.data());
    while (at < text.size() && std::string_view(" \t\r\n\f\v").find(text[at]) != std::string_view::npos) ++at;
    const std::size_t word = at;
    for (std::string_view rest = text.substr(at); !rest.empty(); rest = text.substr(at)) {
      if (rest.starts_with("µ"))
        at += std::string_view("µ").size();
      else if (is_letter(rest[0]))
        ++at;
      else
        break;
    }
    const std::int64_t unit = unit_of(text.substr(word, at - word));
    if (unit == 0) continue;
    if (__builtin_mul_overflow(count, unit, &count) || __builtin_add_overflow(sum, count, &sum)) return {};
    any = true;
  }
  return any ? std::optional(base::Duration{sum}) : std::nullopt;
}

bool has_text_format(std::string_view format, std::string_view text) {
  const auto found = std::ranges::find(kFormats, format, &Format::name);
  return found == kFormats.end() || found->holds(text);
}

}  // namespace api
