// RFC 3339 and Go duration texts.
#include "base/time.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace base {
namespace {

using Days = std::chrono::sys_days;

struct Civil {
  int year, month, day, hour, minute, second;
  std::int64_t fraction_ns;
};

Civil civil_for(Time time) {
  std::int64_t secs = time.ns / 1'000'000'000;
  std::int64_t frac = time.ns % 1'000'000'000;
  if (frac < 0) {
    frac += 1'000'000'000;
    --secs;
  }
  std::int64_t day = secs / 86'400;
  std::int64_t rest = secs % 86'400;
  if (rest < 0) {
    rest += 86'400;
    --day;
  }
  const std::chrono::year_month_day ymd{Days{std::chrono::days{day}}};
  return {static_cast<int>(ymd.year()),
          static_cast<int>(static_cast<unsigned>(ymd.month())),
          static_cast<int>(static_cast<unsigned>(ymd.day())),
          static_cast<int>(rest / 3600),
          static_cast<int>(rest / 60 % 60),
          static_cast<int>(rest % 60),
          frac};
}

// Reads exactly `width` digits at `at`, which moves on; -1 if there are none.
int digits(std::string_view text, std::size_t& at, int width) {
  int value = 0;
  for (int i = 0; i < width; ++i, ++at) {
    if (at >= text.size() || text[at] < '0' || text[at] > '9') return -1;
    value = value * 10 + (text[at] - '0');
  }
  return value;
}

bool skip(std::string_view text, std::size_t& at, char a, char b) {
  if (at >= text.size() || (text[at] != a && text[at] != b)) return false;
  ++at;
  return true;
}

}  // namespace

std::string format_rfc3339(Time time) {
  const Civil c = civil_for(time);
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%04d-%02d-%02dT%02d:%02d:%02dZ", c.year, c.month, c.day, c.hour,
                c.minute, c.second);
  return buffer.data();
}

std::string format_rfc3339_micro(Time time) {
  const Civil c = civil_for(time);
  std::array<char, 48> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", c.year, c.month, c.day, c.hour,
                c.minute, c.second, static_cast<int>(c.fraction_ns / 1000));
  return buffer.data();
}

std::optional<Time> parse_rfc3339(std::string_view text) {
  std::size_t at = 0;
  const int year = digits(text, at, 4);
  if (!skip(text, at, '-', '-')) return {};
  const int month = digits(text, at, 2);
  if (!skip(text, at, '-', '-')) return {};
  const int day = digits(text, at, 2);
  if (!skip(text, at, 'T', 't')) return {};
  const int hour = digits(text, at, 2);
  if (!skip(text, at, ':', ':')) return {};
  const int minute = digits(text, at, 2);
  if (!skip(text, at, ':', ':')) return {};
  const int second = digits(text, at, 2);
  if (year < 0 || month < 1 || day < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 60)
    return {};
  const std::chrono::year_month_day ymd{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                        std::chrono::day{static_cast<unsigned>(day)}};
  if (!ymd.ok()) return {};
  std::int64_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    std::int64_t scale = 100'000'000;
    const std::size_t begin = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10)
      fraction += (text[at] - '0') * scale;
    if (at == begin) return {};
  }
  std::int64_t offset = 0;
  if (skip(text, at, 'Z', 'z')) {
    offset = 0;
  } else if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    const int sign = text[at++] == '+' ? 1 : -1;
    const int h = digits(text, at, 2);
    if (!skip(text, at, ':', ':')) return {};
    const int m = digits(text, at, 2);
    if (h < 0 || h > 23 || m < 0 || m > 59) return {};
    offset = sign * (h * 3600 + m * 60);
  } else {
    return {};
  }
  if (at != text.size()) return {};
  const std::int64_t days = Days{ymd}.time_since_epoch().count();
  // Years 1678 to 2261 fit into int64 nanoseconds.
  if (year < 1678 || year > 2261) return {};
  const std::int64_t secs = days * 86'400 + hour * 3600 + minute * 60 + second - offset;
  return Time{secs * 1'000'000'000 + fraction};
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
