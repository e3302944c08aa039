// Dates by the calendar of the standard library.
#include "base/calendar.h"

#include <chrono>

namespace base {

namespace chrono = std::chrono;

Date date_of(std::int64_t day) {
  const chrono::sys_days date{chrono::days{day}};
  const chrono::year_month_day ymd{date};
  return {.month = static_cast<int>(static_cast<unsigned>(ymd.month())),
          .day = static_cast<int>(static_cast<unsigned>(ymd.day())),
          .weekday = static_cast<int>(chrono::weekday{date}.c_encoding())};
}

std::int64_t first_of_next_month(std::int64_t day) {
  const chrono::year_month_day ymd{chrono::sys_days{chrono::days{day}}};
  const chrono::sys_days next = (ymd.year() / ymd.month() / 1) + chrono::months{1};
  return next.time_since_epoch().count();
}

}  // namespace base
