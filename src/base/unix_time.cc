// RFC 3339 over all its years.
#include "base/unix_time.h"

#include <chrono>
#include <string>

namespace base {
namespace {

using Days = std::chrono::sys_days;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kFirst = -62'167'219'200, kLast = 253'402'300'799;  // seconds of the years 0 to 9999

struct Civil {
  int year, month, day, hour, minute, second;
  std::int64_t fraction_ns;
};

Civil civil_for(UnixTime time) {
  std::int64_t day = time.seconds / 86'400;
  std::int64_t rest = time.seconds % 86'400;
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
          time.nanos};
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

char* put_digits(char* out, int value, int width) {
  for (char* at = out + width; at != out; value /= 10) *--at = static_cast<char>('0' + value % 10);
  return out + width;
}

// "-01-02T03:04:05".
char* put_below_years(char* out, const Civil& c) {
  *out++ = '-';
  out = put_digits(out, c.month, 2);
  *out++ = '-';
  out = put_digits(out, c.day, 2);
  *out++ = 'T';
  out = put_digits(out, c.hour, 2);
  *out++ = ':';
  out = put_digits(out, c.minute, 2);
  *out++ = ':';
  return put_digits(out, c.second, 2);
}

// Up to the seconds.
std::string civil_text(const Civil& c) {
  char text[32];
  if (c.year < 0 || c.year > 9999) return std::to_string(c.year).append(text, put_below_years(text, c));
  return {text, put_below_years(put_digits(text, c.year, 4), c)};
}

}  // namespace

bool UnixTime::in_rfc3339() const { return seconds >= kFirst && seconds <= kLast && nanos >= 0 && nanos < kSecond; }

// A list of pods has a dozen times each: printf would take as long as all that is read of them, and a text of its own
// as long as the digits.
std::string_view write_rfc3339(UnixTime time, std::span<char, kRfc3339Bytes> out) {
  const Civil c = civil_for(time);
  *put_below_years(put_digits(out.data(), c.year, 4), c) = 'Z';
  return {out.data(), out.size()};
}

std::string format_rfc3339(UnixTime time) {
  std::string out = civil_text(civil_for(time));
  out += 'Z';
  return out;
}

std::string format_rfc3339_micro(UnixTime time) {
  const Civil c = civil_for(time);
  char fraction[8] = {'.'};
  *put_digits(fraction + 1, static_cast<int>(c.fraction_ns / 1000), 6) = 'Z';
  return civil_text(c).append(fraction, sizeof fraction);
}

std::optional<UnixTime> parse_rfc3339_unix(std::string_view text) {
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
  return UnixTime{days * 86'400 + hour * 3600 + minute * 60 + second - offset, fraction};
}

}  // namespace base
