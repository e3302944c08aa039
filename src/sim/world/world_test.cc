// Whole worlds: the same seed is the same run, and the checks hold under faults.
#include "sim/world/world.h"

#include <gtest/gtest.h>

#include "rt/files/files.h"

namespace sim {
namespace {

Outcome run(const std::string& file, std::uint64_t seed, Chronicle::Print print = {}) {
  const auto text = rt::read_file(file);
  EXPECT_TRUE(text.ok()) << (text.ok() ? "" : text.error().message);
  auto world = World::make(text.ok() ? *text : "", seed, std::move(print));
  EXPECT_TRUE(world.ok()) << (world.ok() ? "" : world.error().message);
  return (*world)->run();
}

std::string listed(const std::vector<std::string>& violations) {
  std::string text;
  for (const std::string& violation : violations) text += violation + "\n";
  return text;
}

TEST(World, the_same_seed_is_the_same_run) {
  const Outcome first = run("tests/sim/gangs-under-faults.toml", 18);
  const Outcome second = run("tests/sim/gangs-under-faults.toml", 18);
  EXPECT_EQ(first.hash, second.hash);
  EXPECT_EQ(first.steps, second.steps);
  EXPECT_GT(first.changes, 1000u);
  EXPECT_NE(first.hash, run("tests/sim/gangs-under-faults.toml", 19).hash);
}

TEST(World, begins_the_discovery_whichever_watch_shows_its_configuration_first) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_EQ(listed(run("tests/sim/discovery-in-peace.toml", seed).violations), "") << "seed " << seed;
}

TEST(World, loses_no_acknowledged_write_while_the_server_is_killed) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcome outcome = run("tests/sim/counters-under-faults.toml", seed);
    EXPECT_EQ(listed(outcome.violations), "") << "seed " << seed;
    EXPECT_GT(outcome.changes, 100u);
  }
}

TEST(World, jobs_complete_in_peace) {
  const Outcome outcome = run("tests/sim/gangs-in-peace.toml", 1);
  EXPECT_EQ(listed(outcome.violations), "");
}

TEST(World, settles_after_faults_in_every_part) {
  for (std::uint64_t seed = 2; seed <= 3; ++seed)
    EXPECT_EQ(listed(run("tests/sim/gangs-under-faults.toml", seed).violations), "") << "seed " << seed;
}

TEST(World, preempts_and_reclaims_within_what_queues_may_have) {
  for (const char* file : {"tests/sim/evictions.toml", "tests/sim/evictions-under-faults.toml"}) {
    bool preempts = false, reclaims = false, has_limits = false;
    const Outcome outcome = run(file, 3, [&](std::string_view line) {
      preempts |= line.find("evicted by preempt") != line.npos;
      reclaims |= line.find("evicted by reclaim") != line.npos;
      has_limits |= line.ends_with("pods bound in queues with a capability") && line.find(" 0 pods") == line.npos;
    });
    EXPECT_EQ(listed(outcome.violations), "") << file;
    EXPECT_TRUE(preempts && reclaims && has_limits) << file;
  }
}

TEST(World, what_is_refused_is_asked_again) {
  for (const char* file : {"tests/sim/refusals.toml", "tests/sim/hard-shards.toml"}) {
    int refused = 0;
    const Outcome outcome = run(file, 1, [&](std::string_view line) {
      refused += line.ends_with(" requests were refused") && !line.ends_with(" 0 requests were refused") ? 1 : 0;
    });
    EXPECT_EQ(listed(outcome.violations), "") << file;
    EXPECT_GT(refused, 0) << file;
  }
}

TEST(World, a_full_disk_loses_nothing) { EXPECT_EQ(listed(run("tests/sim/full-disk.toml", 1).violations), ""); }

TEST(World, flows_and_cronjobs_keep_their_order_under_faults) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_EQ(listed(run("tests/sim/flows-under-faults.toml", seed).violations), "") << "seed " << seed;
    EXPECT_EQ(listed(run("tests/sim/discovery-under-faults.toml", seed).violations), "") << "seed " << seed;
  }
}

// The checks themselves: a world that breaks a promise is found out.
TEST(World, a_gang_that_can_never_fit_does_not_settle) {
  auto world = World::make(
      "[world]\nnodes = 1\nduration = \"10s\"\nrest_within = \"20s\"\n[[workload]]\nkind = \"gang-jobs\"\ncount = "
      "1\nsize = 9\ncpu_milli = 1000\n"
      "[[check]]\nkind = \"jobs-finish\"\n",
      1, {});
  ASSERT_TRUE(world.ok());
  const Outcome outcome = (*world)->run();
  ASSERT_FALSE(outcome.violations.empty());
  EXPECT_EQ(outcome.violations[0], "settles: not at rest after 20s: job default/gang-0 is Pending");
}

}  // namespace
}  // namespace sim
