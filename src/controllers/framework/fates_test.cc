// Actions with a fate: which of a plan still happen once the server has refused some?
#include <gtest/gtest.h>

#include <set>

#include "base/format.h"
#include "controllers/framework/driver_fakes_for_tests.h"

namespace controllers {
namespace {

using driver_fakes::FakeClient;
using driver_fakes::FakeEnv;

// For the ConfigMap the plan of the test, once.
class FatesController final : public Controller {
 public:
  std::string_view name() const override { return "fates"; }
  std::vector<Wake> wakes_on() const override {
    return {{api::resources::kConfigMaps, [](const View&, const api::Json& one) { return Keys{api::key_of(one)}; }}};
  }
  Plan step(const View&, const std::string&, const Turn&) override { return std::exchange(plan, Plan()); }
  void finished(const std::string&, Ending ending) override { endings.push_back(std::move(ending)); }
  Plan plan;
  std::vector<Ending> endings;
};

class FatesTest : public ::testing::Test {
 protected:
  FatesTest() : client(env), driver(env, client, "test") {
    auto made = std::make_unique<FatesController>();
    controller = made.get();
    driver.add(std::move(made));
    driver.start();
    env.loop().run(base::milliseconds(10));
    controller->plan.set_subject(object("ConfigMap", "c"));
  }
  static api::Json object(std::string_view kind, std::string_view name) {
    return api::Json::object(
        {{"apiVersion", "v1"},
         {"kind", kind},
         {"metadata",
          api::Json::object({{"name", name}, {"namespace", "ns"}, {"uid", name}, {"resourceVersion", "5"}})}});
  }
  void create(std::string_view name, std::string_view fate) {
    controller->plan.create(api::resources::kSecrets, object("Secret", name)).fate = fate;
  }
  void patch(std::string_view name, std::string_view fate) {
    const api::Json secret = object("Secret", name);
    controller->plan.patch(api::resources::kSecrets, secret, client::PatchType::kMerge, api::Json::object()).fate =
        fate;
  }
  const Ending& run() {
    client.show("configmaps", object("ConfigMap", "c"));
    env.loop().run(base::milliseconds(4));
    return controller->endings.at(0);
  }
  std::multiset<std::string> calls() const { return {client.calls.begin(), client.calls.end()}; }
  FakeEnv env;
  FakeClient client;
  Driver driver;
  FatesController* controller = nullptr;
};

TEST_F(FatesTest, a_refusal_stops_what_shares_its_fate_and_what_has_none) {
  controller->plan.begin_stage("NotMarked", "could not: [{}]");
  for (const char* name : {"a", "b", "c"}) patch(name, name);
  controller->plan.begin_stage("NotMade", "could not: [{}]");
  for (const char* name : {"a", "b", "c"}) create(name, name);
  controller->plan.begin_stage();
  create("last", "");
  client.answers = {base::Code::kMethodNotAllowed, base::Code::kForbidden};
  const Ending& ending = run();
  EXPECT_EQ(client.calls, (std::vector<std::string>{"secrets a", "secrets b", "secrets c", "secrets a", "secrets c"}));
  EXPECT_FALSE(ending.succeeded);
  EXPECT_EQ(ending.failures.size(), 1u);
  EXPECT_EQ(client.events, (std::vector<std::string>{"could not: [because]"}));
}

TEST_F(FatesTest, a_failure_without_a_fate_stops_all) {
  create("first", "");
  controller->plan.begin_stage();
  create("a", "a");
  client.answers = {base::Code::kForbidden};
  EXPECT_FALSE(run().succeeded);
  EXPECT_EQ(client.calls, (std::vector<std::string>{"secrets first"}));
}

TEST_F(FatesTest, an_outage_is_everybodys) {
  for (const char* name : {"a", "b"}) patch(name, name);
  controller->plan.begin_stage();
  for (const char* name : {"a", "b"}) patch(name, name);
  client.answers = {base::Code::kUnavailable};
  EXPECT_FALSE(run().succeeded);
  EXPECT_EQ(client.calls, (std::vector<std::string>{"secrets a", "secrets b"}));
}

TEST_F(FatesTest, of_many_that_are_alike_few_are_refused) {
  for (int i = 0; i < 1'000; ++i) create("large", "large");
  for (int i = 0; i < 3; ++i) create("small", "small");
  client.answers.assign(64, base::Code::kForbidden);  // as many as are under way when the first is refused
  EXPECT_FALSE(run().succeeded);
  EXPECT_EQ(calls().count("secrets large"), 64u);
  EXPECT_EQ(calls().count("secrets small"), 3u);
}

TEST_F(FatesTest, creations_of_very_many_fates_end_early) {
  for (int i = 0; i < 1'000; ++i) create("one", base::format("{}", i));
  client.answers.assign(1'000, base::Code::kForbidden);
  EXPECT_FALSE(run().succeeded);
  EXPECT_LT(client.calls.size(), 130u);
}

}  // namespace
}  // namespace controllers
