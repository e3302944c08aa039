// A key that was refused something, and a change that may be what it waits for.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/driver_fakes_for_tests.h"

namespace controllers {
namespace {

using api::Json;
using driver_fakes::FakeClient;
using driver_fakes::FakeEnv;

// Makes one Secret for each ConfigMap.
class Maker final : public Controller {
 public:
  std::string_view name() const override { return "maker"; }
  std::vector<Wake> wakes_on() const override {
    return {{api::resources::kConfigMaps, [](const View&, const Json& one) { return Keys{api::key_of(one)}; }},
            {api::resources::kResourceQuotas, [](const View&, const Json&) { return Keys{}; }}};
  }
  Plan step(const View&, const std::string&, const Turn&) override {
    Plan plan;
    if (!made)
      plan.create(api::resources::kSecrets,
                  *api::parse_json(R"({"kind": "Secret", "metadata": {"name": "s", "namespace": "ns"}})"));
    return plan;
  }
  void finished(const std::string&, Ending ending) override { made = made || ending.succeeded; }
  bool made = false;
};

TEST(Hints, room_in_a_quota_wakes_at_once_what_was_refused_in_its_namespace) {
  for (const bool here : {true, false}) {
    FakeEnv env;
    FakeClient client(env);
    Driver driver(env, client, "test");
    driver.add(std::make_unique<Maker>());
    driver.start();
    env.loop().run(base::milliseconds(10));
    int version = 10;
    const auto show_quota = [&](int used) {
      constexpr std::string_view kQuota = R"({{"metadata": {{"name": "q", "namespace": "{}", "uid": "Q",
          "resourceVersion": "{}"}}, "status": {{"used": {{"pods": "{}"}}}}}})";
      client.show("resourcequotas", *api::parse_json(base::format(kQuota, here ? "ns" : "other", ++version, used)));
    };
    show_quota(4);
    client.answers.assign(18, base::Code::kForbidden);
    client.show("configmaps",
                *api::parse_json(R"({"metadata": {"name": "c", "namespace": "ns", "resourceVersion": "5"}})"));
    env.loop().run(base::minutes(2));  // the pauses are half a minute by now
    client.answers.clear();
    const std::size_t before = client.calls.size();
    env.loop().run(base::seconds(1));
    ASSERT_EQ(client.calls.size(), before);
    show_quota(5);
    env.loop().run(base::seconds(1));
    ASSERT_EQ(client.calls.size(), before) << "less room is not news";
    show_quota(3);
    env.loop().run(base::seconds(1));
    EXPECT_EQ(client.calls.size(), before + (here ? 1 : 0));
  }
}

}  // namespace
}  // namespace controllers
