// Revisions, durability, history, and what happens when the disk says no.
#include "store/store.h"

#include <gtest/gtest.h>

#include "api/kinds.h"
#include "client/testing/fake_env.h"

namespace store {
namespace {

using api::Json;

// A disk that can be full.
class FlakyKv : public rt::KvStore {
 public:
  base::Status commit(const std::function<void(rt::KvWriter&)>& changes) override {
    if (full) return base::make_error(base::Code::kUnavailable, "cannot write to /data: No space left on device");
    ++commits;
    return inner->commit(changes);
  }
  base::Status scan(std::string_view begin, std::string_view end,
                    const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    return inner->scan(begin, end, visit);
  }

  std::unique_ptr<rt::KvStore> inner = rt::make_memory_kv();
  bool full = false;
  int commits = 0;
};

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
  b.put("b");
  b.env.settle();
  EXPECT_EQ(b.store->find(b.maps, "n", "b", View::kDurable)->revision, revision + 1);
  EXPECT_FALSE(b.store->failing());
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

TEST(Store, a_dropped_subscription_hears_nothing) {
  Bench b;
  int heard = 0;
  {
    auto subscription = *b.store->subscribe(b.maps, b.store->revision(), [&](const std::vector<Event>&) { ++heard; });
    b.put("a");
    b.env.settle();
  }
  b.put("b");
  b.env.settle();
  EXPECT_EQ(heard, 1);
}

}  // namespace
}  // namespace store
