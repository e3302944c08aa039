// In which order are the objects of several plans created?
#include "controllers/framework/create_slots.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "controllers/framework/driver.h"

namespace controllers {
namespace {

using api::Json;
namespace resources = api::resources;

// As many Secrets as a ConfigMap says, at once.
class Crowd final : public Controller {
 public:
  std::string_view name() const override { return "crowd"; }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kConfigMaps, [](const View&, const Json& object) { return Keys{api::key_of(object)}; }}};
  }
  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    const Json* map = view.find(resources::kConfigMaps, key);
    if (map == nullptr || ++steps[key] > 1) return plan;
    plan.set_subject(*map);
    plan.begin_stage("Failed", "could not: [{}]");
    for (int i = 0; i < std::stoi((*map)["data"]["count"].str()); ++i)
      plan.create(resources::kSecrets,
                  Json::object({{"kind", "Secret"},
                                {"metadata", Json::object({{"name", base::format("{}-{}", api::name_of(*map), i)},
                                                           {"namespace", "ns"}})}}));
    return plan;
  }
  std::map<std::string, int> steps;
};

class CreateOrder : public testing::Test {
 protected:
  CreateOrder() : driver(std::make_unique<Driver>(env, client, "test")) {
    driver->add(std::make_unique<Crowd>());
    driver->start();
    env.run_for(base::milliseconds(10));
  }
  void want(std::string_view name, int count) {
    client.put(resources::kConfigMaps, Json::object({{"metadata", Json::object({{"name", name}, {"namespace", "ns"}})},
                                                     {"data", Json::object({{"count", std::to_string(count)}})}}));
  }
  // For whom Secrets were made, one letter each.
  std::string order() const {
    std::string out;
    for (const client::Request& one : client.calls)
      if (one.verb == client::Verb::kCreate && one.resource == resources::kSecrets)
        out += api::name_of(one.body).front();
    return out;
  }

  client::testing::FakeEnv env;
  client::testing::FakeClient client{env};
  std::unique_ptr<Driver> driver;
};

// COMPAT(creation-order)
TEST_F(CreateOrder, plans_of_one_size_are_carried_out_one_after_the_other) {
  for (const char* name : {"a", "b", "c"}) want(name, 100);
  env.run_for(base::seconds(1));
  EXPECT_EQ(order(), std::string(100, 'a') + std::string(100, 'b') + std::string(100, 'c'));
}

TEST_F(CreateOrder, a_small_plan_overtakes_a_large_one_that_goes_on) {
  want("a", 500);
  for (const char* name : {"b", "c", "d", "e"}) want(name, 70);
  env.run_for(base::seconds(1));
  const std::string all = order();
  ASSERT_EQ(all.size(), 500u + 4 * 70u);
  const std::size_t last_small = all.find_last_of("bcde");
  EXPECT_LT(last_small, 64u + 4 * 70 * 8 / 7 + 2) << all;
  // The large one has every eighth slot meanwhile.
  EXPECT_GE(std::count(all.begin() + 64, all.begin() + static_cast<std::ptrdiff_t>(last_small), 'a'), 4 * 70 / 8)
      << all;
}

TEST_F(CreateOrder, what_a_failed_plan_does_not_create_holds_nobody_up) {
  client.failures.push_back(base::make_error(base::Code::kForbidden, "no"));
  want("a", 100);
  want("b", 100);
  env.run_for(base::seconds(1));
  const std::string all = order();
  EXPECT_EQ(std::count(all.begin(), all.end(), 'a'), 64) << all;
  EXPECT_EQ(std::count(all.begin(), all.end(), 'b'), 100) << all;
}

TEST_F(CreateOrder, a_driver_that_ends_lets_waiting_plans_go) {
  client.silent = true;
  want("a", 100);
  want("b", 100);
  env.run_for(base::seconds(1));
  EXPECT_EQ(order().size(), 64u);
  driver.reset();
  env.run_for(base::seconds(1));
  EXPECT_EQ(order().size(), 64u);
}

TEST(CreateSlots, who_is_closed_out_is_let_go) {
  CreateSlots slots(1);
  const auto kept = std::make_shared<int>();
  EXPECT_TRUE(slots.take(slots.next_number(), 1, [] {}));
  EXPECT_FALSE(slots.take(slots.next_number(), 1, [kept] {}));
  EXPECT_EQ(kept.use_count(), 2);
  slots.close();
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_FALSE(slots.take(slots.next_number(), 1, [kept] {}));
  EXPECT_EQ(kept.use_count(), 1);
  slots.give_back();
}

}  // namespace
}  // namespace controllers
