// Reading schedules, and walking the calendar of a zone from one change of its clocks to the next.
#include "api/cron.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

#include "base/calendar.h"
#include "base/format.h"
#include "base/split.h"

namespace api {

using base::Duration;
using base::Result;
using base::Time;

namespace {

constexpr std::int64_t kDay = 86'400;
constexpr int kBeyond = 64;  // a step that leaves every field
constexpr Duration kForEver = base::hours(std::int64_t{24} * 366 * 50);
constexpr std::string_view kBlank = " \t\n\v\f\r";

base::Error invalid(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

// One of the five fields: its range, and the names of its values (the first is that of `least`).
struct Field {
  std::string_view what;
  int least;
  int most;
  std::string_view names;
};

constexpr std::array<Field, 5> kFields = {Field{"minute", 0, 59, ""}, Field{"hour", 0, 23, ""},
                                          Field{"day of month", 1, 31, ""},
                                          Field{"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
                                          Field{"day of week", 0, 6, "sun mon tue wed thu fri sat"}};

bool read_number(std::string_view text, int& number) {
  if (text.starts_with("+")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, {}, [](unsigned char c) { return std::tolower(c); }, [](unsigned char c) { return std::tolower(c); });
}

bool read_value(const Field& field, std::string_view text, int& value) {
  int number = field.least;
  for (const std::string_view name : base::split(field.names, ' ')) {
    if (!text.empty() && same_word(text, name)) return value = number, true;
    ++number;
  }
  return read_number(text, value);
}

struct Values {
  std::uint64_t bits = 0;
  bool any = false;  // "*" without a step
};

// "*", "5", "1-5", "mon-fri", each perhaps with "/2" behind it.
bool read_range(const Field& field, std::string_view text, Values& values) {
  const std::vector<std::string_view> stepped = base::split(text, '/');
  const std::vector<std::string_view> ends = base::split(stepped[0], '-');
  int step = 1;
  if (stepped.size() > 2 || ends.size() > 2) return false;
  if (stepped.size() == 2 && (!read_number(stepped[1], step) || step == 0)) return false;
  step = std::min(step, kBeyond);
  int first = field.least;
  int last = field.most;
  const bool star = ends[0] == "*" || ends[0] == "?";
  if (!star) {
    if (!read_value(field, ends[0], first)) return false;
    if (ends.size() == 2 && !read_value(field, ends[1], last)) return false;
    if (ends.size() == 1 && stepped.size() == 1) last = first;  // "5/15" goes on to the end
    if (first < field.least || last > field.most || first > last) return false;
  }
  values.any = values.any || (star && step == 1);
  for (std::int64_t value = first; value <= last; value += step) values.bits |= std::uint64_t{1} << value;
  return true;
}

Result<Values> read_field(const Field& field, std::string_view text) {
  Values values;
  for (const std::string_view range : base::split(text, ','))
    if (!range.empty() && !read_range(field, range, values))
      return invalid(base::format("{}: \"{}\" is not a value, range or step between {} and {}", field.what, range,
                                  field.least, field.most));
  return values;
}

// The fields that a descriptor stands for; empty: there is no such descriptor.
std::string_view fields_of(std::string_view descriptor) {
  if (descriptor == "@yearly" || descriptor == "@annually") return "0 0 1 1 *";
  if (descriptor == "@monthly") return "0 0 1 * *";
  if (descriptor == "@weekly") return "0 0 * * 0";
  if (descriptor == "@daily" || descriptor == "@midnight") return "0 0 * * *";
  if (descriptor == "@hourly") return "0 * * * *";
  return {};
}

std::int64_t floor_divide(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }
std::int64_t whole_seconds(Time time) { return floor_divide(time.ns, 1'000'000'000); }
Time at_second(std::int64_t seconds) { return Time{} + base::seconds(seconds); }
std::int64_t seconds_of(Duration span) { return span.ns / 1'000'000'000; }

// The lowest bit that is set, of those from `from` on; 64: there is none.
int next_bit(std::uint64_t bits, int from) { return from > 63 ? 64 : std::countr_zero(bits >> from << from); }

}  // namespace

bool names_time_zone(std::string_view schedule) {
  return schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=");
}

Result<CronSchedule> CronSchedule::parse(std::string_view text, base::TimeZone zone) {
  CronSchedule schedule;
  schedule.zone_ = zone;
  if (names_time_zone(text)) {
    const std::size_t name = text.find('=') + 1;
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) return invalid("there is nothing behind the time zone");
    TRY(schedule.zone_, base::TimeZone::load(std::string(text.substr(name, blank - name))));
    text.remove_prefix(std::min(text.find_first_not_of(kBlank, blank), text.size()));
  }
  if (text.starts_with("@every ")) {
    const auto every = base::parse_go_duration(text.substr(7));
    if (!every) return invalid(base::format("\"{}\" is not a duration", text.substr(7)));
    schedule.every_ = base::seconds(std::max<std::int64_t>(seconds_of(*every), 1));
    return schedule;
  }
  if (text.starts_with("@")) {
    const std::string_view fields = fields_of(text);
    if (fields.empty()) return invalid(base::format("there is no descriptor {}", text));
    text = fields;
  }
  std::array<Values, kFields.size()> values;
  std::size_t count = 0;
  for (std::size_t start = 0; (start = text.find_first_not_of(kBlank, start)) != std::string_view::npos; ++count) {
    const std::size_t end = std::min(text.find_first_of(kBlank, start), text.size());
    if (count == kFields.size()) return invalid("there are more than five fields");
    TRY(values[count], read_field(kFields[count], text.substr(start, end - start)));
    start = end;
  }
  if (count < kFields.size()) return invalid(base::format("there are {} fields, not five", count));
  schedule.minutes_ = values[0].bits;
  schedule.hours_ = values[1].bits;
  schedule.days_ = values[2].bits;
  schedule.months_ = values[3].bits;
  schedule.weekdays_ = values[4].bits;
  schedule.any_day_ = values[2].any;
  schedule.any_weekday_ = values[4].any;
  return schedule;
}

bool CronSchedule::has_day(std::int64_t day) const {
  const base::Date date = base::date_of(day);
  const bool of_month = (days_ >> date.day & 1) != 0;
  const bool of_week = (weekdays_ >> date.weekday & 1) != 0;
  return any_day_ || any_weekday_ ? of_month && of_week : of_month || of_week;
}

// On a calendar without a zone, in seconds since 1970: the first due minute from `from` on that is before `until`.
std::optional<std::int64_t> CronSchedule::next_local(std::int64_t from, std::int64_t until) const {
  if (minutes_ == 0 || hours_ == 0) return std::nullopt;
  const std::int64_t minute = floor_divide(from + 59, 60);
  std::int64_t day = floor_divide(minute, 1440);
  int least = static_cast<int>(minute - day * 1440);  // of the day's minutes
  while (day * kDay < until) {
    if ((months_ >> base::date_of(day).month & 1) == 0) {
      day = base::first_of_next_month(day);
      least = 0;
      continue;
    }
    if (has_day(day)) {
      int hour = next_bit(hours_, least / 60);
      int of_hour = hour == least / 60 ? next_bit(minutes_, least % 60) : next_bit(minutes_, 0);
      if (of_hour == 64) {
        hour = next_bit(hours_, hour + 1);
        of_hour = next_bit(minutes_, 0);
      }
      const std::int64_t found = day * kDay + hour * 3600 + of_hour * 60;
      if (hour < 64) return found < until ? std::optional(found) : std::nullopt;
    }
    ++day;
    least = 0;
  }
  return std::nullopt;
}

std::optional<Time> CronSchedule::next(Time after) const { return next(after, after + kForEver); }

std::optional<Time> CronSchedule::next(Time after, Time until) const {
  until = std::min(until, after + kForEver);
  if (every_.ns > 0) {
    const Time due = at_second(whole_seconds(after)) + every_;
    return due <= until ? std::optional(due) : std::nullopt;
  }
  // Between two changes of the clocks the zone is a calendar that stands a fixed time beside UTC.
  const std::int64_t last = whole_seconds(until);
  for (std::int64_t from = whole_seconds(after) + 1; from <= last;) {
    const std::int64_t offset = seconds_of(zone_.offset_at(at_second(from)));
    const auto change = zone_.next_change(at_second(from));
    const std::int64_t end = change ? std::min(whole_seconds(*change), last + 1) : last + 1;
    if (const auto found = next_local(from + offset, end + offset)) return at_second(*found - offset);
    if (end <= from) return std::nullopt;
    from = end;
  }
  return std::nullopt;
}

std::optional<Time> CronSchedule::latest(Time after, Time until) const {
  // A long span without a due time is not looked at from its beginning.
  std::optional<Time> found = next(std::max(after, until - kForEver), until);
  if (!found) return std::nullopt;
  if (every_.ns > 0) return *found + every_ * ((until - *found).ns / every_.ns);
  if (!next(*found, until)) return found;
  // Something is due after every second before the last due time, and nothing after it.
  std::int64_t before = whole_seconds(*found);
  std::int64_t beyond = whole_seconds(until);
  while (before < beyond) {
    const std::int64_t middle = before + (beyond - before) / 2;
    if (const auto later = next(at_second(middle), until)) {
      found = later;
      before = whole_seconds(*later);
    } else {
      beyond = middle;
    }
  }
  return found;
}

int CronSchedule::count(Time after, Time until, int most) const {
  int due = 0;
  for (auto time = next(after, until); time && due < most; time = next(*time, until)) ++due;
  return due;
}

}  // namespace api
