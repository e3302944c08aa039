// The methods of points in time and spans.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "api/cel/syntax.h"
#include "base/format.h"
#include "base/time.h"
#include "base/time_zone.h"

namespace api::cel {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Value span_method(std::string_view name, std::int64_t ns) {
  if (name == "getHours") return ns / (3600 * kSecond);
  if (name == "getMinutes") return ns / (60 * kSecond);
  if (name == "getSeconds") return ns / kSecond;
  if (name == "getMilliseconds") return ns / 1'000'000;
  return no_overload(name);
}

// The system's database knows the names of places; to ask it for one that it does not have is a look at the disk.
std::optional<std::int64_t> offset_of_place(const std::string& name, const TimeValue& at, std::uint64_t& cost) {
  constexpr std::size_t kNameMax = 64;
  constexpr std::uint64_t kPlaceCost = 100;
  cost += kPlaceCost;
  if (name.size() > kNameMax || cost > kWorkMax) return std::nullopt;
  const auto zone = base::TimeZone::load(name);
  if (!zone.ok()) return std::nullopt;
  return zone->offset_at(base::Time{} + base::seconds(at.seconds)).ns / kSecond;
}

// The seconds that a zone is ahead of UTC at a time: "UTC", "+02:00", "-03:30", "Europe/Berlin".
std::optional<std::int64_t> offset_of(const std::string& name, const TimeValue& at, std::uint64_t& cost) {
  if (name.empty() || name == "UTC") return 0;
  std::string_view zone = name;
  const bool west = zone[0] == '-';
  if (west || zone[0] == '+') zone.remove_prefix(1);
  std::int64_t hours = 0, minutes = 0;
  const std::size_t colon = zone.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > 2 || zone.size() != colon + 3)
    return offset_of_place(name, at, cost);
  const auto read = [](std::string_view digits, std::int64_t& out) {
    if (digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
    return std::from_chars(digits.data(), digits.data() + digits.size(), out).ec == std::errc{};
  };
  if (!read(zone.substr(0, colon), hours) || !read(zone.substr(colon + 1), minutes)) return std::nullopt;
  return (west ? -1 : 1) * (hours * 3600 + minutes * 60);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

bool is_time_method(std::string_view name) {
  static constexpr std::string_view kNames[] = {"getHours",     "getMinutes",  "getSeconds", "getMilliseconds",
                                                "getFullYear",  "getMonth",    "getDate",    "getDayOfMonth",
                                                "getDayOfWeek", "getDayOfYear"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Value call_time_method(std::string_view name, const Value& object, const std::vector<Value>& a, std::uint64_t& cost) {
  if (const auto* span = object.get<DurationValue>())
    return a.empty() ? span_method(name, span->ns) : no_overload(name);
  const std::string* zone = a.size() == 1 ? a[0].get<std::string>() : nullptr;
  if (a.size() > 1 || (!a.empty() && zone == nullptr)) return no_overload(name);
  const TimeValue time = *object.get<TimeValue>();
  const auto offset = zone == nullptr ? std::optional<std::int64_t>(0) : offset_of(*zone, time, cost);
  if (!offset) return fail("unknown time zone " + *zone);
  const std::int64_t seconds = time.seconds + *offset;
  const std::int64_t days = floor_divide(seconds, 86'400), in_day = seconds - days * 86'400;
  if (name == "getHours") return in_day / 3600;
  if (name == "getMinutes") return in_day / 60 % 60;
  if (name == "getSeconds") return in_day % 60;
  if (name == "getMilliseconds") return time.nanos / 1'000'000;
  if (name == "getDayOfWeek") return ((days + 4) % 7 + 7) % 7;  // the first day of 1970 was a Thursday
  // Years of the Gregorian calendar that begin in March, in eras of 400 years.
  const std::int64_t shifted = days + 719'468, era = floor_divide(shifted, 146'097), in_era = shifted - era * 146'097;
  const std::int64_t year = (in_era - in_era / 1460 + in_era / 36'524 - in_era / 146'096) / 365;
  const std::int64_t in_year = in_era - (365 * year + year / 4 - year / 100);
  const std::int64_t month = (5 * in_year + 2) / 153, day = in_year - (153 * month + 2) / 5;
  const std::int64_t full = year + era * 400 + (month >= 10 ? 1 : 0), of_year = (month + 2) % 12;
  if (name == "getFullYear") return full;
  if (name == "getMonth") return of_year;
  if (name == "getDate") return day + 1;
  if (name == "getDayOfMonth") return day;
  if (name != "getDayOfYear") return no_overload(name);
  const bool leap = (full % 4 == 0 && full % 100 != 0) || full % 400 == 0;
  return month >= 10 ? in_year - 306 : in_year + 59 + (leap ? 1 : 0);
}

}  // namespace api::cel
