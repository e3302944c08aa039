// Revisions, durability, and what happens when the disk says no.
#include "store/store.h"

#include <gtest/gtest.h>

#include <future>
#include <latch>

#include "api/kinds.h"
#include "base/await_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "store/flaky_kv_for_tests.h"

namespace store {
namespace {

using api::Json;
using testing::FlakyKv;

Json map_of(const std::string& name, std::size_t bytes) {
  return Json::object({{"metadata", Json::object({{"name", name}, {"namespace", "n"}})},
                       {"data", Json::object({{"k", std::string(bytes, 'x')}})}});
}

TEST(Store, keeps_no_room_that_objects_do_not_need) {
  client::testing::FakeEnv env;
  const auto kv = rt::make_memory_kv();
  const auto store = *Store::open(env, *kv);
  for (const std::size_t bytes : {300, 500, 900, 1500}) {
    store->put(0, map_of("m", bytes), [](const base::Result<ObjectPtr>& put) { EXPECT_TRUE(put.ok()); });
    const ObjectPtr object = store->find(0, "n", "m", View::kLatest);
    ASSERT_TRUE(object);
    EXPECT_LE(object->bytes.capacity(), object->bytes.size() + 16);
    env.settle();
  }
}

struct Bench {
  client::testing::FakeEnv env;
  FlakyKv kv;
  std::unique_ptr<Store> store = *Store::open(env, kv);
  std::uint32_t maps =
      static_cast<std::uint32_t>(api::find_kind(api::resources::kConfigMaps) - api::all_kinds().data());
  std::vector<std::string> acknowledged, refused;

  void put(const std::string& name, const std::string& value = "1") {
    Json object = Json::object({{"metadata", Json::object({{"namespace", "n"}, {"name", name}, {"uid", name}})},
                                {"data", Json::object({{"v", value}})}});
    store->put(maps, std::move(object), [this, name](base::Result<ObjectPtr> result) {
      (result.ok() ? acknowledged : refused).push_back(name);
    });
  }
  void erase(const std::string& name) {
    const auto object = store->find(maps, "n", name, View::kLatest);
    store->erase(maps, "n", name, object->json(), [this, name](base::Result<ObjectPtr> result) {
      (result.ok() ? acknowledged : refused).push_back("-" + name);
    });
  }
};

std::string text(const std::vector<Event>& events) {
  std::string out;
  for (const Event& event : events)
    out += (event.type == EventType::kAdded      ? "+"
            : event.type == EventType::kModified ? "~"
                                                 : "-") +
           event.object->name + " ";
  return out;
}

TEST(Store, readers_see_what_is_durable_and_writers_the_newest) {
  Bench b;
  b.put("a");
  EXPECT_EQ(b.store->find(b.maps, "n", "a", View::kDurable), nullptr);
  EXPECT_NE(b.store->find(b.maps, "n", "a", View::kLatest), nullptr);
  EXPECT_TRUE(b.acknowledged.empty());
  b.env.settle();
  EXPECT_EQ(b.acknowledged, std::vector<std::string>{"a"});
  const auto object = b.store->find(b.maps, "n", "a", View::kDurable);
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->json()["metadata"]["resourceVersion"].as_string(), std::to_string(object->revision));
}

TEST(Store, writes_that_wait_share_one_commit) {
  Bench b;
  for (int i = 0; i < 50; ++i) b.put("m" + std::to_string(i));
  b.env.settle();
  EXPECT_EQ(b.acknowledged.size(), 50u);
  EXPECT_LE(b.kv.commits, 2);
}

TEST(Store, a_full_disk_refuses_and_changes_nothing) {
  Bench b;
  b.put("a", "1");
  b.env.settle();
  const std::int64_t revision = b.store->revision();
  b.kv.full = true;
  b.put("a", "2");
  b.put("b");
  b.env.settle();
  EXPECT_EQ(b.refused, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(b.store->failing());
  EXPECT_EQ(b.store->revision(), revision);
  EXPECT_EQ(b.store->find(b.maps, "n", "b", View::kLatest), nullptr);
  EXPECT_EQ(b.store->find(b.maps, "n", "a", View::kLatest)->json()["data"]["v"].as_string(), "1");
  b.kv.full = false;
  b.env.run_for(base::seconds(1));
  b.put("b");
  b.env.settle();
  EXPECT_EQ(b.store->find(b.maps, "n", "b", View::kDurable)->revision, revision + 1);
  EXPECT_FALSE(b.store->failing());
}

TEST(Store, what_the_newest_state_tells_waits_until_it_is_durable) {
  Bench b;
  std::vector<std::string> notified;
  const auto settle = [&](const char* what) {
    b.store->settle([&notified, what](const base::Result<ObjectPtr>& how) {
      notified.push_back(what + std::string(how.ok() ? " durable" : " undone"));
    });
  };
  settle("nothing under way");
  EXPECT_EQ(notified, std::vector<std::string>{"nothing under way durable"});
  b.put("a");
  settle("of the commit");
  b.put("b");  // waits for the next one
  settle("of the next");
  EXPECT_EQ(notified.size(), 1u);
  b.env.settle();
  EXPECT_EQ(notified,
            (std::vector<std::string>{"nothing under way durable", "of the commit durable", "of the next durable"}));
  b.kv.full = true;
  b.put("c");
  settle("of a full disk");
  b.env.settle();
  EXPECT_EQ(notified.back(), "of a full disk undone");
}

// Two writes of one key: the first commit is under way while the others wait for the second.
TEST(Store, a_key_may_come_and_go_while_a_commit_is_under_way) {
  for (const bool was_there : {true, false}) {
    Bench b;
    if (was_there) {
      b.put("a");
      b.env.settle();
      b.acknowledged.clear();
    }
    std::vector<std::string> done;
    for (int i = was_there ? 1 : 0; i < 6; ++i) {
      i % 2 == 0 ? b.put("a") : b.erase("a");
      done.emplace_back(i % 2 == 0 ? "a" : "-a");
    }
    std::string seen;
    auto subscription = *b.store->subscribe(b.maps, b.store->revision(),
                                            [&](const std::vector<Event>& events) { seen += text(events); });
    b.env.settle();
    EXPECT_EQ(b.acknowledged, done);
    EXPECT_EQ(seen, was_there ? "-a +a -a +a -a " : "+a -a +a -a +a -a ");
    EXPECT_EQ(b.store->count(b.maps), 0u);
    EXPECT_EQ((*Store::open(b.env, b.kv))->count(b.maps), 0u);
    b.put("a", "2");
    b.env.settle();
    EXPECT_EQ(b.store->count(b.maps), 1u);
    EXPECT_EQ(b.store->find(b.maps, "n", "a", View::kDurable)->json()["data"]["v"].as_string(), "2");
  }
}

TEST(Store, a_full_disk_undoes_all_writes_of_a_key) {
  Bench b;
  std::vector<std::string> notified;
  b.store->on_latest(b.maps, [&](const ObjectPtr& before, const ObjectPtr& after) {
    notified.push_back((before ? before->json()["data"]["v"].str() : "") + ">" +
                       (after ? after->json()["data"]["v"].str() : ""));
  });
  b.put("a", "1");
  b.erase("a");
  b.put("a", "2");
  b.erase("a");
  b.env.step();  // the first is on the disk
  b.kv.full = true;
  b.env.settle();
  EXPECT_EQ(b.acknowledged, std::vector<std::string>{"a"});
  EXPECT_EQ(b.refused, (std::vector<std::string>{"-a", "a", "-a"}));
  EXPECT_EQ(notified, (std::vector<std::string>{">1", "1>", ">2", "2>", ">1"}));
  EXPECT_EQ(b.store->find(b.maps, "n", "a", View::kLatest)->json()["data"]["v"].as_string(), "1");
  b.kv.full = false;
  b.erase("a");
  b.env.settle();
  EXPECT_EQ(b.store->count(b.maps), 0u);
  // The object was never there.
  b.kv.full = true;
  b.env.run_for(base::seconds(1));
  b.put("b");
  b.erase("b");
  b.put("b");
  b.env.settle();
  EXPECT_EQ(b.store->count(b.maps), 0u);
}

// No revision comes again, also if a backup is brought back a second time.
TEST(Store, a_new_life_begins_beyond_all_revisions_of_the_last) {
  const base::Time now{1'790'000'000'000'000'000};
  EXPECT_GT(revision_beyond(5, now), 1'000'000'004);
  EXPECT_GT(revision_beyond(5, now + base::seconds(10)), revision_beyond(5, now) + 500);
  const std::int64_t far = std::int64_t{1} << 60;
  EXPECT_EQ(revision_beyond(far, now), far + 1'000'000'000);
}

TEST(Store, deletions_go_through_on_a_full_disk_and_one_write_a_second_tries_it) {
  Bench b;
  b.put("a");
  b.put("marked");
  b.env.settle();
  b.kv.full = true;
  b.kv.has_reserve = true;
  b.put("c");
  b.env.settle();
  for (int i = 0; i < 5; ++i) b.put("d");
  b.erase("a");
  Json marked = b.store->find(b.maps, "n", "marked", View::kLatest)->json();
  marked.edit("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
  base::Status kept = base::make_error(base::Code::kInternal, "not answered");
  b.store->put(b.maps, std::move(marked), [&](base::Result<ObjectPtr> result) {
    kept = result.ok() ? base::Status() : base::Status(result.take_error());
  });
  b.env.settle();
  EXPECT_EQ(b.acknowledged, (std::vector<std::string>{"a", "marked", "-a"}));
  EXPECT_EQ(b.refused.size(), 6u);
  EXPECT_TRUE(kept.ok());
  EXPECT_TRUE(b.store->failing());
  EXPECT_EQ(b.kv.refused, 1);  // the first; the others were not even tried
  b.env.run_for(base::seconds(1));
  b.put("e");
  b.put("f");
  b.env.settle();
  EXPECT_EQ(b.kv.refused, 2);
  EXPECT_EQ(b.store->find(b.maps, "n", "a", View::kDurable), nullptr);
}

TEST(Store, what_it_could_not_read_back_is_refused) {
  Bench b;
  Json deep = "x";
  for (int i = 0; i < 1001; ++i) deep = Json::array({deep});
  const auto put = [&](Json data) {
    base::Status outcome;
    b.store->put(b.maps,
                 Json::object({{"metadata", Json::object({{"namespace", "n"}, {"name", "x"}})}, {"data", data}}),
                 [&](base::Result<ObjectPtr> result) {
                   if (!result.ok()) outcome = result.take_error();
                 });
    b.env.settle();
    return outcome;
  };
  base::Status outcome = put(deep);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, base::Code::kInvalid);
  EXPECT_EQ(outcome.error().message, "nested too deeply: more than 1000 levels");
  outcome = put(std::string(api::kObjectBytesMax, 'x'));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, base::Code::kTooLarge);
  EXPECT_EQ(b.store->find(b.maps, "n", "x", View::kLatest), nullptr);
  // Bytes that are not a text are written as U+FFFD.
  EXPECT_TRUE(put("a\xff").ok());
  EXPECT_EQ(b.store->find(b.maps, "n", "x", View::kDurable)->json()["data"].as_string(), "a\xEF\xBF\xBD");
}

TEST(Store, a_broken_object_is_set_aside_and_all_others_are_served) {
  Bench b;
  for (const char* name : {"a", "b", "c", "d"}) b.put(name);
  b.env.settle();
  const std::int64_t revision = b.store->revision();
  const std::string prefix = std::string("o/configmaps\0n\0", 15);
  ASSERT_TRUE(b.kv.commit([&](rt::KvWriter& writer) {
                    writer.put(prefix + "a", std::string(8, '\0') + "{\"metadata\":{\"name\":\"\xff\"}}");
                    writer.put(prefix + "b", "short");
                    writer.put(prefix + "e\n\x1b[2J", "short");
                    writer.put(prefix + "c", std::string("\0\0\0\0\0\0\0\1{\"metadata\":{\"name\":\"other\"}}", 37));
                  })
                  .ok());
  auto reopened = *Store::open(b.env, b.kv);
  std::string what;
  for (const Broken& record : reopened->broken()) what += record.what + ", ";
  EXPECT_EQ(what, "configmaps n/a, configmaps n/b, configmaps n/c, configmaps \"n/e\\n\\x1b[2J\", ");
  EXPECT_NE(reopened->find(b.maps, "n", "d", View::kDurable), nullptr);
  EXPECT_EQ(reopened->find(b.maps, "n", "a", View::kDurable), nullptr);
  EXPECT_EQ(reopened->revision(), revision);
  ASSERT_TRUE(reopened->remove_broken().ok());
  // A watch from before would believe that the objects are still there.
  const auto old = reopened->subscribe(b.maps, revision - 1, [](const std::vector<Event>&) {});
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().code, base::Code::kExpired);
  auto again = *Store::open(b.env, b.kv);
  EXPECT_TRUE(again->broken().empty());
  EXPECT_EQ(again->revision(), revision);
  EXPECT_FALSE(again->subscribe(b.maps, revision - 1, [](const std::vector<Event>&) {}).ok());
}

TEST(Store, damaged_history_and_counters_cost_history_only) {
  Bench b;
  for (const char* name : {"a", "b", "c"}) b.put(name);
  b.env.settle();
  const std::int64_t revision = b.store->revision();
  ASSERT_TRUE(b.kv.commit([&](rt::KvWriter& writer) {
                    writer.put(std::string("h\0\0\0\0\0\0\0\2", 9), "rubbish");
                    writer.put("mrevision", "-5x");
                    writer.put("mcompacted", "999999999");
                  })
                  .ok());
  auto reopened = *Store::open(b.env, b.kv);
  ASSERT_EQ(reopened->broken().size(), 1u);
  EXPECT_EQ(reopened->broken()[0].what, "history of revision 2");
  EXPECT_EQ(reopened->revision(), revision);  // no revision is given twice
  EXPECT_EQ(reopened->count(b.maps), 3u);
  EXPECT_TRUE(reopened->remove_broken().ok());
}

TEST(Store, a_watch_resumes_also_after_a_restart) {
  Bench b;
  b.put("a");
  b.env.settle();
  const std::int64_t since = b.store->revision();
  b.put("b");
  b.put("a", "2");
  b.env.settle();
  b.erase("b");
  b.env.settle();
  std::string seen;
  const auto collect = [&](const std::vector<Event>& events) { seen += text(events); };
  auto subscription = *b.store->subscribe(b.maps, since, collect);
  EXPECT_EQ(seen, "+b ~a -b ");
  const auto reopened = *Store::open(b.env, b.kv);
  seen.clear();
  auto again = *reopened->subscribe(b.maps, since, collect);
  EXPECT_EQ(seen, "+b ~a -b ");
  EXPECT_EQ(reopened->revision(), b.store->revision());
  EXPECT_NE(reopened->find(b.maps, "n", "a", View::kDurable), nullptr);
  EXPECT_EQ(reopened->find(b.maps, "n", "b", View::kDurable), nullptr);
}

TEST(Store, tables_come_while_it_runs_and_are_there_after_a_restart) {
  Bench b;
  const std::uint32_t maps = b.maps;
  int notified = 0;
  auto subscription = *b.store->subscribe(maps, 1, [&](const std::vector<Event>&) {
    ++notified;
    b.store->table("example.com/others");  // who is told may ask for one
  });
  b.maps = b.store->table("example.com/widgets");
  EXPECT_EQ(b.maps, api::all_kinds().size());
  EXPECT_EQ(b.store->table("example.com/widgets"), b.maps);
  b.put("a");
  b.env.settle();
  EXPECT_EQ(notified, 0);
  b.maps = maps;
  b.put("m");
  b.env.settle();
  EXPECT_EQ(notified, 1);
  subscription.reset();
  b.store.reset();
  b.store = *Store::open(b.env, b.kv);
  EXPECT_TRUE(b.store->broken().empty());
  const std::uint32_t again = b.store->table("example.com/widgets");
  ASSERT_NE(b.store->find(again, "n", "a", View::kDurable), nullptr);
  EXPECT_EQ(text(b.store->missed(again, 1, SIZE_MAX)->events), "+a ");
}

TEST(Store, what_was_missed_comes_in_pieces) {
  Bench b;
  const std::int64_t since = b.store->revision();
  for (const char* name : {"a", "b", "c"}) b.put(name, std::string(1000, 'x'));
  b.env.settle();
  const auto first = *b.store->missed(b.maps, since, 1);
  EXPECT_EQ(text(first.events), "+a ");
  EXPECT_TRUE(first.more);
  const auto second = *b.store->missed(b.maps, first.until, 1500);
  EXPECT_EQ(text(second.events), "+b +c ");
  EXPECT_FALSE(second.more);
  EXPECT_EQ(second.until, b.store->revision());
  EXPECT_TRUE(b.store->missed(b.maps, second.until, 1)->events.empty());
  // Events of other kinds are passed over.
  EXPECT_EQ(b.store->missed(b.maps + 1, since, 1)->until, b.store->revision());
}

TEST(Store, a_subscription_may_end_another_and_begin_one_while_it_is_told) {
  Bench b;
  std::string notified;
  std::unique_ptr<Subscription> second, third;
  auto first = *b.store->subscribe(b.maps, b.store->revision(), [&](const std::vector<Event>&) {
    notified += "first ";
    second.reset();
    if (!third)
      third =
          *b.store->subscribe(b.maps, b.store->revision(), [&](const std::vector<Event>&) { notified += "third "; });
  });
  second = *b.store->subscribe(b.maps, b.store->revision(), [&](const std::vector<Event>&) { notified += "second "; });
  b.put("a");
  b.env.settle();
  EXPECT_EQ(notified, "first ");
  b.put("b");
  b.env.settle();
  EXPECT_EQ(notified, "first first third ");
}

// A runtime that hangs holds a thread of the pool until somebody ends it.
TEST(Store, commits_while_eight_runtimes_hang) {
  const auto kv = rt::make_memory_kv();
  const auto env = rt::make_real_env("test");
  const auto store = *Store::open(*env, *kv);
  const auto maps = static_cast<std::uint32_t>(api::find_kind(api::resources::kConfigMaps) - api::all_kinds().data());
  std::promise<void> release, written;
  const auto held = release.get_future().share();
  std::latch hanging(8);
  env->loop().post([&] {
    for (int i = 0; i < 8; ++i)
      env->offload(
          [&hanging, held] {
            hanging.count_down();
            held.wait();
          },
          [] {});
  });
  hanging.wait();
  env->loop().post([&] {
    store->put(maps, Json::object({{"metadata", Json::object({{"namespace", "n"}, {"name", "a"}})}}),
               [&](base::Result<ObjectPtr> result) {
                 EXPECT_TRUE(result.ok());
                 written.set_value();
               });
  });
  base::await(written);
  release.set_value();
  env->stop();
}

TEST(Store, a_dropped_subscription_hears_nothing) {
  Bench b;
  int received = 0;
  {
    auto subscription =
        *b.store->subscribe(b.maps, b.store->revision(), [&](const std::vector<Event>&) { ++received; });
    b.put("a");
    b.env.settle();
  }
  b.put("b");
  b.env.settle();
  EXPECT_EQ(received, 1);
}

}  // namespace
}  // namespace store
