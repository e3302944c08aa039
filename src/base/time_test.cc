// Texts of times and spans.
#include "base/time.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/unix_time.h"

namespace base {
namespace {

TEST(Time, rfc3339_round_trips_and_refuses) {
  EXPECT_EQ(format_rfc3339(Time{0}), "1970-01-01T00:00:00Z");
  for (const char* text : {"2024-02-29T23:59:59Z", "1969-12-31T23:59:59Z", "2026-11-21T08:00:00Z"})
    EXPECT_EQ(format_rfc3339(parse_rfc3339(text).value_or(Time{})), text);
  EXPECT_EQ(parse_rfc3339("2026-01-01T01:00:00.5+01:00")->ns, parse_rfc3339("2026-01-01T00:00:00Z")->ns + 500'000'000);
  for (const char* text : {"", "2026-01-01", "2026-13-01T00:00:00Z", "2023-02-29T00:00:00Z", "2026-01-01T00:00:00",
                           "2026-01-01T24:00:00Z", "2026-01-01T00:00:00Zx"})
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  EXPECT_EQ(format_rfc3339_micro(Time{1'500'000}), "1970-01-01T00:00:00.001500Z");
}

TEST(Time, of_all_the_years_of_rfc_3339) {
  for (const char* text : {"0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1677-01-01T00:00:00Z",
                           "2262-12-31T23:59:59Z", "9999-12-31T23:59:59Z"}) {
    const auto time = parse_rfc3339_unix(text);
    ASSERT_TRUE(time) << text;
    EXPECT_TRUE(time->in_rfc3339());
    EXPECT_EQ(format_rfc3339(*time), text);
    EXPECT_FALSE(parse_rfc3339(text)) << "nanoseconds do not reach so far";
  }
  EXPECT_EQ(format_rfc3339_micro(UnixTime{-1, 999'999'999}), "1969-12-31T23:59:59.999999Z");
  EXPECT_FALSE((UnixTime{253'402'300'800, 0}).in_rfc3339());
  EXPECT_FALSE((UnixTime{0, 1'000'000'000}).in_rfc3339());
  EXPECT_FALSE(parse_rfc3339_unix("10000-01-01T00:00:00Z"));
}

TEST(Time, go_durations) {
  struct Row {
    std::int64_t ns;
    const char* text;
  };
  for (const Row& row : {Row{0, "0s"}, Row{1, "1ns"}, Row{1'500, "1.5\xC2\xB5s"}, Row{350'000'000, "350ms"},
                         Row{137'500'000'000, "2m17.5s"}, Row{5'400'000'000'000, "1h30m0s"},
                         Row{614'475'393'813, "10m14.475393813s"}, Row{-1'000'000'000, "-1s"}}) {
    EXPECT_EQ(format_go_duration({row.ns}), row.text);
    EXPECT_EQ(parse_go_duration(row.text).value_or(Duration{-7}).ns, row.ns) << row.text;
  }
  for (const char* text : {"", "5", "1x", "s", "-", "99999999999h", "1.s.s"})
    EXPECT_FALSE(parse_go_duration(text)) << text;
}

TEST(Time, saturates_instead_of_overflowing) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(seconds(kMost).ns, kMost);
  EXPECT_EQ(seconds(-kMost).ns, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ((Time{kMost - 5} + seconds(1)).ns, kMost);
  EXPECT_EQ((Time{-kMost} - Time{kMost}).ns, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ((hours(1) * kMost).ns, kMost);
}

TEST(Time, ages_are_those_of_kubectl) {
  struct Row {
    std::int64_t seconds;
    const char* text;
  };
  for (const Row& row :
       {Row{0, "0s"}, Row{119, "119s"}, Row{120, "2m"}, Row{200, "3m20s"}, Row{600, "10m"}, Row{10'799, "179m"},
        Row{10'800, "3h"}, Row{5 * 3600 + 60, "5h1m"}, Row{9 * 3600 + 60, "9h"}, Row{49 * 3600, "2d1h"},
        Row{8 * 86'400, "8d"}, Row{3LL * 365 * 86'400, "3y"}, Row{-5, "<invalid>"}})
    EXPECT_EQ(format_human_duration(seconds(row.seconds)), row.text);
}

}  // namespace
}  // namespace base
