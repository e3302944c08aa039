// The promises of an informer: the first list in pages, changes once and in order, and recovery from broken watches.
#include "client/watch/informer.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace client {
namespace {

using api::Json;

Json pod(const std::string& name, const std::string& node = "n1") {
  return Json::object({{"metadata", Json::object({{"name", name}, {"namespace", "ns"}})},
                       {"spec", Json::object({{"nodeName", node}})}});
}

struct World {
  testing::FakeEnv env;
  testing::FakeClient server{env};
  Informer informer{server, env, api::resources::kPods};
  std::vector<std::string> log;

  World() {
    informer.on_change([this](const Json* before, const Json* after, bool initial) {
      const std::string name(api::name_of(after != nullptr ? *after : *before));
      log.push_back((before == nullptr  ? "add "
                     : after == nullptr ? "delete "
                                        : "update ") +
                    name + (initial ? " initial" : ""));
    });
    informer.add_index("node",
                       [](const Json& object) { return std::vector<std::string>{object["spec"]["nodeName"].str()}; });
  }
  void start() {
    informer.start();
    env.run_for(base::seconds(1));
  }
};

using Log = std::vector<std::string>;

TEST(Informer, DeliversTheFirstListThenSaysThatItIsSynced) {
  World world;
  world.server.put(api::resources::kPods, pod("a"));
  world.server.put(api::resources::kPods, pod("b"));
  bool synced = false;
  world.informer.on_synced([&] { synced = world.log.size() == 2; });
  EXPECT_FALSE(world.informer.synced());
  world.start();
  EXPECT_TRUE(synced);
  EXPECT_EQ(world.log, (Log{"add a initial", "add b initial"}));
  EXPECT_EQ(world.informer.find("ns/a")->find("kind")->as_string(), "Pod");
}

TEST(Informer, FollowsPages) {
  World world;
  for (char c = 'a'; c < 'h'; ++c) world.server.put(api::resources::kPods, pod(std::string(1, c)));
  world.server.page_max = 3;
  world.start();
  EXPECT_EQ(world.informer.objects().size(), 7u);
  EXPECT_EQ(world.server.calls.size(), 3u);
  EXPECT_EQ(world.server.calls[0].limit, 500);
}

TEST(Informer, takes_the_first_list_page_by_page) {
  World world;
  for (char c = 'a'; c < 'h'; ++c) world.server.put(api::resources::kPods, pod(std::string(1, c)));
  world.server.page_max = 3;
  std::size_t asked_before_first = 0;
  world.informer.on_change([&](const Json*, const Json*, bool) {
    if (asked_before_first == 0) asked_before_first = world.server.calls.size();
    EXPECT_FALSE(world.informer.synced());
  });
  std::size_t known_when_synced = 0;
  world.informer.on_synced([&] { known_when_synced = world.log.size(); });
  world.start();
  EXPECT_EQ(asked_before_first, 1u);
  EXPECT_EQ(known_when_synced, 7u);
}

TEST(Informer, AsksForEverythingAtOnceWhenATokenExpires) {
  World world;
  for (char c = 'a'; c < 'h'; ++c) world.server.put(api::resources::kPods, pod(std::string(1, c)));
  world.server.page_max = 3;
  world.server.expire_tokens = true;
  world.start();
  EXPECT_EQ(world.informer.objects().size(), 7u);
  EXPECT_EQ(world.server.calls.back().limit, 0);
  EXPECT_EQ(world.log.size(), 7u);  // what the first page said is not said again
}

TEST(Informer, PassesOnChangesAndKeepsIndexes) {
  World world;
  world.start();
  world.server.put(api::resources::kPods, pod("a", "n1"));
  world.server.put(api::resources::kPods, pod("b", "n1"));
  world.server.put(api::resources::kPods, pod("a", "n2"));
  world.env.settle();
  EXPECT_EQ(world.informer.by_index("node", "n1").size(), 1u);
  EXPECT_EQ(api::name_of(*world.informer.by_index("node", "n2").front()), "a");
  world.server.erase(api::resources::kPods, "ns/a");
  world.env.settle();
  EXPECT_TRUE(world.informer.by_index("node", "n2").empty());
  EXPECT_EQ(world.log, (Log{"add a", "add b", "update a", "delete a"}));
}

TEST(Informer, ResumesABrokenWatchWhereItWas) {
  World world;
  world.server.put(api::resources::kPods, pod("a"));
  world.start();
  world.server.bookmark();
  world.server.break_watches(base::Code::kUnavailable);
  world.server.put(api::resources::kPods, pod("b"));
  world.env.run_for(base::seconds(5));
  EXPECT_EQ(world.log, (Log{"add a initial", "add b"}));
  ASSERT_EQ(world.server.watched_from.size(), 2u);
  EXPECT_EQ(world.server.watched_from[1], "2");  // the bookmark's version
  EXPECT_EQ(world.server.calls.size(), 1u);      // no second list
}

TEST(Informer, ListsAgainWhenHistoryIsGoneAndReportsWhatWasMissed) {
  World world;
  for (const char* name : {"a", "b", "c"}) world.server.put(api::resources::kPods, pod(name));
  world.start();
  world.log.clear();
  world.server.mute = true;
  world.server.erase(api::resources::kPods, "ns/a");
  world.server.put(api::resources::kPods, pod("b", "n9"));
  world.server.put(api::resources::kPods, pod("d"));
  world.server.mute = false;
  world.server.break_watches(base::Code::kExpired, true);
  world.env.run_for(base::seconds(5));
  EXPECT_EQ(world.log, (Log{"delete a", "update b", "add d"}));
}

TEST(Informer, KeepsIdentitiesOnlyForWhoAsksForIt) {
  testing::FakeEnv env;
  testing::FakeClient server{env};
  Informer informer{server, env, api::resources::kPods, {.keep = InformerOptions::Keep::kIdentities}};
  Log log;
  informer.on_change([&](const Json* before, const Json* after, bool) {
    const Json& seen = after != nullptr ? *after : *before;
    log.push_back(std::string(after != nullptr ? "set " : "gone ") + seen["metadata"]["name"].str() +
                  seen["spec"]["nodeName"].str());
  });
  server.put(api::resources::kPods, pod("a", "n1"));
  server.put(api::resources::kPods, pod("b", "n1"));
  informer.start();
  env.run_for(base::seconds(1));
  ASSERT_TRUE(informer.identity("ns/a"));
  EXPECT_FALSE(informer.identity("ns/c"));
  server.put(api::resources::kPods, pod("a", "n2"));
  env.run_for(base::seconds(1));
  server.mute = true;
  server.erase(api::resources::kPods, "ns/b");
  server.mute = false;
  server.break_watches(base::Code::kExpired, true);
  env.run_for(base::seconds(5));
  EXPECT_EQ(log, (Log{"set an1", "set bn1", "set an2", "gone b"}));
}

// Keeps pods that have a node, and who they are.
struct Keeper final : KnownObjects {
  std::map<std::string, Json, std::less<>> pods;

  void take(const Json* before, const Json* after) {
    if (before != nullptr) pods.erase(api::key_of(*before));
    if (after != nullptr && !(*after)["spec"]["nodeName"].as_string().empty()) pods[api::key_of(*after)] = *after;
  }
  static Identity identity_of(std::string_view key, const Json& pod) {
    return {key, api::uid_of(pod), api::resource_version_of(pod)};
  }
  std::optional<Identity> find(std::string_view key) const override {
    const auto found = pods.find(key);
    return found == pods.end() ? std::nullopt : std::optional(identity_of(found->first, found->second));
  }
  void for_each(const std::function<void(const Identity&)>& visit) const override {
    for (const auto& [key, pod] : pods) visit(identity_of(key, pod));
  }
};

TEST(Informer, KeepsNothingForWhoKnowsItsObjects) {
  testing::FakeEnv env;
  testing::FakeClient server{env};
  server.page_max = 2;
  Keeper keeper;
  Informer informer{server, env, api::resources::kPods, {.keep = InformerOptions::Keep::kIdentities, .known = &keeper}};
  Log log;
  informer.on_change([&](const Json* before, const Json* after, bool) {
    const Json& seen = after != nullptr ? *after : *before;
    log.push_back((before == nullptr ? "new " : after != nullptr ? "set " : "gone ") + seen["metadata"]["name"].str());
    keeper.take(before, after);
  });
  for (const char* name : {"a", "b", "c"}) server.put(api::resources::kPods, pod(name));
  server.put(api::resources::kPods, pod("free", ""));
  informer.start();
  env.run_for(base::seconds(1));
  EXPECT_EQ(std::exchange(log, {}), (Log{"new a", "new b", "new c", "new free"}));
  EXPECT_TRUE(informer.identity("ns/a"));
  EXPECT_FALSE(informer.identity("ns/free"));
  server.put(api::resources::kPods, pod("a", "n2"));
  server.put(api::resources::kPods, pod("free", ""));  // nobody knows it
  env.run_for(base::seconds(1));
  EXPECT_EQ(std::exchange(log, {}), (Log{"set a", "new free"}));
  server.mute = true;
  server.erase(api::resources::kPods, "ns/b");
  server.erase(api::resources::kPods, "ns/free");
  server.erase(api::resources::kPods, "ns/c");
  server.put(api::resources::kPods, pod("c"));
  server.mute = false;
  server.break_watches(base::Code::kExpired, true);
  env.run_for(base::seconds(5));
  EXPECT_EQ(log, (Log{"gone b", "gone c", "new c"}));
}

TEST(Informer, ReportsAReplacedObjectAsADeletionAndAnAddition) {
  World world;
  world.server.put(api::resources::kPods, pod("a"));
  world.start();
  world.log.clear();
  world.server.mute = true;
  world.server.erase(api::resources::kPods, "ns/a");
  world.server.put(api::resources::kPods, pod("a"));
  world.server.mute = false;
  world.server.break_watches(base::Code::kExpired, true);
  world.env.run_for(base::seconds(5));
  EXPECT_EQ(world.log, (Log{"delete a", "add a"}));
}

TEST(Informer, RetriesAListThatFailsWithGrowingDelay) {
  World world;
  world.server.put(api::resources::kPods, pod("a"));
  for (int i = 0; i < 4; ++i) world.server.list_failures.push_back(base::make_error(base::Code::kUnavailable, "down"));
  world.start();
  EXPECT_FALSE(world.informer.synced());
  world.env.run_for(base::seconds(5));
  EXPECT_TRUE(world.informer.synced());
  EXPECT_EQ(world.server.calls.size(), 5u);
}

TEST(Informer, goes_in_no_circle_of_pages) {
  World world;
  world.server.put(api::resources::kPods, pod("a"));
  world.server.circle = "again";
  world.start();
  EXPECT_FALSE(world.informer.synced());
  EXPECT_EQ(world.informer.trouble(), "pods cannot be listed: its list comes back to the page at \"again\"");
  EXPECT_LT(world.server.calls.size(), 20u);
  world.server.circle.clear();
  world.env.run_for(base::seconds(60));
  EXPECT_TRUE(world.informer.synced());
  EXPECT_EQ(world.informer.objects().size(), 1u);
  EXPECT_EQ(world.informer.trouble(), "");
}

TEST(Informer, lists_again_where_its_version_is_refused) {
  World world;
  world.server.put(api::resources::kPods, pod("a"));
  world.start();
  world.log.clear();
  world.server.mute = true;
  world.server.put(api::resources::kPods, pod("b"));
  world.server.mute = false;
  world.server.break_watches(base::Code::kBadRequest, true);
  world.env.run_for(base::seconds(60));
  EXPECT_EQ(world.log, Log{"add b"});
}

// Events before it made it look new each time: six watches a second of each kind, and no word of it.
TEST(Informer, pauses_longer_after_events_that_cannot_be_read) {
  World world;
  world.start();
  for (int i = 0; i < 60; ++i) {
    world.server.put(api::resources::kPods, pod("a"));
    world.server.break_watches(base::Code::kInternal);
    world.env.run_for(base::seconds(1));
  }
  EXPECT_LT(world.server.watched_from.size(), 12u);
  EXPECT_NE(world.informer.trouble().find("pods cannot be watched: "), std::string::npos) << world.informer.trouble();
  world.env.run_for(base::seconds(60));
  world.server.put(api::resources::kPods, pod("b"));
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(world.log.back(), "add b");
  EXPECT_EQ(world.informer.trouble(), "");
}

// No other sign would show it: no event comes, and who hears of none has nothing to write that would fail.
TEST(Informer, tells_of_watches_that_end_soon_again_and_again) {
  World world;
  world.start();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(world.informer.trouble(), "") << i;
    world.server.break_watches(base::Code::kUnauthorized);
    world.env.run_for(base::seconds(5));
  }
  EXPECT_NE(world.informer.trouble().find("pods cannot be watched: "), std::string::npos) << world.informer.trouble();
  world.server.put(api::resources::kPods, pod("b"));
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(world.informer.trouble(), "");
}

TEST(Informer, is_silent_about_watches_that_end_after_their_time) {
  World world;
  world.start();
  for (int i = 0; i < 5; ++i) {
    world.env.run_for(base::seconds(300));
    world.server.break_watches(base::Code::kUnavailable);
    world.env.run_for(base::seconds(1));
    EXPECT_EQ(world.informer.trouble(), "") << i;
  }
}

TEST(Informer, StaysSilentOnceItIsGone) {
  testing::FakeEnv env;
  testing::FakeClient server(env);
  int changes = 0;
  auto informer = std::make_unique<Informer>(server, env, api::resources::kPods);
  informer->on_change([&](const Json*, const Json*, bool) { ++changes; });
  informer->start();
  env.run_for(base::seconds(1));
  server.put(api::resources::kPods, pod("a"));
  informer.reset();
  env.run_for(base::seconds(1));
  EXPECT_EQ(changes, 0);
}

TEST(Informer, LooksAgainWhereItMayNotWatch) {
  World world;
  world.server.put(api::resources::kPods, pod("a"));
  world.start();
  world.log.clear();
  world.server.mute = true;
  world.server.break_watches(base::Code::kForbidden);
  world.server.put(api::resources::kPods, pod("b"));
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(world.log, (Log{"add b"}));
}

TEST(Informer, KeepsWhatItSawOfAResourceThatIsHiddenForAWhile) {
  World world;
  Informer informer{world.server, world.env, api::resources::kPods, {.may_be_absent = true}};
  world.server.put(api::resources::kPods, pod("a"));
  informer.start();
  world.env.run_for(base::seconds(1));
  ASSERT_NE(informer.find("ns/a"), nullptr);
  world.server.list_failures.push_back(base::make_error(base::Code::kForbidden, "not yet"));
  world.server.break_watches(base::Code::kExpired, true);
  world.env.run_for(base::seconds(5));
  EXPECT_NE(informer.find("ns/a"), nullptr);
}

}  // namespace
}  // namespace client
