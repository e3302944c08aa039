// Times of recurring runs, as tables.
#include "pipelines/schedule/run_schedule.h"

#include <gtest/gtest.h>

namespace pipelines {
namespace {

RunSchedule read(std::string_view text) {
  const auto trigger = api::parse_json(text);
  EXPECT_TRUE(trigger.ok()) << text;
  auto schedule = RunSchedule::read(*trigger);
  EXPECT_TRUE(schedule.ok()) << (schedule.ok() ? "" : schedule.error().message);
  return *schedule;
}

base::Time at(std::string_view text) { return *base::parse_rfc3339(text); }
std::string shown(std::optional<base::Time> time) { return time ? base::format_rfc3339(*time) : "none"; }

TEST(RunSchedule, TimesThatAreDue) {
  struct Row {
    const char *trigger, *after, *next, *until, *latest;
  };
  constexpr const char* kHourly = R"({"periodicSchedule": {"intervalSecond": 3600}})";
  constexpr const char* kFrom =
      R"({"periodicSchedule": {"intervalSecond": 3600, "startTime": "2026-01-01T06:00:00Z", "endTime": "2026-01-01T08:30:00Z"}})";
  constexpr const char* kNightly = R"({"cronSchedule": {"cron": "0 0 3 * * *"}})";
  constexpr const char* kQuarter = R"({"cronSchedule": {"cron": "*/15 30 * * * ?"}})";
  constexpr const char* kFive =
      R"({"cronSchedule": {"cron": "0 3 * * *", "startTime": "2026-01-02T03:00:00Z", "endTime": "2026-01-03T04:00:00Z"}})";
  for (const Row& row : {
           Row{kHourly, "2026-01-01T00:10:00Z", "2026-01-01T01:10:00Z", "2026-01-01T03:00:00Z", "2026-01-01T02:10:00Z"},
           Row{kHourly, "2026-01-01T00:10:00Z", "2026-01-01T01:10:00Z", "2026-01-01T01:00:00Z", "none"},
           Row{kFrom, "2026-01-01T00:00:00Z", "2026-01-01T06:00:00Z", "2026-01-01T05:00:00Z", "none"},
           Row{kFrom, "2026-01-01T00:00:00Z", "2026-01-01T06:00:00Z", "2026-01-02T00:00:00Z", "2026-01-01T08:00:00Z"},
           Row{kFrom, "2026-01-01T08:00:00Z", "none", "2026-01-02T00:00:00Z", "none"},
           Row{kNightly, "2026-01-01T03:00:00Z", "2026-01-02T03:00:00Z", "2026-01-05T00:00:00Z",
               "2026-01-04T03:00:00Z"},
           Row{kQuarter, "2026-01-01T00:30:15Z", "2026-01-01T00:30:30Z", "2026-01-01T00:30:50Z",
               "2026-01-01T00:30:45Z"},
           Row{kQuarter, "2026-01-01T00:30:45Z", "2026-01-01T01:30:00Z", "2026-01-01T01:29:00Z", "none"},
           Row{kQuarter, "2026-01-01T00:00:00Z", "2026-01-01T00:30:00Z", "2026-01-01T01:30:05Z",
               "2026-01-01T01:30:00Z"},
           Row{kFive, "2026-01-01T00:00:00Z", "2026-01-02T03:00:00Z", "2026-02-01T00:00:00Z", "2026-01-03T03:00:00Z"},
           Row{kFive, "2026-01-03T03:00:00Z", "none", "2026-02-01T00:00:00Z", "none"},
       }) {
    const RunSchedule schedule = read(row.trigger);
    EXPECT_EQ(shown(schedule.next(at(row.after))), row.next) << row.trigger << row.after;
    EXPECT_EQ(shown(schedule.latest(at(row.after), at(row.until))), row.latest) << row.trigger << row.until;
  }
}

TEST(RunSchedule, FaultsNameTheField) {
  struct Row {
    const char *trigger, *field;
  };
  for (const Row& row :
       {Row{"{}", "trigger: "}, Row{R"({"cronSchedule": {"cron": "x"}})", "trigger.cronSchedule.cron: "},
        Row{R"({"cronSchedule": {"cron": "60 * * * * *"}})", "trigger.cronSchedule.cron: "},
        Row{R"({"cronSchedule": {"cron": "1-x 0 3 * * *"}})", "trigger.cronSchedule.cron: "},
        Row{R"({"cronSchedule": {"cron": "*/0 0 3 * * *"}})", "trigger.cronSchedule.cron: "},
        Row{R"({"cronSchedule": {"cron": "0 3 * * *", "startTime": "soon"}})", "trigger.cronSchedule.startTime: "},
        Row{R"({"periodicSchedule": {"intervalSecond": 0}})", "trigger.periodicSchedule.intervalSecond: 0"},
        Row{R"({"periodicSchedule": {"intervalSecond": 9223372036854775807}})",
            "trigger.periodicSchedule.intervalSecond: "}}) {
    const auto read = RunSchedule::read(*api::parse_json(row.trigger));
    ASSERT_FALSE(read.ok()) << row.trigger;
    EXPECT_TRUE(read.error().message.starts_with(row.field)) << read.error().message;
  }
}

}  // namespace
}  // namespace pipelines
