// When do cycles run: soon after a request, at the ends of periods and pauses, and not once too often?
#include "scheduler/cycle_timer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/fake_env_for_tests.h"

namespace scheduler {
namespace {

struct Timed {
  explicit Timed(bool gathers = true) : timer(env, guard, gathers, [this] { runs.push_back(env.uptime()); }) {
    guard.belong_to(owner);
  }

  client::testing::FakeEnv env;
  std::shared_ptr<int> owner = std::make_shared<int>();
  rt::Guard guard;
  std::vector<base::Duration> runs;
  CycleTimer timer;
};

using Runs = std::vector<base::Duration>;
constexpr auto ms = [](std::int64_t count) { return base::milliseconds(count); };

TEST(CycleTimer, requests_before_the_start_are_lost_and_the_start_is_one) {
  Timed timed;
  timed.timer.request();
  timed.env.run_for(ms(10));
  EXPECT_TRUE(timed.runs.empty());
  timed.timer.start();
  timed.env.run_for(ms(10));
  EXPECT_EQ(timed.runs, Runs{ms(12)});
}

TEST(CycleTimer, requests_that_come_together_share_a_cycle) {
  Timed timed;
  timed.timer.start();
  timed.timer.request();
  timed.env.run_for(ms(1));
  timed.timer.request();
  timed.env.run_for(ms(9));
  EXPECT_EQ(timed.runs, Runs{ms(2)});
}

TEST(CycleTimer, a_request_waits_as_long_as_the_last_cycle_took_but_not_where_nobody_gathers) {
  for (const bool gathers : {true, false}) {
    Timed timed(gathers);
    timed.timer.gather_for(ms(300));
    timed.timer.start();
    timed.env.run_for(ms(1000));
    EXPECT_EQ(timed.runs, Runs{gathers ? ms(300) : ms(0)});
  }
}

TEST(CycleTimer, a_request_takes_the_place_of_the_period) {
  Timed timed;
  timed.timer.start();
  timed.env.run_for(ms(10));
  timed.timer.request_after(ms(1000));
  timed.timer.request_after(ms(5));  // one period at a time
  timed.env.run_for(ms(500));
  timed.timer.request();
  timed.env.run_for(ms(2000));
  EXPECT_EQ(timed.runs, (Runs{ms(2), ms(512)}));
  timed.timer.request_after(ms(1000));
  timed.env.run_for(ms(2000));
  EXPECT_EQ(timed.runs, (Runs{ms(2), ms(512), ms(3512)}));
}

TEST(CycleTimer, an_arrival_has_a_bound_and_moves) {
  Timed timed;
  timed.timer.start();
  timed.env.run_for(ms(10));
  timed.timer.set_arrival(timed.env.now() + ms(60'000), ms(1000));  // a clock that jumped
  timed.env.run_for(ms(500));
  EXPECT_EQ(timed.runs.size(), 1u);
  timed.timer.set_arrival(timed.env.now() + ms(100), ms(1000));
  timed.env.run_for(ms(2000));
  EXPECT_EQ(timed.runs, (Runs{ms(2), ms(612)}));
  timed.timer.set_arrival(timed.env.now() + ms(100), ms(1000));
  timed.timer.set_arrival({}, ms(1000));
  timed.env.run_for(ms(2000));
  EXPECT_EQ(timed.runs.size(), 2u);
}

TEST(CycleTimer, a_turn_runs_a_cycle_when_its_pause_ends) {
  Timed timed(false);
  timed.timer.set_turn(timed.env.now() + ms(5));  // not before the start
  timed.timer.start();
  timed.env.run_for(ms(10));
  timed.timer.set_turn(timed.env.now() + ms(100));
  timed.timer.set_turn(timed.env.now() + ms(40));
  timed.env.run_for(ms(1000));
  EXPECT_EQ(timed.runs, (Runs{ms(0), ms(50)}));
}

TEST(CycleTimer, timers_of_an_owner_that_is_gone_run_nothing) {
  Timed timed;
  timed.timer.start();
  timed.owner.reset();
  timed.env.run_for(ms(1000));
  EXPECT_TRUE(timed.runs.empty());
}

}  // namespace
}  // namespace scheduler
