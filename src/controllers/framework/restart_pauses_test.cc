// When does a place get its next pod?
#include "controllers/framework/restart_pauses.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace controllers {
namespace {

class RestartPausesTest : public ::testing::Test {
 protected:
  // One look at pods of place "a" with these uids, all just made.
  void look(std::initializer_list<std::string_view> uids, std::string_view phase = "Running") {
    pauses.begin_look(now);
    for (const std::string_view uid : uids)
      pauses.see("a", *api::parse_json(base::format(
                          R"({{"metadata": {{"uid": "{}", "creationTimestamp": "{}"}}, "status": {{"phase": "{}"}}}})",
                          uid, base::format_rfc3339(now), phase)));
    pauses.end_look();
  }
  void pass(std::int64_t seconds) { now = now + base::seconds(seconds); }
  std::int64_t left() const { return pauses.left("a", now).ns / 1'000'000'000; }

  base::Time now{1'774'000'000'000'000'000};
  RestartPauses pauses;
};

TEST_F(RestartPausesTest, double_with_each_pod_that_ends_young) {
  const std::int64_t pauses_expected[] = {0, 10, 20, 40, 80, 160, 300, 300};
  int number = 0;
  for (const std::int64_t expected : pauses_expected) {
    const std::string uid = std::to_string(number++);
    look({uid});
    pass(1);
    look({});
    EXPECT_EQ(left(), expected) << number;
    pass(left() + 1);
  }
}

TEST_F(RestartPausesTest, begin_anew_after_a_pod_that_lives) {
  for (const char* uid : {"1", "2", "3"}) {
    look({uid});
    look({uid}, "Failed");
    pass(left() + 1);
  }
  look({"4"});
  for (int i = 0; i < 20; ++i) {
    pass(10);
    look({"4"});
  }
  look({});
  EXPECT_EQ(left(), 0);
  look({"5"});
  look({});
  EXPECT_EQ(left(), 0);
}

TEST_F(RestartPausesTest, count_pods_that_end_together_once) {
  look({"1", "2", "3"});
  look({"2", "3"});
  look({"3"});
  look({});
  EXPECT_EQ(left(), 0);
  pass(1);
  look({"4", "5"});
  look({});
  EXPECT_EQ(left(), 10);
}

TEST_F(RestartPausesTest, leave_out_what_succeeds_and_what_its_owner_deletes) {
  for (const char* uid : {"1", "2", "3"}) {
    look({uid});
    pauses.forget(uid);
    look({});
  }
  for (const char* uid : {"4", "5", "6"}) {
    look({uid});
    look({uid}, "Succeeded");
    pauses.forget(uid);
  }
  EXPECT_EQ(left(), 0);
  look({});
  pass(600);
  look({});
  EXPECT_TRUE(pauses.empty());
}

}  // namespace
}  // namespace controllers
