// The wall clock of a node is set while its pods run: what the agent waits for comes in its time.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "node/agent/agent_world_for_tests.h"

namespace node {
namespace {

using api::Json;

constexpr base::Duration kJumps[] = {base::hours(-8), base::hours(8)};

struct World : made_up::World {
  World() { start(); }
  // And the agent looks at the pod.
  void set_clock(base::Duration ahead) {
    env.ahead = env.ahead + ahead;
    Json touched = pod();
    touched.edit("metadata").edit("labels").set("touched", base::format("{}", env.ahead.ns));
    server.put(api::resources::kPods, touched);
    env.settle();
  }
  std::int64_t restarts() const { return container()["restartCount"].as_int(); }
  std::string reason() const { return container()["state"]["waiting"]["reason"].str(); }
  void crash() {
    machine.exit(id(), 1);
    env.run_for(base::milliseconds(100));
  }
};

TEST(AgentClock, APodThatIgnoresSigtermIsKilledAtTheEndOfItsGrace) {
  for (const base::Duration jump : kJumps) {
    World world;
    world.put("{containers: [{name: a, image: i}]}");
    Json going = world.pod();
    going.edit("metadata").set("deletionTimestamp", base::format_rfc3339(world.env.now() + base::seconds(30)));
    going.edit("metadata").set("deletionGracePeriodSeconds", 30);
    world.server.put(api::resources::kPods, going);
    world.env.run_for(base::seconds(1));
    world.set_clock(jump);
    world.env.run_for(base::seconds(28));
    EXPECT_EQ(world.machine.log, (std::vector<std::string>{"prepare p", "start a", "term"})) << jump.seconds();
    world.env.run_for(base::seconds(2));
    EXPECT_TRUE(world.pod().is_null()) << jump.seconds();
    EXPECT_EQ(std::ranges::count(world.machine.log, "kill"), 1) << jump.seconds();
  }
}

TEST(AgentClock, ACrashLoopWaitsAsLongAsItSays) {
  for (const base::Duration jump : kJumps) {
    World world;
    world.put("{containers: [{name: a, image: i}]}");
    world.crash();
    world.crash();
    EXPECT_EQ(world.restarts(), 1);
    EXPECT_EQ(world.reason(), "CrashLoopBackOff");
    world.set_clock(jump);
    world.env.run_for(base::seconds(9));
    EXPECT_EQ(world.restarts(), 1) << jump.seconds();
    EXPECT_EQ(world.reason(), "CrashLoopBackOff") << jump.seconds();
    world.env.run_for(base::seconds(2));
    EXPECT_EQ(world.restarts(), 2) << jump.seconds();
    world.set_clock(jump);
    world.crash();
    EXPECT_EQ(world.reason(), "CrashLoopBackOff") << "it ran for no ten minutes";
    world.env.run_for(base::seconds(19));
    EXPECT_EQ(world.restarts(), 2) << jump.seconds();
    world.env.run_for(base::seconds(2));
    EXPECT_EQ(world.restarts(), 3) << jump.seconds();
  }
}

TEST(AgentClock, APullIsTriedAgainInItsTime) {
  for (const base::Duration jump : kJumps) {
    World world;
    world.machine.failing_images = {"i"};
    world.put("{containers: [{name: a, image: i}]}");
    world.machine.failing_images.clear();
    world.set_clock(jump);
    world.env.run_for(base::seconds(9));
    EXPECT_EQ(world.reason(), "ImagePullBackOff") << jump.seconds();
    world.env.run_for(base::seconds(2));
    EXPECT_TRUE(world.container()["state"].has("running")) << jump.seconds();
  }
}

TEST(AgentClock, APodWithoutItsConfigMapIsTriedAgain) {
  for (const base::Duration jump : kJumps) {
    World world;
    world.put("{containers: [{name: a, image: i}], volumes: [{name: v, configMap: {name: cm}}]}");
    world.set_clock(jump);
    world.server.put(api::resources::kConfigMaps, *api::parse_yaml("{metadata: {name: cm, namespace: ns}}"));
    world.env.run_for(base::seconds(5));
    EXPECT_EQ(world.machine.log, (std::vector<std::string>{"prepare p", "start a"})) << jump.seconds();
  }
}

// An end in the future has just happened.
TEST(AgentClock, AContainerThatEndedByAClockAheadStartsAgain) {
  made_up::World world;
  world.put("{containers: [{name: a, image: i}]}", ", uid: u1");
  RecoveredPod found{.uid = "u1", .ns = "ns", .name = "p", .ip = "10.0.0.5", .prepared = true};
  const base::Time ahead = world.env.now() + base::hours(8);
  RecoveredContainer ended{.name = "a", .attempt = 1, .id = "c1", .started = true, .exit_code = 1};
  ended.started_at = ended.finished_at = ahead;
  found.containers.push_back(ended);
  world.machine.recovered = {found};
  world.start();
  world.env.run_for(base::seconds(8));
  EXPECT_EQ(world.container()["state"]["waiting"]["reason"].as_string(), "CrashLoopBackOff");
  world.env.run_for(base::seconds(2));
  EXPECT_EQ(world.container()["restartCount"].as_int(), 2);
}

// Both its ends are times of API objects, which others read by their clocks.
TEST(AgentClock, TheActiveDeadlineIsOneOfTheWallClock) {
  World world;
  world.put("{activeDeadlineSeconds: 3600, containers: [{name: a, image: i}]}");
  world.set_clock(base::hours(-8));
  world.env.run_for(base::hours(8));
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Running");
  world.env.run_for(base::hours(1));
  EXPECT_EQ(world.pod()["status"]["reason"].as_string(), "DeadlineExceeded");
}

// Gives tokens that last an hour by its own clock, which nobody sets.
struct TokenServer : client::testing::FakeClient {
  explicit TokenServer(ClockEnv& env) : FakeClient(env), env_(env) {}
  int tokens = 0;

  void call(client::Request request, OnResult on_result) override {
    if (request.subresource != "token") return FakeClient::call(std::move(request), std::move(on_result));
    ++tokens;
    const std::string ends = base::format_rfc3339(env_.FakeEnv::now() + base::hours(1));
    env_.loop().post([on_result = std::move(on_result), ends] {
      on_result(*api::parse_yaml(base::format(
          "{{spec: {{expirationSeconds: 3600}}, status: {{token: t, expirationTimestamp: '{}'}}}}", ends)));
    });
  }

 private:
  ClockEnv& env_;
};

TEST(AgentClock, TokensAreRenewedWhenAFifthOfTheirTimeIsLeft) {
  for (const base::Duration jump : kJumps) {
    ClockEnv env;
    TokenServer server{env};
    made_up::Machine machine;
    machine.env = &env;
    Options options;
    options.node_name = "n1";
    Agent agent(env, server, options, std::make_unique<made_up::FakeRuntime>(machine), {});
    agent.start();
    env.run_for(base::seconds(1));
    server.put(api::resources::kPods,
               *api::parse_yaml("{metadata: {name: p, namespace: ns}, spec: {containers: [{name: a, image: i}], "
                                "volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]}}"));
    env.run_for(base::seconds(1));
    EXPECT_EQ(server.tokens, 1);
    env.run_for(base::minutes(47));
    EXPECT_EQ(server.tokens, 1);
    env.run_for(base::minutes(2));
    EXPECT_EQ(server.tokens, 2);
    env.run_for(base::minutes(40));
    EXPECT_EQ(server.tokens, 2);
    // They may have ended where the clock went ahead, as after a machine has slept.
    env.ahead = jump;
    env.run_for(base::minutes(1));
    EXPECT_EQ(server.tokens, 3) << jump.seconds();
    env.run_for(base::minutes(40));
    EXPECT_EQ(server.tokens, 3) << jump.seconds();
  }
}

}  // namespace
}  // namespace node
