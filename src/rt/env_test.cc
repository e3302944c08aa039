// The real environment: what runs off its loop, and what a stop waits for.
#include "rt/env.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <limits>
#include <vector>

#include "base/await_for_tests.h"

namespace rt {
namespace {

TEST(RealEnv, stop_runs_what_was_posted) {
  const auto env = make_real_env("test");
  std::promise<void> go_on;
  int ran = 0;
  env->loop().post([held = go_on.get_future().share()] { held.wait(); });
  for (int i = 0; i < 100; ++i) env->loop().post([&ran] { ++ran; });
  go_on.set_value();
  env->stop();
  EXPECT_EQ(ran, 100);
}

TEST(RealEnv, stop_waits_for_work_and_for_what_that_leads_to) {
  const auto env = make_real_env("test");
  const auto worker = env->worker("worker");
  std::promise<void> under_way, go_on;
  std::string done_order;
  env->loop().post([&] {
    env->offload(
        [&] {
          under_way.set_value();
          base::await(go_on);
        },
        [&] {
          done_order += "offloaded ";
          worker->run([] {}, [&] { done_order += "worked"; });
        });
  });
  base::await(under_way);
  env->loop().post([&] { go_on.set_value(); });
  env->stop();
  EXPECT_EQ(done_order, "offloaded worked");
}

TEST(RealEnv, stop_drops_timers) {
  const auto env = make_real_env("test");
  std::promise<void> armed;
  bool fired = false;
  env->loop().post([&] {
    env->loop().after(base::hours(1), [&fired] { fired = true; });
    armed.set_value();
  });
  base::await(armed);
  env->stop();
  EXPECT_FALSE(fired);
}

// A sum with the clock would be in the past.
TEST(RealEnv, the_longest_delay_is_long) {
  const auto env = make_real_env("test");
  std::promise<void> soon;
  bool fired = false;
  env->loop().post([&] {
    env->loop().after({std::numeric_limits<std::int64_t>::max()}, [&fired] { fired = true; });
    env->loop().after(base::milliseconds(1), [&soon] { soon.set_value(); });
  });
  base::await(soon);
  env->stop();
  EXPECT_FALSE(fired);
}

TEST(RealEnv, eight_pieces_of_work_do_not_wait_for_each_other) {
  const auto env = make_real_env("test");
  for (int round = 0; round < 2; ++round) {
    constexpr int kPieces = 8;
    std::promise<void> all_begun, all_done;
    const auto held = all_begun.get_future().share();
    std::atomic<int> begun = 0;
    int done = 0;
    env->loop().post([&] {
      for (int i = 0; i < kPieces; ++i)
        env->offload(
            [&] {
              if (++begun == kPieces) all_begun.set_value();
              held.wait();
            },
            [&] {
              if (++done == kPieces) all_done.set_value();
            });
    });
    base::await(all_done);
  }
  env->stop();
}

TEST(RealEnv, a_worker_does_its_work_in_order_whatever_hangs_in_the_pool) {
  const auto env = make_real_env("test");
  const auto worker = env->worker("worker");
  std::promise<void> release, all;
  const auto held = release.get_future().share();
  std::vector<int> order;
  env->loop().post([&] {
    for (int i = 0; i < 64; ++i) env->offload([held] { held.wait(); }, [] {});  // more than the pool has threads
    for (int i = 0; i < 3; ++i)
      worker->run([&order, i] { order.push_back(i); },
                  [&all, i] {
                    if (i == 2) all.set_value();
                  });
  });
  base::await(all);
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
  release.set_value();
  env->stop();
}

}  // namespace
}  // namespace rt
