// RFC 3339 and Go duration texts.
#include "base/time.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/unix_time.h"

namespace base {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

UnixTime unix_time(Time time) {
  UnixTime out{time.ns / kSecond, time.ns % kSecond};
  if (out.nanos < 0) {
    out.nanos += kSecond;
    --out.seconds;
  }
  return out;
}

}  // namespace

std::string format_rfc3339(Time time) { return format_rfc3339(unix_time(time)); }

std::string format_rfc3339_micro(Time time) { return format_rfc3339_micro(unix_time(time)); }

std::optional<Time> parse_rfc3339(std::string_view text) {
  const auto time = parse_rfc3339_unix(text);
  // The range of int64 nanoseconds: most of the years 1678 to 2261.
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / kSecond - 1;
  if (!time || time->seconds < -kMax || time->seconds > kMax) return {};
  return Time{time->seconds * kSecond + time->nanos};
}

std::string format_go_duration(Duration span) {
  if (span.ns == 0) return "0s";
  const bool negative = span.ns < 0;
  std::uint64_t ns = negative ? 0 - static_cast<std::uint64_t>(span.ns) : static_cast<std::uint64_t>(span.ns);
  const auto with_fraction = [](std::uint64_t value, std::uint64_t unit, int width) {
    std::string text = std::to_string(value / unit);
    if (value % unit != 0) {
      std::string frac = std::to_string(value % unit);
      frac.insert(0, static_cast<std::size_t>(width) - frac.size(), '0');
      while (frac.back() == '0') frac.pop_back();
      text += "." + frac;
    }
    return text;
  };
  std::string text;
  if (ns < 1'000) {
    text = std::to_string(ns) + "ns";
  } else if (ns < 1'000'000) {
    text = with_fraction(ns, 1'000, 3) + "\xC2\xB5s";
  } else if (ns < 1'000'000'000) {
    text = with_fraction(ns, 1'000'000, 6) + "ms";
  } else {
    const std::uint64_t hours = ns / 3'600'000'000'000;
    const std::uint64_t minutes = ns / 60'000'000'000 % 60;
    if (hours > 0) text += std::to_string(hours) + "h";
    if (hours > 0 || minutes > 0) text += std::to_string(minutes) + "m";
    text += with_fraction(ns % 60'000'000'000, 1'000'000'000, 9) + "s";
  }
  return negative ? "-" + text : text;
}

std::optional<Duration> parse_go_duration(std::string_view text) {
  if (text.empty()) return {};
  bool negative = false;
  if (text[0] == '-' || text[0] == '+') {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text == "0") return Duration{0};
  if (text.empty()) return {};
  long double total = 0;
  while (!text.empty()) {
    std::size_t at = 0;
    long double value = 0;
    std::size_t digits_seen = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits_seen)
      value = value * 10 + (text[at] - '0');
    if (at < text.size() && text[at] == '.') {
      ++at;
      long double scale = 0.1L;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits_seen, scale /= 10)
        value += (text[at] - '0') * scale;
    }
    if (digits_seen == 0) return {};
    text.remove_prefix(at);
    struct Unit {
      std::string_view name;
      long double ns;
    };
    static constexpr std::array kUnits{Unit{"ns", 1},   Unit{"us", 1e3}, Unit{"\xC2\xB5s", 1e3}, Unit{"\xCE\xBCs", 1e3},
                                       Unit{"ms", 1e6}, Unit{"s", 1e9},  Unit{"m", 60e9},        Unit{"h", 3600e9}};
    bool found = false;
    for (const Unit& unit : kUnits) {
      if (!text.starts_with(unit.name)) continue;
      total += value * unit.ns;
      text.remove_prefix(unit.name.size());
      found = true;
      break;
    }
    if (!found || total > 9.2e18L) return {};
  }
  const auto ns = static_cast<std::int64_t>(std::llround(total));
  return Duration{negative ? -ns : ns};
}

std::string format_human_duration(Duration span) {
  const std::int64_t s = span.ns / 1'000'000'000;
  if (s < -1) return "<invalid>";
  if (s < 0) return "0s";
  const auto text = [](std::int64_t value, const char* unit) { return std::to_string(value) + unit; };
  const auto pair = [&](std::int64_t a, const char* ua, std::int64_t b, const char* ub) {
    return b == 0 ? text(a, ua) : text(a, ua) + text(b, ub);
  };
  if (s < 120) return text(s, "s");
  const std::int64_t m = s / 60;
  if (m < 10) return pair(m, "m", s % 60, "s");
  if (m < 180) return text(m, "m");
  const std::int64_t h = s / 3600;
  if (h < 8) return pair(h, "h", m % 60, "m");
  if (h < 48) return text(h, "h");
  const std::int64_t d = h / 24;
  if (h < 192) return pair(d, "d", h % 24, "h");
  if (h < 24 * 365 * 2) return text(d, "d");
  const std::int64_t y = d / 365;
  if (h < 24 * 365 * 8) return pair(y, "y", d % 365, "d");
  return text(y, "y");
}

}  // namespace base
