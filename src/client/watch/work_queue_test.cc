// The rules of the work queue: once, not twice at a time, and back-off.
#include "client/watch/work_queue.h"

#include <gtest/gtest.h>

#include "client/fake_env_for_tests.h"

namespace client {
namespace {

struct World {
  testing::FakeEnv env;
  std::vector<std::string> seen;
  WorkQueue queue;
  explicit World(int in_flight_max = 16)
      : queue(
            env, [this](const std::string& key) { seen.push_back(key); }, in_flight_max) {}
};

using Keys = std::vector<std::string>;

TEST(WorkQueue, AKeyWaitsOnce) {
  World world;
  world.queue.add("a");
  world.queue.add("b");
  world.queue.add("a");
  EXPECT_EQ(world.queue.size(), 2u);
  world.env.settle();
  EXPECT_EQ(world.seen, (Keys{"a", "b"}));
}

TEST(WorkQueue, AKeyInWorkComesBackOnlyWhenDone) {
  World world;
  world.queue.add("a");
  world.env.settle();
  world.queue.add("a");
  world.queue.add("a");
  world.env.settle();
  EXPECT_EQ(world.seen, (Keys{"a"}));
  world.queue.done("a");
  world.env.settle();
  EXPECT_EQ(world.seen, (Keys{"a", "a"}));
  world.queue.done("a");
  world.env.settle();
  EXPECT_EQ(world.seen.size(), 2u);
}

TEST(WorkQueue, LimitsWhatIsInWork) {
  World world(2);
  for (const char* key : {"a", "b", "c"}) world.queue.add(key);
  world.env.settle();
  EXPECT_EQ(world.seen, (Keys{"a", "b"}));
  world.queue.done("b");
  world.env.settle();
  EXPECT_EQ(world.seen, (Keys{"a", "b", "c"}));
}

TEST(WorkQueue, FailuresBackOffExponentiallyAndDoneForgetsThem) {
  World world;
  world.queue.add("a");
  world.env.settle();
  std::int64_t delay_ms = 5;
  for (int i = 1; i <= 8; ++i, delay_ms *= 2) {
    world.queue.retry("a");
    EXPECT_EQ(world.queue.failures("a"), i);
    world.env.run_for(base::milliseconds(delay_ms - 1));
    EXPECT_EQ(world.seen.size(), static_cast<std::size_t>(i));
    world.env.run_for(base::milliseconds(1));
    EXPECT_EQ(world.seen.size(), static_cast<std::size_t>(i + 1));
  }
  world.queue.done("a");
  EXPECT_EQ(world.queue.failures("a"), 0);
}

TEST(WorkQueue, TheEarlierOfTwoDelaysCounts) {
  World world;
  world.queue.add_after("a", base::seconds(10));
  world.queue.add_after("a", base::seconds(2));
  world.queue.add_after("a", base::seconds(20));
  world.env.run_for(base::seconds(2));
  EXPECT_EQ(world.seen, (Keys{"a"}));
  world.queue.done("a");
  world.env.run_for(base::seconds(60));
  EXPECT_EQ(world.seen.size(), 1u);
}

}  // namespace
}  // namespace client
