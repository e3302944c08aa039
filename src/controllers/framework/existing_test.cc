// The questions to the server, when a plan is carried out, about objects whose names are anybody's choice.
#include <gtest/gtest.h>

#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "controllers/framework/driver.h"

namespace controllers {
namespace {

using api::Json;
namespace resources = api::resources;

// Carries out one plan for every ConfigMap, and once more where that failed.
class Doer final : public Controller {
 public:
  explicit Doer(std::function<void(Plan&, const Json&)> fill) : fill_(std::move(fill)) {}
  std::string_view name() const override { return "doer"; }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kConfigMaps, [](const View&, const Json& object) { return Keys{api::key_of(object)}; }}};
  }
  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    if (const Json* map = view.find(resources::kConfigMaps, key); map && !done) fill_(plan, *map);
    return plan;
  }
  void finished(const std::string&, Ending ending) override {
    done = ending.succeeded;
    fetched = std::move(ending.fetched);
  }
  bool done = false;
  std::vector<Json> fetched;

 private:
  std::function<void(Plan&, const Json&)> fill_;
};

class ExistingTest : public testing::Test {
 protected:
  void start(std::function<void(Plan&, const Json&)> fill) {
    auto made = std::make_unique<Doer>(std::move(fill));
    doer = made.get();
    driver = std::make_unique<Driver>(env, client, "test");
    driver->add(std::move(made));
    driver->start();
    client.put(resources::kConfigMaps, named("ConfigMap", "c", Json()));
    env.run_for(base::seconds(1));
  }
  static Json named(std::string_view kind, std::string_view name, Json owner) {
    Json metadata = Json::object({{"name", name}, {"namespace", "ns"}});
    if (!owner.is_null()) metadata.set("ownerReferences", Json::array({std::move(owner)}));
    return Json::object({{"apiVersion", "v1"}, {"kind", kind}, {"metadata", std::move(metadata)}});
  }
  static Json owner(std::string_view uid, std::string_view name = "c") {
    return Json::object({{"kind", "ConfigMap"}, {"name", name}, {"uid", uid}, {"controller", true}});
  }

  client::testing::FakeEnv env;
  client::testing::FakeClient client{env};
  std::unique_ptr<Driver> driver;
  Doer* doer = nullptr;
};

TEST_F(ExistingTest, one_of_an_earlier_owner_of_the_name_is_waited_for) {
  for (const auto& [of, waits] :
       {std::pair{owner("OLD"), true}, {owner("U"), false}, {owner("OLD", "d"), false}, {Json(), false}}) {
    client.erase(resources::kSecrets, "ns/s");
    client.erase(resources::kConfigMaps, "ns/c");
    client.put(resources::kSecrets, named("Secret", "s", of));
    start([](Plan& plan, const Json&) {
      plan.create(resources::kSecrets, named("Secret", "s", owner("U"))).existing_is_fine = true;
    });
    EXPECT_EQ(doer->done, !waits) << of.dump();
    client.erase(resources::kSecrets, "ns/s");
    env.run_for(base::seconds(60));
    EXPECT_TRUE(doer->done) << of.dump();
    EXPECT_EQ(client.find(resources::kSecrets, "ns/s") != nullptr, waits) << of.dump();
  }
}

TEST_F(ExistingTest, what_no_view_holds_is_removed_only_from_its_owner) {
  for (const auto& [of, goes] : {std::pair{owner("U"), true}, {owner("OLD"), false}, {Json(), false}}) {
    client.erase(resources::kConfigMaps, "ns/c");
    client.put(resources::kSecrets, named("Secret", "s", of));
    client.calls.clear();
    start([](Plan& plan, const Json&) {
      plan.remove_by_name(resources::kSecrets, "Secret", "ns", "s").body = Json("U");
      plan.remove_by_name(resources::kSecrets, "Secret", "ns", "missing").body = Json("U");
    });
    EXPECT_TRUE(doer->done) << of.dump();
    EXPECT_EQ(client.find(resources::kSecrets, "ns/s") == nullptr, goes) << of.dump();
    for (const client::Request& one : client.calls)
      if (one.verb == client::Verb::kDelete) {
        EXPECT_FALSE(one.body["preconditions"]["uid"].as_string().empty());
      }
  }
}

TEST_F(ExistingTest, nobody_is_asked_for_what_cannot_be_a_name) {
  const std::string_view names[] = {"", ".", "..", "a/b", "../../x", "a%2Fb"};
  start([&names](Plan& plan, const Json&) {
    for (const std::string_view name : names) {
      plan.fetch(resources::kSecrets, "Secret", "ns", name);
      plan.require_gone(resources::kSecrets, "Secret", "ns", name, "U");
    }
  });
  EXPECT_TRUE(doer->done);
  ASSERT_EQ(doer->fetched.size(), std::size(names));
  for (const Json& one : doer->fetched) EXPECT_TRUE(one.is_null());
  for (const client::Request& one : client.calls) EXPECT_NE(one.resource, resources::kSecrets) << one.name;
}

}  // namespace
}  // namespace controllers
