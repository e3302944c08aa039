// A driver that stands by: it watches, decides and writes nothing, and lists nothing again when it begins.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "controllers/all.h"
#include "controllers/framework/driver.h"
#include "controllers/framework/driver_fakes_for_tests.h"

namespace controllers {
namespace {

using api::Json;
using driver_fakes::FakeEnv;
namespace resources = api::resources;

Json named(std::string_view kind, std::string_view name, std::string_view data = "") {
  return Json::object({{"apiVersion", "v1"},
                       {"kind", kind},
                       {"metadata", Json::object({{"name", name}, {"namespace", "ns"}})},
                       {"data", data}});
}

Json definition(const char* plural, const char* kind) {
  return api::parse_json(base::format(R"({{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {{"name": "{0}.example.org"}},
        "spec": {{"group": "example.org", "scope": "Namespaced", "names": {{"plural": "{0}", "kind": "{1}"}},
                 "versions": [{{"name": "v1", "served": true, "storage": true}}]}},
        "status": {{"conditions": [{{"type": "Established", "status": "True"}}],
                   "acceptedNames": {{"plural": "{0}", "kind": "{1}"}}}}}})",
                                      plural, kind))
      .value();
}

// For every ConfigMap, and every object of a kind that a definition adds, a Secret of its name.
class Copier final : public Controller {
 public:
  std::string_view name() const override { return "copier"; }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kConfigMaps, key_itself()},
            {resources::kSecrets, [](const View&, const Json&) { return Keys{}; }}};
  }
  bool follows_definitions() const override { return true; }
  std::vector<Wake> wakes_on_kind(const api::ResourceId& resource) override { return {{resource, key_itself()}}; }
  Plan step(const View& view, const std::string& key, const Turn&) override {
    steps.push_back(key);
    Plan plan;
    if (view.find(resources::kSecrets, key)) return plan;
    plan.begin_stage();
    plan.create(resources::kSecrets, named("Secret", key.substr(key.find('/') + 1)));
    return plan;
  }
  std::vector<std::string> steps;

 private:
  static std::function<Keys(const View&, const Json&)> key_itself() {
    return [](const View&, const Json& object) { return Keys{api::key_of(object)}; };
  }
};

class StandbyTest : public ::testing::Test {
 protected:
  StandbyTest() : client(env), driver(std::make_unique<Driver>(env, client, "test")) {
    auto made = std::make_unique<Copier>();
    copier = made.get();
    driver->add(std::move(made));
    client.put(resources::kConfigMaps, named("ConfigMap", "a"));
    client.put(resources::kConfigMaps, named("ConfigMap", "b"));
  }
  void run() { env.loop().run(base::seconds(1)); }
  std::ptrdiff_t lists() const {
    return std::ranges::count_if(client.calls, [](const auto& call) { return call.verb == client::Verb::kList; });
  }
  std::ptrdiff_t writes() const { return std::ssize(client.calls) - lists(); }

  FakeEnv env;
  client::testing::FakeClient client;
  std::unique_ptr<Driver> driver;
  Copier* copier = nullptr;
};

TEST_F(StandbyTest, it_sees_everything_and_does_nothing) {
  driver->stand_by();
  run();
  EXPECT_TRUE(driver->synced());
  for (int i = 0; i < 100; ++i) client.put(resources::kConfigMaps, named("ConfigMap", "a", std::to_string(i)));
  client.put(resources::kConfigMaps, named("ConfigMap", "c"));
  run();
  EXPECT_EQ(copier->steps.size(), 0u);
  EXPECT_EQ(writes(), 0);
  EXPECT_EQ(driver->keys_remembered(), 0u);
}

TEST_F(StandbyTest, it_begins_with_what_it_has_seen_and_lists_nothing) {
  driver->stand_by();
  run();
  for (int i = 0; i < 100; ++i) client.put(resources::kConfigMaps, named("ConfigMap", "a", std::to_string(i)));
  client.put(resources::kConfigMaps, named("ConfigMap", "c"));
  client.erase(resources::kConfigMaps, "ns/b");
  run();
  const auto before = lists();
  client.list_failures.assign(10, base::make_error(base::Code::kUnavailable, "no list is answered"));
  driver->start();
  env.loop().run({});
  EXPECT_EQ(copier->steps, (std::vector<std::string>{"ns/a", "ns/c"}));
  run();
  EXPECT_EQ(lists(), before);
  EXPECT_NE(client.find(resources::kSecrets, "ns/a"), nullptr);
  EXPECT_EQ(client.find(resources::kSecrets, "ns/b"), nullptr);
  client.put(resources::kConfigMaps, named("ConfigMap", "d"));
  run();
  EXPECT_NE(client.find(resources::kSecrets, "ns/d"), nullptr);
}

TEST_F(StandbyTest, one_that_begins_before_it_has_seen_everything_waits_for_that) {
  client.list_failures.assign(1, base::make_error(base::Code::kUnavailable, "the first list is not answered"));
  driver->stand_by();
  env.loop().run({});
  driver->start();
  env.loop().run({});
  EXPECT_FALSE(driver->synced());
  EXPECT_EQ(copier->steps.size(), 0u);
  run();
  EXPECT_TRUE(driver->synced());
  EXPECT_NE(client.find(resources::kSecrets, "ns/a"), nullptr);
  EXPECT_NE(client.find(resources::kSecrets, "ns/b"), nullptr);
}

TEST_F(StandbyTest, kinds_of_strangers_come_and_go_meanwhile) {
  client.put({"example.org", "v1", "stays"}, named("Stay", "s"));
  client.put({"example.org", "v1", "goes"}, named("Go", "g"));
  client.put(resources::kCustomResourceDefinitions, definition("stays", "Stay"));
  client.put(resources::kCustomResourceDefinitions, definition("goes", "Go"));
  driver->stand_by();
  run();
  client.erase(resources::kCustomResourceDefinitions, "goes.example.org");
  run();
  driver->start();
  run();
  EXPECT_NE(client.find(resources::kSecrets, "ns/s"), nullptr);
  EXPECT_EQ(client.find(resources::kSecrets, "ns/g"), nullptr);
}

// The list of one kind is never answered.
class HoldsBack final : public client::testing::FakeClient {
 public:
  using FakeClient::FakeClient;
  void call(client::Request request, OnResult on_result) override {
    if (request.resource.plural != "goes") FakeClient::call(std::move(request), std::move(on_result));
  }
};

TEST(Start, goes_on_when_a_kind_goes_before_it_was_listed) {
  FakeEnv env;
  HoldsBack client(env);
  Driver driver(env, client, "test");
  driver.add(std::make_unique<Copier>());
  client.put(resources::kConfigMaps, named("ConfigMap", "a"));
  client.put(resources::kCustomResourceDefinitions, definition("goes", "Go"));
  driver.start();
  env.loop().run(base::seconds(1));
  EXPECT_FALSE(driver.synced());
  client.erase(resources::kCustomResourceDefinitions, "goes.example.org");
  env.loop().run(base::seconds(1));
  EXPECT_TRUE(driver.synced());
  EXPECT_NE(client.find(resources::kSecrets, "ns/a"), nullptr);
}

TEST_F(StandbyTest, one_that_never_begins_ends) {
  driver->stand_by();
  run();
  driver.reset();
  run();
  EXPECT_EQ(writes(), 0);
}

// All controllers of a cluster, with an object for some of them.
TEST(StandbyManager, a_group_is_made_without_a_list) {
  FakeEnv env;
  client::testing::FakeClient client(env);
  Json pod = named("Pod", "p");
  pod.set("spec", Json::object({{"schedulerName", "volcano"}, {"containers", Json::array()}}));
  client.put(resources::kPods, std::move(pod));
  Manager manager(env, client, {});
  manager.stand_by();
  env.loop().run(base::seconds(60));
  ASSERT_TRUE(manager.synced());
  for (const client::Request& call : client.calls) EXPECT_EQ(call.verb, client::Verb::kList) << call.resource.plural;
  client.calls.clear();
  manager.start();
  env.loop().run(base::milliseconds(100));
  ASSERT_FALSE(client.calls.empty());
  for (const client::Request& call : client.calls) EXPECT_NE(call.verb, client::Verb::kList) << call.resource.plural;
  EXPECT_EQ(client.table(resources::kPodGroups).size(), 1u);
}

}  // namespace
}  // namespace controllers
