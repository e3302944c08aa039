// The window of history: its bounds in events and in time.
#include <gtest/gtest.h>

#include "api/kinds.h"
#include "client/fake_env_for_tests.h"
#include "store/flaky_kv_for_tests.h"
#include "store/history_age.h"
#include "store/store.h"

namespace store {
namespace {

using api::Json;
using testing::FlakyKv;

TEST(Store, history_has_an_end_and_says_so) {
  client::testing::FakeEnv env;
  FlakyKv kv;
  auto store = *Store::open(env, kv, {.history_events_max = 3});
  const auto maps = static_cast<std::uint32_t>(api::find_kind(api::resources::kConfigMaps) - api::all_kinds().data());
  for (int i = 0; i < 10; ++i) {
    store->put(maps,
               Json::object({{"metadata", Json::object({{"namespace", "n"}, {"name", "a" + std::to_string(i)}})}}),
               nullptr);
    env.settle();
  }
  const auto old = store->subscribe(maps, 2, [](const std::vector<Event>&) {});
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().code, base::Code::kExpired);
  EXPECT_TRUE(store->subscribe(maps, store->revision() - 3, [](const std::vector<Event>&) {}).ok());
}

TEST(Store, history_goes_after_a_while_also_where_nobody_writes) {
  client::testing::FakeEnv env;
  FlakyKv kv;
  auto store = *Store::open(env, kv, {.history_age_max = base::minutes(10)});
  const auto maps = static_cast<std::uint32_t>(api::find_kind(api::resources::kConfigMaps) - api::all_kinds().data());
  const auto write = [&](int count) {
    for (int i = 0; i < count; ++i)
      store->put(maps,
                 Json::object({{"metadata", Json::object({{"namespace", "n"}, {"name", "a" + std::to_string(i)}})}}),
                 nullptr);
    env.settle();
  };
  const auto resumes = [&](std::int64_t since) {
    return store->subscribe(maps, since, [](const std::vector<Event>&) {}).ok();
  };
  write(5'000);
  const std::int64_t burst = store->revision();
  env.run_for(base::minutes(9));
  EXPECT_TRUE(resumes(1));
  write(1);
  env.run_for(base::minutes(2));
  EXPECT_FALSE(resumes(burst - 1));
  EXPECT_TRUE(resumes(burst));  // the later write is young
  env.run_for(base::minutes(10));
  EXPECT_TRUE(resumes(store->revision()));
  EXPECT_FALSE(resumes(burst));
  EXPECT_EQ(store->count(maps), 5'000u);
  // As it is on the disk, and writes go on.
  store.reset();
  store = *Store::open(env, kv, {});
  EXPECT_TRUE(store->broken().empty());
  EXPECT_FALSE(resumes(burst));
  EXPECT_TRUE(resumes(store->revision()));
  write(2);
  EXPECT_TRUE(resumes(burst + 1));
}

TEST(Store, a_disk_that_refuses_to_drop_history_is_asked_again) {
  client::testing::FakeEnv env;
  FlakyKv kv;
  auto store = *Store::open(env, kv, {.history_age_max = base::minutes(10)});
  const auto maps = static_cast<std::uint32_t>(api::find_kind(api::resources::kConfigMaps) - api::all_kinds().data());
  store->put(maps, Json::object({{"metadata", Json::object({{"namespace", "n"}, {"name", "a"}})}}), nullptr);
  env.settle();
  kv.full = true;
  env.run_for(base::minutes(15));
  EXPECT_TRUE(store->subscribe(maps, 1, [](const std::vector<Event>&) {}).ok());
  EXPECT_FALSE(store->failing());
  kv.full = false;
  env.run_for(base::minutes(2));
  EXPECT_FALSE(store->subscribe(maps, 1, [](const std::vector<Event>&) {}).ok());
}

TEST(HistoryAge, tells_which_revisions_are_older_than_the_limit) {
  HistoryAge age(base::minutes(10));
  EXPECT_EQ(age.aged(base::hours(1)), 0);
  for (int second = 0; second < 120; ++second) age.record(base::seconds(second), second + 1);
  const base::Duration limit = base::minutes(10) + HistoryAge::kStretch;
  EXPECT_EQ(age.aged(limit - base::seconds(1)), 0);
  EXPECT_EQ(age.aged(limit), 30);
  EXPECT_EQ(age.aged(limit + base::seconds(29)), 30);
  EXPECT_EQ(age.aged(limit + base::seconds(30)), 60);
  EXPECT_EQ(age.aged(limit + base::hours(1)), 120);
}

}  // namespace
}  // namespace store
