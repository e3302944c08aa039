// A loop that stands still is seen from another thread, and seen to turn again.
#include "rt/loop_pulse.h"

#include <gtest/gtest.h>

#include <future>

#include "base/await_for_tests.h"

namespace rt {
namespace {

TEST(LoopPulse, says_that_the_loop_stands_still_and_that_it_turns_again) {
  const auto env = make_real_env("pulse");
  std::promise<void> held, go_on, turned;
  env->loop().post([&] {
    held.set_value();
    base::await(go_on);
  });
  base::await(held);
  const auto stands_still = loop_pulse(*env, {});
  const auto patient = loop_pulse(*env, base::seconds(3600));
  EXPECT_FALSE(stands_still()) << "it is only asked";
  EXPECT_FALSE(patient());
  const base::Duration begin = env->uptime();
  while (env->uptime() == begin) {
  }
  EXPECT_TRUE(stands_still());
  EXPECT_FALSE(patient());
  go_on.set_value();
  env->loop().post([&] { turned.set_value(); });
  base::await(turned);
  EXPECT_FALSE(stands_still());
}

}  // namespace
}  // namespace rt
