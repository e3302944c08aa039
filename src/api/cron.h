// Schedules of CronJobs: five cron fields, a descriptor such as "@hourly", or "@every 90s". Admission reads them to
// find mistakes, the controller to know when a run is due.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "base/time_zone.h"

namespace api {

// Whether the text itself names a zone ("TZ=Asia/Tokyo 0 9 * * *"), which counts for more than the field beside it.
bool names_time_zone(std::string_view schedule);

// A schedule of fields is due at every full minute whose date and time, as clocks in its zone show them, are in all
// fields: a time that clocks skip is left out, one that they show twice is due twice. If both days of the month and of
// the week are given, either is enough. "@every" counts from the time before. Any thread; a value.
class CronSchedule {
 public:
  // kInvalid says what is wrong with the text, without repeating it.
  static base::Result<CronSchedule> parse(std::string_view text, base::TimeZone zone);

  // The first due time after `after`, if it is not after `until`. Without `until`: within fifty years, which is for
  // ever. Bounded work.
  std::optional<base::Time> next(base::Time after) const;
  std::optional<base::Time> next(base::Time after, base::Time until) const;
  // The last due time after `after` and not after `until`; the work does not grow with the number of those between.
  std::optional<base::Time> latest(base::Time after, base::Time until) const;
  // How many times are due after `after` and not after `until`; counts to `most` and stops.
  int count(base::Time after, base::Time until, int most) const;

  const base::TimeZone& zone() const { return zone_; }
  base::Duration every() const { return every_; }  // of "@every"; zero: it has fields

 private:
  std::optional<std::int64_t> next_local(std::int64_t from, std::int64_t until) const;
  bool has_day(std::int64_t day) const;

  base::TimeZone zone_;
  base::Duration every_;  // zero: by fields
  // Bit n: n is in the field.
  std::uint64_t minutes_ = 0, hours_ = 0, days_ = 0, months_ = 0, weekdays_ = 0;
  bool any_day_ = false, any_weekday_ = false;  // "*": the other one decides
};

}  // namespace api
