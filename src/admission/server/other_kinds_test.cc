// Admission of HyperNodes, JobFlows and CronJobs: every message of webhooks.md 10 to 12.
#include <gtest/gtest.h>

#include "admission/rules/fake_objects_for_tests.h"
#include "base/format.h"

namespace admission {
namespace {

using api::Json;
using api::Operation;

struct Row {
  std::string_view spec;
  std::string_view message;
};

std::string refusal(std::string_view path, std::string_view spec, std::string_view name = "n",
                    const Options& options = {}) {
  const Json object = json(base::format(R"({{"metadata": {{"name": "{}"}}, "spec": {}}})", name, spec));
  const std::string text = ask(path, Operation::kCreate, object, {}, options).message;
  EXPECT_EQ(ask(path, Operation::kUpdate, object, {}, options, object).message, text);
  return text;
}

TEST(HyperNodes, have_members_and_patterns_that_compile) {
  constexpr Row kRows[] = {
      {R"({"tier": 1})", "[].spec.members: Invalid value: null: member must have at least one member"},
      {R"({"members": [{"type": "Node", "selector": {"exactMatch": {"name": "a"}}}]})", ""},
      {R"({"members": [{"type": "Node", "selector": {"regexMatch": {"pattern": "a.*[0-9]+"}}}]})", ""},
      {R"({"members": [{"type": "Node", "selector": {"regexMatch": {"pattern": "(?<rack>r[0-9]+)-.*"}}}]})", ""},
      {R"({"members": [{"type": "Node", "selector": {"regexMatch": {"pattern": "<&>("}}}]})",
       "[].spec.members.selector.regexMatch.pattern: Invalid value: \"<&>(\": member regexMatch pattern is invalid: "
       "error parsing regexp: missing closing ): `<&>(`"},
      {R"({"members": [{"type": "Node", "selector": {"regexMatch": {"pattern": "a("}}}]})",
       "[].spec.members.selector.regexMatch.pattern: Invalid value: \"a(\": member regexMatch pattern is invalid: "
       "error "
       "parsing regexp: missing closing ): `a(`"},
      {R"({"members": [{"type": "Node", "selector": {"regexMatch": {"pattern": "\\pL{400}"}}}]})",
       "[].spec.members.selector.regexMatch.pattern: Invalid value: \"\\\\pL{400}\": member "
       "regexMatch pattern is invalid: "
       "error parsing regexp: expression too large: `\\pL{400}`"},
      {R"({"members": [{"selector": {"regexMatch": {"pattern": "[a"}}}, {"selector": {"regexMatch": {"pattern": "*"}}}]})",
       "[[].spec.members.selector.regexMatch.pattern: Invalid value: \"[a\": member regexMatch pattern is invalid: "
       "error "
       "parsing regexp: missing closing ]: `[a`, [].spec.members.selector.regexMatch.pattern: Invalid value: \"*\": "
       "member regexMatch pattern is invalid: error parsing regexp: missing argument to repetition operator: `*`]"},
  };
  for (const Row& row : kRows) EXPECT_EQ(refusal("/hypernodes/validate", row.spec), row.message) << row.spec;
  EXPECT_TRUE(ask("/hypernodes/validate", Operation::kDelete, {}, {}).allowed);
}

// A class of letters is hundreds of steps, and each was compiled as if nothing else were there: a minute for these.
TEST(HyperNodes, have_patterns_that_are_small_together) {
  const auto refused = [](std::string_view pattern, std::size_t count) {
    Json members = Json::array();
    for (std::size_t i = 0; i < count; ++i)
      members.push_back(
          json(base::format(R"({{"type": "Node", "selector": {{"regexMatch": {{"pattern": "{}"}}}}}})", pattern)));
    return refusal("/hypernodes/validate", Json::object({{"tier", 1}, {"members", std::move(members)}}).dump());
  };
  std::string classes;
  for (int i = 0; i < 30; ++i) classes += R"([\\pL\\pN\\pZ]{50})";
  EXPECT_NE(refused(classes, 100).find("expression too large: `[\\pL"), std::string::npos);
  EXPECT_EQ(refused(std::string(4096, 'a'), 1), "");
  EXPECT_NE(refused(std::string(4097, 'a'), 1).find("expression too large: `aaa"), std::string::npos);
  EXPECT_EQ(refused("rack-[0-9]+-node", 4096), "");
  EXPECT_EQ(refused("rack-[0-9]+-node", 4097),
            "[].spec.members: Too long: may not have more than 65536 bytes of patterns");
}

TEST(JobFlows, are_acyclic) {
  constexpr Row kRows[] = {
      {R"({})", ""},
      {R"({"flows": [{"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"]}},
           {"name": "c", "dependsOn": {"targets": ["a"]}}, {"name": "d", "dependsOn": {"targets": ["b", "c"]}}]})",
       ""},
      {R"({"flows": [{"name": "a", "dependsOn": {"targets": ["x"]}}]})",
       "jobflow Flow is not DAG: vertex is not defined: x"},
      {R"({"flows": [{"name": "a", "dependsOn": {"targets": ["a"]}}]})", "jobflow Flow is not DAG"},
      {R"({"flows": [{"name": "a", "dependsOn": {"targets": ["b"]}}, {"name": "b", "dependsOn": {"targets": ["c"]}},
           {"name": "c", "dependsOn": {"targets": ["a"]}}]})",
       "jobflow Flow is not DAG"},
      {R"({"flows": [{"name": "a", "dependsOn": {"targets": ["a"]}}, {"name": "a"}]})", ""},
  };
  for (const Row& row : kRows) EXPECT_EQ(refusal("/jobflows/validate", row.spec), row.message) << row.spec;
  EXPECT_EQ(ask("/jobflows/validate", Operation::kDelete, {}, {}).message,
            "expect operation to be 'CREATE' or 'UPDATE'");
}

TEST(CronJobs, have_a_schedule_that_can_be_read) {
  constexpr std::string_view kWrong = "schedule is not a valid cron expression";
  constexpr Row kRows[] = {
      {"0 0 * * *", ""},
      {"*/5 1,2,3 1-15/2 jan-MAR ?", ""},
      {"0\\t0 1 12 6", ""},
      {"@hourly", ""},
      {"@every 1h30m", ""},
      {"@every soon", kWrong},
      {"@never", kWrong},
      {"", "schedule is required, but got empty"},
      {"nope", kWrong},
      {"* * * *", kWrong},
      {"* * * * * *", kWrong},
      {"60 * * * *", kWrong},
      {"* * 0 * *", kWrong},
      {"* * * 13 *", kWrong},
      {"* * * * 7", kWrong},
      {"5-1 * * * *", kWrong},
      {"1-2-3 * * * *", kWrong},
      {"*/0 * * * *", kWrong},
      {"*/2/3 * * * *", kWrong},
      {"-1 * * * *", kWrong},
      {"TZ=UTC * * * * *", "schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone field"},
      {"TZ=UTC",
       "schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone fieldschedule is not a valid "
       "cron expression"},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(refusal("/cronjobs/validate", base::format(R"({{"schedule": "{}"}})", row.spec)), row.message)
        << row.spec;
}

TEST(CronJobs, have_a_time_zone_and_a_name_that_are_known) {
  const Options options{.knows_time_zone = [](const std::string& zone) { return zone == "Europe/Berlin"; }};
  constexpr Row kRows[] = {
      {"Europe/Berlin", ""},
      {"Europe/Atlantis", "invalid timeZone"},
      {"", "timeZone must be nil or non-empty string, got empty string"},
      {"../etc", "unknown timeZone invalid timeZone"},
      {"Local", "timeZone can't be Local, and must be defined in https://www.iana.org/time-zones"},
      {"local", "timeZone can't be Local, and must be defined in https://www.iana.org/time-zones invalid timeZone"},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(refusal("/cronjobs/validate", base::format(R"({{"schedule": "@daily", "timeZone": "{}"}})", row.spec),
                      "n", options),
              row.message)
        << row.spec;
  EXPECT_EQ(refusal("/cronjobs/validate", R"({"schedule": "@daily", "timeZone": "Europe/Atlantis"})"), "");
  EXPECT_EQ(refusal("/cronjobs/validate", R"({"schedule": "@daily"})", std::string(53, 'a')),
            "cronJob name must be no more than 52 characters to accommodate job name suffix (max 63 total)");
  EXPECT_EQ(refusal("/cronjobs/validate", R"({"schedule": "@daily"})", "-").substr(0, 45),
            "invalid cronJob name \"-\": name part must cons");
  EXPECT_EQ(refusal("/cronjobs/validate", R"({})", std::string(53, 'a')).substr(0, 44),
            "schedule is required, but got empty; cronJob");
  EXPECT_EQ(ask("/cronjobs/validate", Operation::kDelete, {}, {}).message,
            "expect operation to be 'CREATE' or 'UPDATE'");
}

}  // namespace
}  // namespace admission
