// When is a recurring run due? Times of a cron expression with or without seconds, or at equal distances.
#pragma once

#include <cstdint>
#include <optional>

#include "api/cron.h"
#include "api/json/json.h"
#include "base/result.h"
#include "base/time.h"

namespace pipelines {

class RunSchedule {
 public:
  // `trigger`: of the object, with cronSchedule or periodicSchedule. An error names the field. Times are in UTC.
  static base::Result<RunSchedule> read(const api::Json& trigger);

  // The first time that is due after `after`: the time of the last run, or of the schedule's begin. Unset: none.
  std::optional<base::Time> next(base::Time after) const;
  // The last one after `after` and not after `until`.
  std::optional<base::Time> latest(base::Time after, base::Time until) const;

 private:
  std::optional<base::Time> next_of_cron(base::Time after) const;
  std::optional<base::Time> latest_of_cron(base::Time after, base::Time until) const;
  bool is_over(base::Time time) const { return end_ && *end_ < time; }

  std::optional<api::CronSchedule> cron_;
  std::uint64_t seconds_ = 1;  // of a minute, as bits
  base::Duration interval_{};
  std::optional<base::Time> start_, end_;
};

}  // namespace pipelines
