// Points in time over all the years that RFC 3339 has, 0 to 9999, of which base::Time holds five hundred.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace base {

struct UnixTime {
  std::int64_t seconds = 0;  // since 1970-01-01T00:00:00Z
  std::int64_t nanos = 0;    // after that second: 0 to 999,999,999

  bool in_rfc3339() const;
};

inline constexpr std::size_t kRfc3339Bytes = 20;
// "2026-01-02T03:04:05Z" of a time in_rfc3339(), without its fraction, into `out`.
std::string_view write_rfc3339(UnixTime time, std::span<char, kRfc3339Bytes> out);
// As those of base/time.h.
std::string format_rfc3339(UnixTime time);
std::string format_rfc3339_micro(UnixTime time);
std::optional<UnixTime> parse_rfc3339_unix(std::string_view text);

}  // namespace base
