// Points in time and spans, in nanoseconds, and their text forms. The clock itself is in rt/env.h.
// Arithmetic saturates: 292 years are as good as for ever.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/saturate.h"

namespace base {

// A span of time; negative spans are allowed.
struct Duration {
  std::int64_t ns = 0;

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration other) const { return {saturating_add(ns, other.ns)}; }
  constexpr Duration operator-(Duration other) const { return {saturating_subtract(ns, other.ns)}; }
  constexpr Duration operator*(std::int64_t factor) const { return {saturating_multiply(ns, factor)}; }
  constexpr double seconds() const { return static_cast<double>(ns) / 1e9; }
};

constexpr Duration nanoseconds(std::int64_t n) { return {n}; }
constexpr Duration microseconds(std::int64_t n) { return {saturating_multiply(n, 1'000)}; }
constexpr Duration milliseconds(std::int64_t n) { return {saturating_multiply(n, 1'000'000)}; }
constexpr Duration seconds(std::int64_t n) { return {saturating_multiply(n, 1'000'000'000)}; }
constexpr Duration minutes(std::int64_t n) { return {saturating_multiply(n, 60'000'000'000)}; }
constexpr Duration hours(std::int64_t n) { return {saturating_multiply(n, 3'600'000'000'000)}; }

// A point on the wall clock: nanoseconds since 1970-01-01T00:00:00Z. Zero means "not set".
struct Time {
  std::int64_t ns = 0;

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time operator+(Duration span) const { return {saturating_add(ns, span.ns)}; }
  constexpr Time operator-(Duration span) const { return {saturating_subtract(ns, span.ns)}; }
  constexpr Duration operator-(Time other) const { return {saturating_subtract(ns, other.ns)}; }
  constexpr bool is_set() const { return ns != 0; }
};

// "2026-01-02T03:04:05Z": UTC with one-second resolution, as metav1.Time.
std::string format_rfc3339(Time time);
// With six fractional digits, as metav1.MicroTime.
std::string format_rfc3339_micro(Time time);
// Any RFC 3339 text, with offset and fraction; nothing if malformed.
std::optional<Time> parse_rfc3339(std::string_view text);

// Go's duration text: "1h30m0s", "2m17.5s", "350ms"; nothing if malformed or out of range.
std::string format_go_duration(Duration span);
std::optional<Duration> parse_go_duration(std::string_view text);

// The age column of kubectl: "5s", "3m20s", "4h", "12d", as duration.HumanDuration.
std::string format_human_duration(Duration span);

}  // namespace base
