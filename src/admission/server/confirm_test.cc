// Refusals by an old view are asked about first; and what a rule looks at does not grow with the number of queues.
#include "admission/server/confirm.h"

#include <gtest/gtest.h>

#include "admission/rules/fake_objects_for_tests.h"
#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace admission {
namespace {

using api::Json;
using api::Operation;
namespace resources = api::resources;

std::string queue(std::string_view name, std::string_view parent = "root", std::string_view state = "Open") {
  return base::format(R"({{"metadata": {{"name": "{}"}}, "spec": {{"parent": "{}"}}, "status": {{"state": "{}"}}}})",
                      name, parent, state);
}

struct Bench {
  client::testing::FakeEnv env;
  client::testing::FakeClient server{env};
  FakeObjects view;
  std::vector<api::AdmissionHook> all = hooks({});

  api::AdmissionAnswer ask(std::string_view path, Operation operation, std::string name, const Json& object = {}) {
    std::optional<api::AdmissionAnswer> given;
    for (const api::AdmissionHook& hook : all)
      if (hook.path == path)
        review_confirmed(
            server, env.loop(), view,
            [&hook, operation, name, object](const api::ObjectReader& objects) {
              return hook.review({.operation = operation, .resource = hook.resource, .name = name, .object = object},
                                 objects);
            },
            [&](api::AdmissionAnswer answer) { given = std::move(answer); });
    env.settle();
    EXPECT_TRUE(given.has_value());
    return given.value_or(api::AdmissionAnswer{});
  }
  std::string refusal(std::string_view path, Operation operation, std::string name, const Json& object = {}) {
    const api::AdmissionAnswer answer = ask(path, operation, std::move(name), object);
    return answer.allowed ? "" : answer.message;
  }
};

Json group(std::string_view queue) {
  return Json::object(
      {{"metadata", Json::object({{"name", "g"}, {"namespace", "ns"}})}, {"spec", Json::object({{"queue", queue}})}});
}

TEST(Confirmation, a_child_that_has_gone_meanwhile_keeps_no_queue) {
  Bench b;
  for (const std::string& one : {queue("root", ""), queue("a"), queue("b", "a")}) b.view.add(resources::kQueues, one);
  for (const std::string& one : {queue("root", ""), queue("a")}) b.server.put(resources::kQueues, json(one));
  EXPECT_EQ(b.refusal("/queues/validate", Operation::kDelete, "a"), "");
  EXPECT_EQ(b.server.calls.size(), 1u);
  b.server.put(resources::kQueues, json(queue("c", "a")));
  EXPECT_EQ(b.refusal("/queues/validate", Operation::kDelete, "a"),
            "queue a can not be deleted because it has 1 child queues: c");
}

TEST(Confirmation, a_queue_that_was_made_or_opened_a_moment_ago_counts) {
  Bench b;
  b.server.put(resources::kQueues, json(queue("new")));
  EXPECT_EQ(b.refusal("/podgroups/validate", Operation::kCreate, "g", group("new")), "");
  b.view.add(resources::kQueues, queue("new", "root", "Closed"));
  EXPECT_EQ(b.refusal("/podgroups/validate", Operation::kCreate, "g", group("new")), "");
  EXPECT_EQ(b.server.calls.size(), 2u);
  EXPECT_EQ(b.server.calls.back().verb, client::Verb::kGet);
}

TEST(Confirmation, an_answer_that_allows_asks_nobody) {
  Bench b;
  b.view.add(resources::kQueues, queue("open"));
  EXPECT_EQ(b.refusal("/podgroups/validate", Operation::kCreate, "g", group("open")), "");
  EXPECT_EQ(b.refusal("/queues/validate", Operation::kDelete, "root"), "`root` queue can not be deleted");
  EXPECT_TRUE(b.server.calls.empty());
}

TEST(Confirmation, a_refusal_stands_when_the_server_does_not_answer) {
  Bench b;
  b.server.failures.push_back(base::make_error(base::Code::kUnavailable, "down"));
  EXPECT_EQ(b.refusal("/podgroups/validate", Operation::kCreate, "g", group("nobody")),
            "unable to find queue: queue.scheduling.volcano.sh \"nobody\" not found");
}

TEST(Confirmation, a_refusal_waits_three_seconds_for_a_server_that_hangs) {
  Bench b;
  b.server.silent = true;
  std::vector<std::string> given;
  const auto refuse = [](const api::ObjectReader& objects) {
    (void)objects.find(resources::kQueues, "", "nobody");
    return api::AdmissionAnswer{.allowed = false, .message = "no"};
  };
  review_confirmed(b.server, b.env.loop(), b.view, refuse,
                   [&](const api::AdmissionAnswer& answer) { given.push_back(answer.message); });
  b.env.run_for(base::milliseconds(2900));
  EXPECT_TRUE(given.empty());
  b.env.run_for(base::milliseconds(200));
  EXPECT_EQ(given, std::vector<std::string>{"no"});
  b.env.run_for(base::minutes(1));
  EXPECT_EQ(given.size(), 1u);
}

TEST(QueueRules, look_at_the_family_only) {
  const auto questions = [](int queues) {
    FakeObjects objects;
    objects.add(resources::kQueues, queue("root", ""));
    objects.add(resources::kQueues, queue("a"));
    for (int i = 0; i < queues; ++i) objects.add(resources::kQueues, queue(base::format("other-{}", i)));
    EXPECT_TRUE(ask("/queues/validate", Operation::kCreate, json(queue("n")), objects).allowed);
    EXPECT_TRUE(ask("/queues/validate", Operation::kCreate, json(queue("n", "a")), objects).allowed);
    EXPECT_TRUE(
        ask("/queues/validate", Operation::kUpdate, json(queue("a", "")), objects, {}, json(queue("a"))).allowed);
    EXPECT_TRUE(ask("/queues/validate", Operation::kDelete, Json(), objects, {}, json(queue("a")), "a").allowed);
    return objects.questions;
  };
  EXPECT_EQ(questions(10), questions(1000));
}

}  // namespace
}  // namespace admission
