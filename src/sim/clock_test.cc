// Virtual time: order, cancelling, crashes.
#include "sim/clock.h"

#include <gtest/gtest.h>

#include "sim/env.h"

namespace sim {
namespace {

constexpr base::Time kStart{1'000'000'000};

TEST(Clock, runs_callbacks_in_order_of_time_and_then_of_adding) {
  Clock clock(kStart);
  const Owner owner = clock.make_owner();
  std::string order;
  clock.add(owner, base::seconds(2), [&] { order += "c"; });
  clock.add(owner, base::seconds(1), [&] { order += "a"; });
  clock.add(owner, base::seconds(1), [&] { order += "b"; });
  clock.add(owner, base::seconds(-5), [&] { order += "now "; });
  while (clock.step(kStart + base::minutes(1))) {
  }
  EXPECT_EQ(order, "now abc");
  EXPECT_EQ(clock.now(), kStart + base::minutes(1));
}

TEST(Clock, a_cancelled_callback_does_not_run_and_a_fired_one_is_ignored) {
  Clock clock(kStart);
  const Owner owner = clock.make_owner();
  int ran = 0;
  const auto first = clock.add(owner, base::seconds(1), [&] { ++ran; });
  const auto second = clock.add(owner, base::seconds(1), [&] { ++ran; });
  clock.cancel(second);
  while (clock.step(kStart + base::seconds(2))) {
  }
  clock.cancel(first);
  clock.cancel(12345);
  EXPECT_EQ(ran, 1);
}

TEST(Clock, a_dropped_owner_runs_nothing_any_more) {
  Clock clock(kStart);
  const Owner dead = clock.make_owner();
  const Owner alive = clock.make_owner();
  std::string order;
  clock.add(dead, base::seconds(1), [&] { order += "dead"; });
  clock.add(alive, base::seconds(1), [&] { order += "alive"; });
  clock.drop(dead);
  clock.add(dead, base::seconds(1), [&] { order += "dead"; });
  while (clock.step(kStart + base::seconds(2))) {
  }
  EXPECT_EQ(order, "alive");
}

TEST(SimEnv, a_crash_loses_offloaded_work_that_has_not_run_and_the_word_of_work_that_has) {
  int done_without_word = 0;
  int lost = 0;
  for (int crash_us = 0; crash_us < 3000; crash_us += 100) {
    Clock clock(kStart);
    auto env = std::make_unique<SimEnv>(clock, 7);
    bool worked = false;
    bool heard = false;
    env->offload([&] { worked = true; }, [&] { heard = true; });
    while (clock.step(kStart + base::microseconds(crash_us))) {
    }
    env.reset();
    while (clock.step(kStart + base::seconds(1))) {
    }
    EXPECT_TRUE(worked || !heard);
    done_without_word += worked && !heard ? 1 : 0;
    lost += worked ? 0 : 1;
  }
  EXPECT_GT(done_without_word, 0);
  EXPECT_GT(lost, 0);
}

TEST(SeedFor, differs_by_seed_and_by_name) {
  EXPECT_EQ(seed_for(1, "a"), seed_for(1, "a"));
  EXPECT_NE(seed_for(1, "a"), seed_for(2, "a"));
  EXPECT_NE(seed_for(1, "a"), seed_for(1, "b"));
}

}  // namespace
}  // namespace sim
