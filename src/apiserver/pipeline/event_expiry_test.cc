// Events go an hour after their last write, in batches, also those from before a restart; a full disk delays them.
#include "apiserver/pipeline/event_expiry.h"

#include <gtest/gtest.h>

#include "api/kinds.h"
#include "client/fake_env_for_tests.h"
#include "rt/storage/kv.h"

namespace apiserver {
namespace {

using api::Json;

// A disk that can refuse, and counts what it takes.
class RefusingKv : public rt::KvStore {
 public:
  base::Status commit(const std::function<void(rt::KvWriter&)>& changes) override {
    if (refuses) return base::make_error(base::Code::kUnavailable, "no space");
    ++commits;
    return inner->commit(changes);
  }
  base::Status scan(std::string_view begin, std::string_view end,
                    const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    return inner->scan(begin, end, visit);
  }
  std::unique_ptr<rt::KvStore> inner = rt::make_memory_kv();
  bool refuses = false;
  int commits = 0;
};

struct Bench {
  client::testing::FakeEnv env;
  RefusingKv kv;
  std::unique_ptr<store::Store> store = *store::Store::open(env, kv);
  std::uint32_t events = static_cast<std::uint32_t>(api::find_kind(api::resources::kEvents) - api::all_kinds().data());
  std::unique_ptr<EventExpiry> expiry = *EventExpiry::start(env, *store, base::hours(1));

  void put(const std::string& name) {
    store->put(events,
               Json::object({{"metadata", Json::object({{"namespace", "n"}, {"name", name}})},
                             {"lastTimestamp", base::format_rfc3339(env.now())}}),
               nullptr);
    env.settle();
  }
};

TEST(EventExpiry, an_event_goes_an_hour_after_its_last_write) {
  Bench b;
  b.put("once");
  b.put("again");
  b.env.run_for(base::minutes(59));
  EXPECT_EQ(b.store->count(b.events), 2u);
  b.put("again");
  b.env.run_for(base::minutes(2));
  EXPECT_EQ(b.store->find(b.events, "n", "once", store::View::kDurable), nullptr);
  EXPECT_NE(b.store->find(b.events, "n", "again", store::View::kDurable), nullptr);
  b.env.run_for(base::hours(1));
  EXPECT_EQ(b.store->count(b.events), 0u);
  EXPECT_EQ(b.expiry->pending(), 0u);
}

TEST(EventExpiry, many_go_in_few_commits_and_other_work_comes_between) {
  Bench b;
  for (int i = 0; i < 1000; ++i) b.put("e" + std::to_string(i));
  const int before = b.kv.commits;
  b.env.run_for(base::hours(1) + base::seconds(30));
  EXPECT_EQ(b.store->count(b.events), 0u);
  EXPECT_LE(b.kv.commits - before, 20);
  EXPECT_GE(b.kv.commits - before, 5);  // no turn takes more than its share
}

TEST(EventExpiry, events_from_before_a_restart_count_from_their_last_time) {
  Bench b;
  b.put("old");
  b.env.run_for(base::minutes(40));
  b.expiry.reset();
  b.put("young");
  b.expiry = *EventExpiry::start(b.env, *b.store, base::hours(1));
  EXPECT_EQ(b.expiry->pending(), 2u);
  b.env.run_for(base::minutes(21));
  EXPECT_EQ(b.store->find(b.events, "n", "old", store::View::kDurable), nullptr);
  EXPECT_NE(b.store->find(b.events, "n", "young", store::View::kDurable), nullptr);
}

TEST(EventExpiry, a_deletion_that_the_disk_refuses_is_tried_again) {
  Bench b;
  b.put("e");
  b.kv.refuses = true;
  b.env.run_for(base::hours(1) + base::minutes(5));
  EXPECT_EQ(b.store->count(b.events), 1u);
  EXPECT_EQ(b.expiry->pending(), 1u);
  b.kv.refuses = false;
  b.env.run_for(base::minutes(2));
  EXPECT_EQ(b.store->count(b.events), 0u);
}

}  // namespace
}  // namespace apiserver
