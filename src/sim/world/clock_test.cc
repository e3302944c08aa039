// Virtual time: order, cancelling, crashes.
#include "sim/world/clock.h"

#include <gtest/gtest.h>

#include "sim/world/env.h"

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
    bool received = false;
    env->offload([&] { worked = true; }, [&] { received = true; });
    while (clock.step(kStart + base::microseconds(crash_us))) {
    }
    env.reset();
    while (clock.step(kStart + base::seconds(1))) {
    }
    EXPECT_TRUE(worked || !received);
    done_without_word += worked && !received ? 1 : 0;
    lost += worked ? 0 : 1;
  }
  EXPECT_GT(done_without_word, 0);
  EXPECT_GT(lost, 0);
}

TEST(SimEnv, reaches_the_hosts_of_its_world_until_it_dies) {
  Clock clock(kStart);
  ExternalWorld outside(clock, 7);
  outside.set_host("prometheus", 9090, [](const rt::HttpRequest& request) -> std::optional<rt::HttpResponse> {
    if (request.target == "/hang") return std::nullopt;
    return rt::HttpResponse{.status = 200, .headers = {}, .body = "you asked for " + request.target};
  });
  auto env = std::make_unique<SimEnv>(clock, 7, &outside);
  const auto ask = [&](const std::string& host, const std::string& target, std::string& answer) {
    auto client = env->http_client({.host = host, .port = 9090, .tls = false});
    (*client)->send({.method = "GET", .target = target}, [&answer](base::Result<rt::HttpResponse> response) {
      answer = response.ok() ? response->body : response.error().message;
    });
    return *std::move(client);
  };
  std::string good, hung, unknown, unheard = "nothing";
  [[maybe_unused]] const auto clients = {ask("prometheus", "/q", good), ask("prometheus", "/hang", hung),
                                         ask("nowhere", "/q", unknown)};
  while (clock.step(kStart + base::minutes(2))) {
  }
  EXPECT_EQ(good, "you asked for /q");
  EXPECT_EQ(hung, "prometheus:9090: no answer in time");
  EXPECT_EQ(unknown, "nowhere:9090: connection refused");
  const auto last = ask("prometheus", "/q", unheard);
  env.reset();
  while (clock.step(kStart + base::minutes(4))) {
  }
  EXPECT_EQ(unheard, "nothing");
}

TEST(SimEnv, opens_the_disks_of_its_world_again_after_a_crash) {
  Clock clock(kStart);
  ExternalWorld outside(clock, 7);
  const auto disk = rt::make_memory_kv();
  outside.set_disk("objects", *disk);
  auto env = std::make_unique<SimEnv>(clock, 7, &outside);
  EXPECT_TRUE(
      (*env->open_store("objects", 1 << 20))->commit([](rt::KvWriter& writer) { writer.put("key", "value"); }).ok());
  env = std::make_unique<SimEnv>(clock, 8, &outside);
  std::string found;
  (void)(*env->open_store("objects", 1 << 20))->scan("", "", [&](std::string_view, std::string_view value) {
    found = value;
    return true;
  });
  EXPECT_EQ(found, "value");
  EXPECT_FALSE(env->open_store("other", 1 << 20).ok());
}

TEST(SeedFor, differs_by_seed_and_by_name) {
  EXPECT_EQ(seed_for(1, "a"), seed_for(1, "a"));
  EXPECT_NE(seed_for(1, "a"), seed_for(2, "a"));
  EXPECT_NE(seed_for(1, "a"), seed_for(1, "b"));
}

}  // namespace
}  // namespace sim
