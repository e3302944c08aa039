// Schedules of CronJobs: "zone\nschedule". Due times come later, in order, and each way of asking agrees.
#include "api/cron.h"

#include "targets.h"

namespace fuzz {

void cron(std::string_view input) {
  const std::size_t end = input.find('\n');
  const auto zone = base::TimeZone::load(std::string(input.substr(0, end)));
  if (end == std::string_view::npos) return;
  const std::string_view text = input.substr(end + 1);
  const auto schedule = api::CronSchedule::parse(text, zone.ok() ? *zone : base::TimeZone());
  if (!schedule.ok()) return promise(!schedule.error().message.empty(), "an error says something");
  base::Time from{1'774'000'000'123'456'789 + static_cast<std::int64_t>(input.size()) * 86'400'000'000'000};
  const base::Time first = from;
  const base::Time until = from + base::hours(24 * 400);
  int due = 0;
  for (; due < 20; ++due) {
    const auto next = schedule->next(from, until);
    if (!next) break;
    promise(*next > from && *next <= until, "the next time is later, and not too late", text);
    promise(schedule->next(*next - base::nanoseconds(1), until) == next || schedule->every().ns > 0,
            "a due time is due", text);
    from = *next;
  }
  promise(schedule->count(first, until, 20) == due, "all are counted", text);
  const auto latest = schedule->latest(first, until);
  promise(latest.has_value() == (due > 0), "there is a latest if there is any", text);
  if (!latest) return;
  promise(*latest >= from && *latest <= until, "the latest is none before", text);
  promise(!schedule->next(*latest, until), "nothing is due after the latest", text);
  promise(!schedule->zone().format_rfc3339(*latest).empty(), "it can be written", text);
}

}  // namespace fuzz
