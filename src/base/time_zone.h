// Time zones of the system's database: how far the clocks on the wall are from UTC, and when that changes.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace base {

// Any thread; a value, cheap to copy. Daylight saving of later years follows the zone's present rule.
class TimeZone {
 public:
  TimeZone() = default;  // UTC

  // A zone by its IANA name, such as "Europe/Berlin". kInvalid: the name is not a path below the database, or the
  // database does not have it. "UTC" needs no database.
  static Result<TimeZone> load(const std::string& name);
  // The zone of this machine: $TZ, or /etc/localtime.
  static TimeZone local();

  // The difference to UTC at `time`, in whole seconds.
  Duration offset_at(Time time) const;
  // The first instant after `time` at which the offset may change; nothing: it stays.
  std::optional<Time> next_change(Time time) const;
  // RFC 3339 in this zone without a fraction: "2026-03-29T03:00:00+02:00", or "...Z" without an offset.
  std::string format_rfc3339(Time time) const;

 private:
  struct Zone;
  explicit TimeZone(const Zone* zone) : zone_(zone) {}
  static TimeZone intern(const std::string& name, bool local);

  const Zone* zone_ = nullptr;  // lives as long as the program; null: UTC
};

}  // namespace base
