// A watched loop's report on its callbacks.
#include "rt/watched_env.h"

#include <gtest/gtest.h>

#include <future>

#include "base/await_for_tests.h"

namespace rt {
namespace {

TEST(WatchedEnv, tells_of_every_callback_and_of_the_one_that_runs) {
  std::atomic<int> calls{0};
  const auto env = watch_loop(make_real_env("watched"), [&](base::Duration took) {
    EXPECT_GE(took.ns, 0);
    ++calls;
  });
  EXPECT_EQ(env->held().ns, 0);
  std::promise<void> inside, go_on, timer, done;
  env->loop().post([&] {
    inside.set_value();
    base::await(go_on);
    env->loop().after({}, [&] { timer.set_value(); });
    env->offload([] {}, [&] { done.set_value(); });
  });
  base::await(inside);
  EXPECT_GT(env->held().ns, 0);
  go_on.set_value();
  base::await(timer);
  base::await(done);
  env->stop();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(env->held().ns, 0);
}

}  // namespace
}  // namespace rt
