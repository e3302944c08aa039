// When schedules are due: fields, descriptors, daylight saving, and those that never are.
#include "api/cron.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace api {
namespace {

using base::Time;

Time at(std::string_view text) { return *base::parse_rfc3339(text); }

CronSchedule schedule(std::string_view text, const char* zone = "UTC") {
  auto parsed = CronSchedule::parse(text, *base::TimeZone::load(zone));
  EXPECT_TRUE(parsed.ok()) << text;
  return *parsed;
}

// The next `count` times after `from`, in the schedule's zone.
std::string due(const CronSchedule& schedule, std::string_view from, int count) {
  std::string text;
  auto time = schedule.next(at(from));
  for (; count > 0; --count) {
    text += (text.empty() ? "" : " ") + (time ? schedule.zone().format_rfc3339(*time) : "never");
    if (!time) break;
    time = schedule.next(*time);
  }
  return text;
}

TEST(Cron, due_times) {
  struct Row {
    const char* text;
    const char* from;
    const char* due;
  };
  const Row rows[] = {
      {"* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z 2026-01-01T00:02:00Z"},
      {"* * * * *", "2026-01-01T00:00:59.9Z", "2026-01-01T00:01:00Z 2026-01-01T00:02:00Z"},
      {"*/20 * * * *", "2026-01-01T00:35:00Z", "2026-01-01T00:40:00Z 2026-01-01T01:00:00Z"},
      {"5/25 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z 2026-01-01T00:30:00Z"},
      {"7-59/2147483647 1 1 1 *", "2026-01-01T00:00:00Z", "2026-01-01T01:07:00Z 2027-01-01T01:07:00Z"},
      {"0 9-17/4 * * mon-FRI", "2026-01-02T13:00:00Z", "2026-01-02T17:00:00Z 2026-01-05T09:00:00Z"},
      {"30 23 31 * *", "2026-01-31T23:30:00Z", "2026-03-31T23:30:00Z 2026-05-31T23:30:00Z"},
      {"0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z"},
      {"0 0 29 2 ?", "2097-01-01T00:00:00Z", "2104-02-29T00:00:00Z 2108-02-29T00:00:00Z"},
      // Day of the month or day of the week, unless one of them is a star.
      {"0 0 13 * 5", "2026-02-10T00:00:00Z", "2026-02-13T00:00:00Z 2026-02-20T00:00:00Z"},
      {"0 0 * * 5", "2026-02-10T00:00:00Z", "2026-02-13T00:00:00Z 2026-02-20T00:00:00Z"},
      {"0 0 13 * *", "2026-02-10T00:00:00Z", "2026-02-13T00:00:00Z 2026-03-13T00:00:00Z"},
      {"0 0 */30 * 1", "2026-02-10T00:00:00Z", "2026-02-16T00:00:00Z 2026-02-23T00:00:00Z"},
      {"0 0 1 jan,JUL *", "2026-02-10T00:00:00Z", "2026-07-01T00:00:00Z 2027-01-01T00:00:00Z"},
      {"@hourly", "2026-01-01T00:00:01Z", "2026-01-01T01:00:00Z 2026-01-01T02:00:00Z"},
      {"@daily", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z 2026-01-03T00:00:00Z"},
      {"@midnight", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z 2026-01-03T00:00:00Z"},
      {"@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z 2026-01-11T00:00:00Z"},
      {"@monthly", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z 2026-03-01T00:00:00Z"},
      {"@yearly", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z 2028-01-01T00:00:00Z"},
      {"@annually", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z 2028-01-01T00:00:00Z"},
      {"@every 90s", "2026-01-01T00:00:00.4Z", "2026-01-01T00:01:30Z 2026-01-01T00:03:00Z"},
      {"@every 1h30m10.9s", "2026-01-01T00:00:00Z", "2026-01-01T01:30:10Z 2026-01-01T03:00:20Z"},
      {"@every 1ms", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z 2026-01-01T00:00:02Z"},
      {"0 0 30 2 *", "2026-01-01T00:00:00Z", "never"},
      {"0 0 31 4,6,9,11 *", "2026-01-01T00:00:00Z", "never"},
      {", * * * *", "2026-01-01T00:00:00Z", "never"},
      {"TZ=Asia/Tokyo 0 9 * * *", "2026-01-01T00:00:00Z", "2026-01-02T09:00:00+09:00 2026-01-03T09:00:00+09:00"},
      {"CRON_TZ=UTC  @daily", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z 2026-01-03T00:00:00Z"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(due(schedule(row.text), row.from, 2), row.due) << row.text << " from " << row.from;
}

TEST(Cron, clocks_that_change) {
  struct Row {
    const char* text;
    const char* zone;
    const char* from;
    const char* due;
  };
  const Row rows[] = {
      // 02:00 to 03:00 does not exist on that day.
      {"30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z",
       "2026-03-09T02:30:00-04:00 2026-03-10T02:30:00-04:00 2026-03-11T02:30:00-04:00"},
      {"0 * * * *", "America/New_York", "2026-03-08T06:00:00Z",
       "2026-03-08T03:00:00-04:00 2026-03-08T04:00:00-04:00 2026-03-08T05:00:00-04:00"},
      // 01:00 to 02:00 comes twice.
      {"30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z",
       "2026-11-01T01:30:00-04:00 2026-11-01T01:30:00-05:00 2026-11-02T01:30:00-05:00"},
      {"0 * * * *", "America/New_York", "2026-11-01T04:30:00Z",
       "2026-11-01T01:00:00-04:00 2026-11-01T01:00:00-05:00 2026-11-01T02:00:00-05:00"},
      // Midnight itself is skipped.
      {"0 0 * * *", "Asia/Beirut", "2026-03-27T12:00:00Z",
       "2026-03-28T00:00:00+02:00 2026-03-30T00:00:00+03:00 2026-03-31T00:00:00+03:00"},
      // Half an hour comes twice.
      {"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z",
       "2026-04-05T01:45:00+11:00 2026-04-05T01:45:00+10:30 2026-04-06T01:45:00+10:30"},
      {"0 0 * * *", "Asia/Kolkata", "2026-01-01T00:00:00Z",
       "2026-01-02T00:00:00+05:30 2026-01-03T00:00:00+05:30 2026-01-04T00:00:00+05:30"},
  };
  for (const Row& row : rows) EXPECT_EQ(due(schedule(row.text, row.zone), row.from, 3), row.due) << row.text;
}

// Autumn gives back the hour that spring takes; where clocks move by half an hour, one full hour is never shown.
TEST(Cron, a_year_of_hours) {
  const std::pair<const char*, int> rows[] = {
      {"UTC", 8760}, {"America/New_York", 8760}, {"Europe/Berlin", 8760}, {"Australia/Lord_Howe", 8759}};
  for (const auto& [zone, hours] : rows) {
    const CronSchedule hourly = schedule("@hourly", zone);
    EXPECT_EQ(hourly.count(at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"), 1 << 20), hours) << zone;
  }
}

TEST(Cron, the_latest_is_the_last_of_all) {
  const char* texts[] = {"* * * * *", "*/7 */5 * * *", "30 1 * * *", "0 0 29 2 *", "15 3 1-7 * 1", "@every 7s"};
  for (const char* text : texts)
    for (const char* until : {"2026-11-01T05:59:59Z", "2026-11-01T06:30:00Z", "2026-11-03T00:00:00Z"}) {
      const CronSchedule one = schedule(text, "America/New_York");
      const Time from = at("2026-10-30T00:00:05Z");
      std::optional<Time> last;
      for (auto time = one.next(from, at(until)); time; time = one.next(*time, at(until))) last = time;
      EXPECT_EQ(one.latest(from, at(until)), last) << text << " until " << until;
    }
}

TEST(Cron, a_hundred_thousand_missed_runs) {
  const CronSchedule minutely = schedule("* * * * *");
  const Time from = at("2026-01-01T00:00:00Z");
  const Time until = from + base::minutes(100'000) + base::seconds(30);
  EXPECT_EQ(minutely.latest(from, until), from + base::minutes(100'000));
  EXPECT_EQ(minutely.count(from, until, 101), 101);
  EXPECT_EQ(schedule("@every 1s").latest(from, until), until);
  // A status that somebody wrote may say anything.
  EXPECT_EQ(minutely.latest(at("1700-01-01T00:00:00Z"), until), from + base::minutes(100'000));
}

TEST(Cron, texts_that_are_none) {
  struct Row {
    const char* text;
    const char* error;
  };
  const Row rows[] = {
      {"", "there are 0 fields, not five"},
      {"* * * *", "there are 4 fields, not five"},
      {"* * * * * *", "there are more than five fields"},
      {"60 * * * *", "minute: \"60\" is not a value, range or step between 0 and 59"},
      {"5-1 * * * *", "minute: \"5-1\" is not a value, range or step between 0 and 59"},
      {"*/0 * * * *", "minute: \"*/0\" is not a value, range or step between 0 and 59"},
      {"1-2-3 * * * *", "minute: \"1-2-3\" is not a value, range or step between 0 and 59"},
      {"* * 0 * *", "day of month: \"0\" is not a value, range or step between 1 and 31"},
      {"* * * * 7", "day of week: \"7\" is not a value, range or step between 0 and 6"},
      {"* * * janu *", "month: \"janu\" is not a value, range or step between 1 and 12"},
      {"* * * * 1/99999999999", "day of week: \"1/99999999999\" is not a value, range or step between 0 and 6"},
      {"@fortnightly", "there is no descriptor @fortnightly"},
      {"@every soon", "\"soon\" is not a duration"},
      {"TZ=Mars/Base * * * * *", "unknown time zone Mars/Base"},
      {"TZ=UTC", "there is nothing behind the time zone"},
  };
  for (const Row& row : rows) {
    const auto parsed = CronSchedule::parse(row.text, {});
    ASSERT_FALSE(parsed.ok()) << row.text;
    EXPECT_EQ(parsed.error().message, row.error) << row.text;
  }
}

}  // namespace
}  // namespace api
