// What becomes of writes that the server refuses for good.
#include "scheduler/effects/outbox.h"

#include <gtest/gtest.h>

#include "client/testing/fake_client.h"
#include "client/testing/fake_env.h"

namespace scheduler {
namespace {

using api::Json;

Json json(std::string_view text) { return *api::parse_json(text); }

struct World {
  client::testing::FakeEnv env;
  client::testing::FakeClient server{env};
  Model model;
  Intake intake{model, {}};
  int woken = 0;
  Outbox outbox{server, env, intake, {.component = "volcano"}, [this] { ++woken; }};

  World() {
    intake.set(api::resources::kQueues, json(R"({"metadata":{"name":"q","uid":"1"},"status":{"state":"Open"}})"));
    intake.set(api::resources::kPods, json(R"({"metadata":{"namespace":"a","name":"p","uid":"2"},"spec":
        {"schedulerName":"volcano"},"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":
        "Unschedulable","message":"no room"}]}})"));
  }
};

TEST(Outbox, a_status_of_a_queue_that_is_refused_is_written_again) {
  World world;
  world.server.forbids = [](const client::Request&) { return true; };
  Plan plan;
  plan.queues.push_back({"q", {{"cpu", *api::Quantity::parse("1")}}, {}});
  world.outbox.send(plan);
  world.env.run_for(base::seconds(1));
  EXPECT_FALSE(world.model.queue(world.model.find_queue("q")).status_lost) << "not at once: it would be refused again";
  world.env.run_for(base::seconds(10));
  EXPECT_TRUE(world.model.queue(world.model.find_queue("q")).status_lost);
  EXPECT_EQ(world.woken, 1);
}

TEST(Outbox, a_condition_of_a_pod_that_is_refused_is_written_again) {
  World world;
  world.server.forbids = [](const client::Request& request) { return request.resource == api::resources::kPods; };
  const TaskId pod = world.model.find_task("a/p");
  ASSERT_EQ(world.model.text(pod).condition_message.view(), "no room");
  Plan plan;
  plan.pod_conditions.push_back({.ns = "a", .pod = "p", .uid = "2", .reason = "Unschedulable", .message = "no room"});
  world.outbox.send(plan);
  world.env.run_for(base::seconds(10));
  EXPECT_TRUE(world.model.text(pod).condition_message.view().empty());
  EXPECT_GE(world.woken, 1);
}

TEST(Outbox, a_status_of_a_group_that_is_refused_is_asked_for_after_a_while) {
  World world;
  world.server.put(api::resources::kPodGroups, json(R"({"metadata":{"namespace":"a","name":"g","uid":"3"}})"));
  world.server.forbids = [](const client::Request& request) { return request.verb == client::Verb::kPatch; };
  Plan plan;
  plan.groups.push_back({.ns = "a", .name = "g", .status = {}});
  world.outbox.send(plan);
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(world.server.calls.size(), 1u) << "it would be refused again";
  world.env.run_for(base::seconds(10));
  EXPECT_EQ(world.server.calls.size(), 2u);
}

TEST(Outbox, a_status_of_what_is_gone_is_not) {
  World world;
  Plan plan;
  plan.queues.push_back({"q", {{"cpu", *api::Quantity::parse("1")}}, {}});
  world.outbox.send(plan);
  world.env.run_for(base::seconds(10));
  EXPECT_FALSE(world.model.queue(world.model.find_queue("q")).status_lost);
}

TEST(Outbox, the_cpus_of_a_node_that_is_gone_go_with_it) {
  World world;
  const auto put = [&] {
    world.server.put(api::resources::kNumatopologies, json(R"({"metadata":{"name":"n","uid":"u"}})"));
  };
  put();
  bool gone = true;
  world.outbox.delete_numatopology("n", "u", [&] { return gone; });
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(world.server.find(api::resources::kNumatopologies, "n"), nullptr);
  // The node comes back while the server does not answer: what it says is its own.
  put();
  world.server.failures.push_back(base::make_error(base::Code::kUnavailable, "later"));
  world.outbox.delete_numatopology("n", "u", [&] { return gone; });
  world.env.run_for(base::milliseconds(500));
  gone = false;
  world.env.run_for(base::seconds(10));
  EXPECT_NE(world.server.find(api::resources::kNumatopologies, "n"), nullptr);
}

}  // namespace
}  // namespace scheduler
