// Which refusals time may cure, and how often is the server asked again?
#include "controllers/framework/refusals.h"

#include <gtest/gtest.h>

namespace controllers {
namespace {

const base::Time kStart{1'774'000'000'000'000'000};

TEST(Refusals, pauses_double_up_to_half_a_minute_and_begin_anew_when_something_was_made) {
  Refusals refusals;
  const base::Error over = base::make_error(base::Code::kForbidden, "over");
  for (const int seconds : {1, 2, 4, 8, 16, 30, 30}) {
    refusals.record("pods", over, false, kStart);
    EXPECT_EQ(refusals.left("pods", kStart), base::seconds(seconds));
  }
  refusals.record("pods", over, true, kStart);
  EXPECT_EQ(refusals.left("pods", kStart), base::seconds(1));
  EXPECT_EQ(refusals.left("pods", kStart + base::seconds(1)), base::Duration{});
  EXPECT_EQ(refusals.left("others", kStart), base::Duration{});
}

TEST(Refusals, a_change_shortens_the_pause_and_never_to_nothing_at_each_try) {
  Refusals refusals;
  for (int i = 0; i < 5; ++i) refusals.record("pods", base::make_error(base::Code::kForbidden, "over"), false, kStart);
  refusals.hasten();
  EXPECT_EQ(refusals.left("pods", kStart), base::seconds(5));
  for (int i = 0; i < 50; ++i) refusals.record("pods", base::make_error(base::Code::kForbidden, "over"), false, kStart);
  refusals.hasten();
  EXPECT_EQ(refusals.left("pods", kStart), base::seconds(10));
}

TEST(Refusals, an_outage_is_asked_again_at_once_and_told_when_it_lasts) {
  Refusals refusals;
  const base::Error away = base::make_error(base::Code::kUnavailable, "away");
  refusals.record("pods", away, false, kStart);
  EXPECT_EQ(refusals.left("pods", kStart), base::milliseconds(5));
  EXPECT_FALSE(Refusals::is_reported(refusals.all().at("pods")));
  for (int i = 0; i < 10; ++i) refusals.record("pods", away, false, kStart);
  EXPECT_TRUE(Refusals::is_reported(refusals.all().at("pods")));
}

TEST(Refusals, an_object_that_is_wrong_by_itself_is_given_up) {
  const auto never = [](base::Code code, std::string message, std::vector<base::Cause> causes = {}) {
    base::Error error = base::make_error(code, std::move(message));
    error.causes = std::move(causes);
    return can_never_be(error);
  };
  EXPECT_TRUE(never(base::Code::kInvalid, "Pod \"p\" is invalid: spec.containers: Required value"));
  EXPECT_TRUE(never(base::Code::kTooLarge, "larger than 1 bytes"));
  EXPECT_TRUE(never(base::Code::kBadRequest, "unknown field"));
  const base::Cause by_limits{"FieldValueInvalid", "must be less", "spec.containers[0].resources.requests"};
  const base::Cause by_itself{"FieldValueRequired", "Required value", "spec.containers[0].image"};
  EXPECT_FALSE(never(base::Code::kInvalid, "Pod is invalid", {by_limits}));
  EXPECT_TRUE(never(base::Code::kInvalid, "Pod is invalid", {by_limits, by_itself}));
  EXPECT_FALSE(never(base::Code::kForbidden, "exceeded quota"));
  EXPECT_FALSE(never(base::Code::kNotFound, "namespaces \"ns\" not found"));
  Refusals refusals;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(refusals.given_up(2), nullptr);
    refusals.record("pods", base::make_error(base::Code::kInvalid, "wrong"), false, kStart);
  }
  ASSERT_NE(refusals.given_up(2), nullptr);
  EXPECT_EQ(*refusals.given_up(2), "wrong");
}

TEST(Refusals, the_shortfall_of_a_quota_is_counted_from_its_words) {
  const auto reported = [](std::string_view what) {
    return shortfall_of("pods \"p\" is forbidden: exceeded quota: " + std::string(what));
  };
  EXPECT_EQ(reported("q, requested: pods=1, used: pods=4, limited: pods=4"), "short of pods=1");
  EXPECT_EQ(
      reported("q, requested: cpu=1,requests.cpu=300m, used: cpu=1,requests.cpu=800m, limited: cpu=4,requests.cpu=1"),
      "short of requests.cpu=100m");
  EXPECT_EQ(reported("q, requested: memory=2Gi, used: memory=0, limited: memory=1Gi"), "short of memory=1Gi");
  EXPECT_EQ(reported("q, requested: , used: pods"), "");
  EXPECT_EQ(shortfall_of("no"), "");
}

}  // namespace
}  // namespace controllers
