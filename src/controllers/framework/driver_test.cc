// The driver: stages, retries, old views, events about failures, and reading one's own writes.
#include "controllers/framework/driver.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/driver_fakes_for_tests.h"

namespace controllers {
namespace {

using api::Json;
using driver_fakes::FakeClient;
using driver_fakes::FakeEnv;
using driver_fakes::FakeLoop;
namespace resources = api::resources;

// For every ConfigMap: a Secret of the same name, then a Service.
class Maker final : public Controller {
 public:
  std::string_view name() const override { return "maker"; }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kConfigMaps, [](const View&, const Json& object) { return Keys{api::key_of(object)}; }},
            {resources::kSecrets, [](const View&, const Json&) { return Keys{}; }}};
  }
  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    ++steps;
    if (on_step) on_step();
    failures = turn.failures;
    Plan plan;
    const Json* map = view.find(resources::kConfigMaps, key);
    if (!map || view.find(resources::kSecrets, key)) return plan;
    plan.set_subject(*map);
    if (looks_again) plan.requeue_after({});
    Json metadata = Json::object({{"name", api::name_of(*map)}, {"namespace", api::namespace_of(*map)}});
    if (owns) metadata.set("ownerReferences", Json::array({api::controller_reference(*map)}));
    plan.begin_stage("Failed", "could not: [{}]");
    plan.create(resources::kSecrets, Json::object({{"kind", "Secret"}, {"metadata", metadata}, {"data", "new"}}))
        .existing_has = existing_has;
    plan.begin_stage();
    plan.create(resources::kServices, Json::object({{"kind", "Service"}, {"metadata", metadata}}));
    return plan;
  }
  int failures_max() const override { return limit; }
  int steps = 0;
  int failures = 0;
  int limit = -1;
  bool looks_again = false;  // at once
  std::function<void()> on_step;
  bool owns = false;
  std::optional<DataField> existing_has;
};

// Repeats what a ConfigMap's data say in its status: `count` is a number that may wait, `phase` is not.
class Reporter final : public Controller {
 public:
  Reporter(bool waits, int& looks) : waits_(waits), looks_(looks) {}
  std::string_view name() const override { return "reporter"; }
  std::vector<Wake> wakes_on() const override {
    const auto only_counts = [waits = waits_](const View&, const Json& before, const Json& after) {
      return waits && before["data"]["phase"] == after["data"]["phase"];
    };
    return {{.resource = resources::kConfigMaps,
             .keys = [](const View&, const Json& object) { return Keys{api::key_of(object)}; },
             .only_counts = only_counts}};
  }
  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    ++looks_;
    Plan plan;
    const Json& map = *view.find(resources::kConfigMaps, key);
    if (map["data"] == map["status"]) return plan;
    const bool counts_only = map["data"]["phase"] == map["status"]["phase"];
    if (counts_only && turn.counts_wait > base::Duration{}) {
      plan.requeue_after(turn.counts_wait);
      return plan;
    }
    Json next = map;
    next.set("status", map["data"]);
    plan.set_status(resources::kConfigMaps, std::move(next));
    return plan;
  }

 private:
  bool waits_;
  int& looks_;
};

// For every ConfigMap the plan that the test wants, until one has succeeded.
class Doer final : public Controller {
 public:
  std::string_view name() const override { return "doer"; }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kConfigMaps, [](const View&, const Json& object) { return Keys{api::key_of(object)}; }}};
  }
  Plan step(const View&, const std::string&, const Turn&) override { return endings.empty() ? plan : Plan(); }
  void finished(const std::string&, Ending ending) override { endings.push_back(std::move(ending)); }
  Plan plan;
  std::vector<Ending> endings;
};

Json config_map(std::string_view version = "5") {
  return Json::object(
      {{"apiVersion", "v1"},
       {"kind", "ConfigMap"},
       {"metadata", Json::object({{"name", "c"}, {"namespace", "ns"}, {"uid", "U"}, {"resourceVersion", version}})}});
}

class DriverTest : public ::testing::Test {
 protected:
  DriverTest() : client(env), driver(std::make_unique<Driver>(env, client, "test")) {
    auto made = std::make_unique<Maker>();
    maker = made.get();
    driver->add(std::move(made));
    driver->start();
    env.loop().run(base::milliseconds(10));
  }
  FakeEnv env;
  FakeClient client;
  std::unique_ptr<Driver> driver;
  Maker* maker = nullptr;
};

TEST_F(DriverTest, carries_out_stages_in_order_and_waits_for_its_own_write_to_show) {
  ASSERT_TRUE(driver->synced());
  client.show("configmaps", config_map());
  env.loop().run(base::milliseconds(100));
  EXPECT_EQ(client.calls, (std::vector<std::string>{"secrets c", "services c"}));
  EXPECT_EQ(maker->steps, 1);
  client.show("configmaps", config_map("6"));  // wakes the key, but the secret does not show yet
  env.loop().run(base::milliseconds(100));
  EXPECT_EQ(maker->steps, 1);
  client.show(
      "secrets",
      Json::object({{"kind", "Secret"},
                    {"metadata", Json::object({{"name", "c"}, {"namespace", "ns"}, {"resourceVersion", "7"}})}}));
  env.loop().run(base::seconds(1));
  EXPECT_EQ(maker->steps, 2);
  EXPECT_EQ(client.calls.size(), 2u);
}

TEST_F(DriverTest, an_old_view_is_silent_and_tried_again) {
  client.answers = {base::Code::kConflict, base::Code::kAlreadyExists};
  client.show("configmaps", config_map());
  env.loop().run(base::seconds(1));
  EXPECT_EQ(client.calls, (std::vector<std::string>{"secrets c", "secrets c", "secrets c", "services c"}));
  EXPECT_EQ(maker->failures, 0);
  EXPECT_TRUE(client.events.empty());
}

TEST_F(DriverTest, a_failure_stops_later_stages_is_reported_and_counted) {
  client.answers = {base::Code::kForbidden, base::Code::kInvalid};
  client.show("configmaps", config_map());
  env.loop().run(base::seconds(1));
  EXPECT_EQ(client.calls, (std::vector<std::string>{"secrets c", "secrets c", "secrets c", "services c"}));
  EXPECT_EQ(maker->failures, 2);
  ASSERT_FALSE(client.events.empty());
  EXPECT_EQ(client.events[0], "could not: [because]");
}

TEST_F(DriverTest, after_the_last_failure_the_step_that_gives_up_comes_at_once) {
  maker->limit = 11;
  client.answers.assign(12, base::Code::kInvalid);
  client.show("configmaps", config_map());
  env.loop().run(base::seconds(11));  // eleven waits that double from 5 ms: 10.2 s; the twelfth would be as long again
  EXPECT_EQ(maker->failures, 12);
}

// A controller that gives up does not give up what time may cure, and it is asked for at least every half a minute.
TEST_F(DriverTest, a_refusal_that_time_may_cure_is_not_counted_towards_a_limit) {
  maker->limit = 11;
  client.answers.assign(40, base::Code::kForbidden);
  client.show("configmaps", config_map());
  env.loop().run(base::minutes(15));
  EXPECT_EQ(maker->failures, 0);
  EXPECT_EQ(client.calls.back(), "services c");
}

// A plan that has more to do asks to be looked at again at once; that is for when it succeeds.
TEST_F(DriverTest, looking_again_at_once_does_not_pass_the_back_off_by) {
  maker->looks_again = true;
  client.answers.assign(1'000, base::Code::kForbidden);
  client.show("configmaps", config_map());
  env.loop().run(base::seconds(11));  // waits that double from 5 ms: eleven come to 10.2 s
  EXPECT_EQ(maker->steps, 12);
}

// A step that takes long is followed by a rest, which is longer than the first pauses of a back-off.
TEST(Driver, the_rest_of_a_costly_key_does_not_begin_its_back_off_anew) {
  FakeEnv env;
  FakeClient client(env);
  Driver driver(env, client, "test");
  auto made = std::make_unique<Maker>();
  Maker& maker = *made;
  maker.on_step = [&env] { env.loop().now = env.loop().now + base::milliseconds(1); };
  driver.add(std::move(made));
  driver.start();
  env.loop().run(base::milliseconds(10));
  client.answers.assign(1'000, base::Code::kForbidden);
  client.show("configmaps", config_map());
  env.loop().run(base::seconds(11));
  EXPECT_LE(maker.steps, 12);
  EXPECT_GE(maker.steps, 10);
}

// Reads the Secret in one step and makes the Service in the next, as long as the server refuses it.
class Asker final : public Controller {
 public:
  std::string_view name() const override { return "asker"; }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kConfigMaps, [](const View&, const Json& object) { return Keys{api::key_of(object)}; }}};
  }
  Plan step(const View&, const std::string&, const Turn&) override {
    Plan plan;
    if (!has_read_) {
      plan.fetch(resources::kSecrets, "Secret", "ns", "c");
      plan.requeue_after({});
    } else {
      plan.create(resources::kServices,
                  Json::object({{"metadata", Json::object({{"name", "c"}, {"namespace", "ns"}})}}));
    }
    return plan;
  }
  void finished(const std::string&, Ending ending) override { has_read_ = ending.succeeded && !ending.fetched.empty(); }

 private:
  bool has_read_ = false;
};

TEST(Driver, what_is_read_anew_before_each_try_does_not_begin_the_back_off_anew) {
  FakeEnv env;
  FakeClient client(env);
  for (int i = 0; i < 1'000; ++i)
    client.answers.push_back(i % 2 == 0 ? base::Code::kMethodNotAllowed : base::Code::kForbidden);
  Driver driver(env, client, "test");
  driver.add(std::make_unique<Asker>());
  driver.start();
  env.loop().run(base::milliseconds(10));
  client.show("configmaps", config_map());
  env.loop().run(base::seconds(11));
  EXPECT_EQ(client.calls.size(), 24u);  // twelve turns of two requests
}

TEST_F(DriverTest, an_existing_object_is_corrected_only_if_it_is_wrong) {
  for (const bool is_right : {true, false}) {
    client.calls.clear();
    // The server's object has no data: a field without text is right, any other is not.
    maker->existing_has = DataField{"config", is_right ? "" : "other"};
    client.answers = {base::Code::kAlreadyExists};
    client.show("configmaps", config_map(is_right ? "5" : "6"));
    env.loop().run(base::seconds(5));
    std::vector<std::string> calls = {"secrets c", "secrets c", "services c"};  // create, get, and the next stage
    if (!is_right) calls.insert(calls.begin(), "secrets c");
    EXPECT_EQ(std::vector<std::string>(client.calls.begin(),
                                       client.calls.begin() + static_cast<std::ptrdiff_t>(calls.size())),
              calls);
  }
}

TEST_F(DriverTest, an_existing_object_of_somebody_else_is_a_failure_that_is_said) {
  maker->existing_has = DataField{"config", "other"};
  maker->owns = true;
  client.answers = {base::Code::kAlreadyExists};
  bool put = false;
  client.on_write = [&put](const client::Request& request) { put = put || request.verb == client::Verb::kUpdate; };
  client.show("configmaps", config_map());
  env.loop().run(base::seconds(1));
  EXPECT_FALSE(put);
  EXPECT_GT(maker->failures, 0);
  ASSERT_FALSE(client.events.empty());
  EXPECT_EQ(client.events[0],
            "could not: [Secret ns/c exists and does not belong to ConfigMap c; delete it, or give the ConfigMap "
            "another name]");
}

TEST_F(DriverTest, an_outage_is_tried_again_and_not_counted) {
  client.answers = {base::Code::kUnavailable, base::Code::kTimeout, base::Code::kUnauthorized};
  client.show("configmaps", config_map());
  env.loop().run(base::seconds(1));
  EXPECT_EQ(client.calls.back(), "services c");
  EXPECT_EQ(maker->failures, 0);
}

TEST_F(DriverTest, a_webhook_that_cannot_be_asked_is_an_outage_and_one_that_refuses_is_not) {
  const std::string dial = "failed to call webhook: Post \"https://w.ns.svc:443/m\": dial tcp: connection refused";
  const struct {
    base::Code code;
    std::string message;
    int failures;
  } cases[] = {
      {base::Code::kInternal, "Internal error occurred: failed calling webhook \"w.io\": " + dial, 0},
      {base::Code::kInternal, "Internal error occurred: failed calling webhook \"w.io\": context deadline exceeded", 0},
      {base::Code::kInternal, "Internal error occurred: resource quota evaluation timed out", 20},
      {base::Code::kInternal, "admission webhook \"w.io\" denied the request: failed calling webhook \"v.io\"", 20},
      {base::Code::kDenied, "admission webhook \"w.io\" denied the request: no", 20},
      {base::Code::kForbidden, "Internal error occurred: failed calling webhook \"w.io\": " + dial, 20},
  };
  int version = 5;
  for (const auto& one : cases) {
    client.calls.clear();
    client.refusal = one.message;
    client.answers.assign(20, one.code);  // more than the sixteen that end a job
    client.show("configmaps", config_map(std::to_string(++version)));
    env.loop().run(base::hours(2));
    EXPECT_EQ(maker->failures, one.failures) << one.message;
    EXPECT_EQ(client.calls.back(), "services c") << one.message;
  }
}

TEST_F(DriverTest, after_a_long_outage_work_goes_on_soon) {
  client.answers.assign(24, base::Code::kUnavailable);  // by doubling pauses alone it would be a quarter of an hour
  client.show("configmaps", config_map());
  env.loop().run(base::minutes(8));
  EXPECT_EQ(client.calls.back(), "services c");
}

TEST_F(DriverTest, can_be_destroyed_with_a_plan_under_way) {
  client.show("configmaps", config_map());
  env.loop().run(base::Duration{});
  driver.reset();
  env.loop().run(base::seconds(1));
}

class DoerTest : public ::testing::Test {
 protected:
  DoerTest() : client(env), driver(env, client, "test") {
    auto made = std::make_unique<Doer>();
    doer = made.get();
    driver.add(std::move(made));
    doer->plan.set_subject(config_map());
    driver.start();
    env.loop().run(base::milliseconds(10));
  }
  const Ending& run() {
    client.show("configmaps", config_map());
    env.loop().run(base::seconds(1));
    return doer->endings.at(0);
  }
  Action& secret(std::string_view name) {
    Action& action = doer->plan.create(
        resources::kSecrets,
        Json::object({{"kind", "Secret"}, {"metadata", Json::object({{"name", name}, {"namespace", "ns"}})}}));
    action.success_reason = "Made";
    action.success_text = base::format("made {}", name);
    action.failure_reason = "NotMade";
    action.failure_text = base::format("{} was not made: {{}}", name);
    return action;
  }
  FakeEnv env;
  FakeClient client;
  Driver driver;
  Doer* doer = nullptr;
};

TEST_F(DoerTest, an_action_that_stops_nothing_fails_the_plan_in_the_end) {
  secret("a").stops_nothing = true;
  secret("b");
  doer->plan.begin_stage();
  secret("c");
  client.answers = {base::Code::kForbidden, base::Code::kMethodNotAllowed, base::Code::kMethodNotAllowed};
  const Ending& ending = run();
  EXPECT_EQ(client.calls, (std::vector<std::string>{"secrets a", "secrets b", "secrets c"}));
  EXPECT_FALSE(ending.succeeded);
  ASSERT_EQ(ending.failures.size(), 1u);
  EXPECT_EQ(ending.failures[0].name + ": " + ending.failures[0].error.message, "a: because");
  EXPECT_EQ(client.events, (std::vector<std::string>{"a was not made: because", "made b", "made c"}));
}

TEST_F(DoerTest, an_old_view_is_no_event) {
  secret("a").stops_nothing = true;
  client.answers = {base::Code::kConflict};
  EXPECT_FALSE(run().succeeded);
  EXPECT_TRUE(client.events.empty());
}

TEST_F(DoerTest, addresses_are_asked) {
  for (const auto& [host, path] :
       {std::pair{"204", "/"}, std::pair{"503", "/"}, std::pair{"open", ""}, std::pair{"nowhere", "/"}})
    doer->plan.ask({.host = host, .port = 80, .path = path});
  const Ending& ending = run();
  EXPECT_TRUE(ending.succeeded);
  std::vector<bool> answered;
  for (const Answer& one : ending.answers) answered.push_back(one.is_success());
  EXPECT_EQ(answered, (std::vector<bool>{true, false, true, false}));
}

TEST(Driver, can_be_destroyed_while_an_address_is_asked) {
  FakeEnv env;
  FakeClient client(env);
  auto driver = std::make_unique<Driver>(env, client, "test");
  auto doer = std::make_unique<Doer>();
  doer->plan.ask({.host = "silent", .port = 80});
  driver->add(std::move(doer));
  driver->start();
  env.loop().run(base::milliseconds(10));
  client.show("configmaps", config_map());
  env.loop().run(base::seconds(1));
  driver.reset();
  env.loop().run(base::seconds(1));
}

// Looks at every ConfigMap for a while, as a step in the real world takes, and writes nothing.
class Looker final : public Controller {
 public:
  explicit Looker(FakeLoop& loop) : loop_(loop) {}
  std::string_view name() const override { return "looker"; }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kConfigMaps, [](const View&, const Json& object) { return Keys{api::key_of(object)}; }}};
  }
  Plan step(const View&, const std::string&, const Turn&) override {
    loop_.now = loop_.now + base::microseconds(2);
    return {};
  }

 private:
  FakeLoop& loop_;
};

TEST(Driver, forgets_keys_that_are_never_looked_at_again) {
  FakeEnv env;
  FakeClient client(env);
  Driver driver(env, client, "test");
  driver.add(std::make_unique<Looker>(env.loop()));
  driver.start();
  env.loop().run(base::milliseconds(10));
  for (int i = 0; i < 10'000; ++i) {
    Json map = config_map();
    map.edit("metadata").set("name", std::to_string(i));
    client.show("configmaps", std::move(map));
    if (i % 100 == 0) env.loop().run(base::milliseconds(1));
  }
  EXPECT_LE(driver.keys_remembered(), 1'024u + 100u);
}

struct Report {
  std::vector<std::string> written;  // statuses
  int looks = 0;
};

// Shows 50 new numbers in a second, and one new phase in between.
Report report(base::Duration counts_interval, bool looks_wait = false) {
  Report out;
  FakeEnv env;
  FakeClient client(env);
  Driver driver(env, client, "test", {.counts_interval = counts_interval});
  driver.add(std::make_unique<Reporter>(looks_wait, out.looks));
  driver.start();
  env.loop().run(base::milliseconds(10));
  Json map = config_map();
  client.on_write = [&](const client::Request& request) {
    out.written.push_back(request.body["status"].dump());
    map.set("status", request.body["status"]);
    map.edit("metadata").set("resourceVersion", std::to_string(client.revision + 1));  // that of the answer
    client.show("configmaps", map);
  };
  for (int count = 1; count <= 50; ++count) {
    map.set("data", Json::object({{"count", count}, {"phase", count < 25 ? "Pending" : "Running"}}));
    map.edit("metadata").set("resourceVersion", std::to_string(++client.revision));
    client.show("configmaps", map);
    env.loop().run(base::milliseconds(20));
  }
  env.loop().run(base::seconds(1));
  return out;
}

TEST(Counts, are_written_at_most_once_in_an_interval_and_phases_at_once) {
  const Report prompt = report(base::milliseconds(200));
  const Report patient = report(base::milliseconds(200), true);
  // 1 and 25 bring a phase; 10, 20, 34 and 44 are the numbers 200 ms after the last status; 50 is the last number.
  EXPECT_EQ(prompt.written,
            (std::vector<std::string>{R"({"count":1,"phase":"Pending"})", R"({"count":10,"phase":"Pending"})",
                                      R"({"count":20,"phase":"Pending"})", R"({"count":25,"phase":"Running"})",
                                      R"({"count":34,"phase":"Running"})", R"({"count":44,"phase":"Running"})",
                                      R"({"count":50,"phase":"Running"})"}));
  EXPECT_EQ(patient.written, prompt.written);
  EXPECT_GE(prompt.looks, 50);
  EXPECT_LE(patient.looks, 16) << "between two statuses nobody looks";
}

TEST(Counts, are_written_each_time_without_an_interval) {
  EXPECT_EQ(report({}).written.size(), 50u);
  EXPECT_EQ(report({}, true).written.size(), 50u);
}

}  // namespace
}  // namespace controllers
