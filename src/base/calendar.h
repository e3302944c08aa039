// The Gregorian calendar without a zone: which date a day has.
#pragma once

#include <cstdint>

namespace base {

struct Date {
  int month;    // 1 to 12
  int day;      // 1 to 31
  int weekday;  // 0 is Sunday
};

// Days are counted since 1970-01-01, within the years -32767 to 32767.
Date date_of(std::int64_t day);
std::int64_t first_of_next_month(std::int64_t day);

}  // namespace base
