// Offsets and their changes, as the system's database has them.
#include "base/time_zone.h"

#include <gtest/gtest.h>

namespace base {
namespace {

Time at(const char* text) { return *parse_rfc3339(text); }

TEST(TimeZone, knows_when_clocks_change) {
  struct Row {
    const char* zone;
    const char* from;
    int offset_minutes;
    const char* change;  // null: never
  };
  const Row rows[] = {
      {"UTC", "2026-01-01T00:00:00Z", 0, nullptr},
      {"Europe/Berlin", "2026-01-01T00:00:00Z", 60, "2026-03-29T01:00:00Z"},
      {"Europe/Berlin", "2026-03-29T01:00:00Z", 120, "2026-10-25T01:00:00Z"},
      {"America/New_York", "2026-10-01T00:00:00Z", -240, "2026-11-01T06:00:00Z"},
      // Far beyond the years that are listed one by one.
      {"America/New_York", "2199-01-01T00:00:00Z", -300, "2199-03-10T07:00:00Z"},
      {"Australia/Lord_Howe", "2026-01-01T00:00:00Z", 660, "2026-04-04T15:00:00Z"},
      {"Asia/Kolkata", "2026-01-01T00:00:00Z", 330, nullptr},
  };
  for (const Row& row : rows) {
    const auto zone = TimeZone::load(row.zone);
    ASSERT_TRUE(zone.ok()) << row.zone;
    EXPECT_EQ(zone->offset_at(at(row.from)), minutes(row.offset_minutes)) << row.zone;
    const auto change = zone->next_change(at(row.from));
    EXPECT_EQ(change ? format_rfc3339(*change) : "", row.change ? row.change : "") << row.zone;
  }
}

TEST(TimeZone, names_that_are_no_zone) {
  for (const char* name : {"", "Europe", "Europe/Atlantis", "../../../etc/passwd", "/etc/localtime", "file:UTC",
                           "Europe//Berlin", "zone.tab", "Mars/Base 1"}) {
    const auto zone = TimeZone::load(name);
    ASSERT_FALSE(zone.ok()) << name;
    EXPECT_EQ(zone.error().message, std::string("unknown time zone ") + name);
  }
}

TEST(TimeZone, writes_its_offset) {
  EXPECT_EQ(TimeZone().format_rfc3339(at("2026-03-29T01:00:00Z")), "2026-03-29T01:00:00Z");
  EXPECT_EQ(TimeZone::load("Europe/Berlin")->format_rfc3339(at("2026-03-29T01:00:00Z")), "2026-03-29T03:00:00+02:00");
  EXPECT_EQ(TimeZone::load("America/St_Johns")->format_rfc3339(at("2026-01-01T00:00:00Z")),
            "2025-12-31T20:30:00-03:30");
}

}  // namespace
}  // namespace base
