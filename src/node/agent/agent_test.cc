// The agent against a server and a machine that are made up: what is reported, and when.
#include <gtest/gtest.h>

#include "api/network_resources.h"
#include "base/format.h"
#include "base/utf8.h"
#include "node/agent/agent_world_for_tests.h"

namespace node {
namespace {

using api::Json;
using made_up::FakeRuntime;
using made_up::Machine;
using made_up::World;

TEST(Agent, RegistersItsNodeAndKeepsALease) {
  World world;
  world.start();
  const Json* node = world.server.find(api::resources::kNodes, "n1");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ((*node)["status"]["capacity"]["cpu"].as_string(), "2");
  EXPECT_EQ(api::label_of(*node, "kubernetes.io/hostname"), "n1");
  const Json* lease = world.server.find(api::resources::kLeases, "kube-node-lease/n1");
  ASSERT_NE(lease, nullptr);
  const std::string before = (*lease)["spec"]["renewTime"].str();
  world.env.run_for(base::seconds(12));
  EXPECT_NE((*world.server.find(api::resources::kLeases, "kube-node-lease/n1"))["spec"]["renewTime"].str(), before);
}

TEST(Agent, RunsAPodToItsEnd) {
  World world;
  world.start();
  world.put("{restartPolicy: Never, containers: [{name: a, image: i}]}");
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Running");
  EXPECT_EQ(world.pod()["status"]["podIP"].as_string(), "10.0.0.9");
  EXPECT_TRUE(world.container()["ready"].as_bool());
  world.machine.exit(world.id(), 3);
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Failed");
  EXPECT_EQ(world.container()["state"]["terminated"]["exitCode"].as_int(), 3);
  EXPECT_EQ(world.container()["state"]["terminated"]["message"].as_string(), "last words");
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"prepare p", "start a", "remove"}));
  EXPECT_EQ(world.reasons(), (std::set<std::string>{"Created", "Pulled", "Pulling", "Started"}));
}

TEST(Agent, ContainersThatJoinAPodAreStartedAndNeverRestarted) {
  World world;
  world.start();
  world.put("{restartPolicy: Always, containers: [{name: a, image: i}]}", ", uid: u1");
  world.join("[{name: d, image: j, targetContainerName: a}, {name: ../e, image: j}]");
  const auto joined = [&] { return world.pod()["status"]["ephemeralContainerStatuses"].items().front(); };
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"prepare p", "start a", "start d -> " + world.id()}));
  EXPECT_TRUE(joined()["state"].has("running"));
  EXPECT_FALSE(joined()["ready"].as_bool(true));
  EXPECT_EQ(world.pod()["status"]["ephemeralContainerStatuses"].size(), 1u);
  world.machine.exit(joined()["containerID"].str().substr(10), 3);
  world.env.run_for(base::minutes(10));
  EXPECT_EQ(joined()["state"]["terminated"]["exitCode"].as_int(), 3);
  EXPECT_EQ(joined()["restartCount"].as_int(-1), 0);
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Running");
}

TEST(Agent, AContainerThatCannotJoinWaitsAndItsPodRunsOn) {
  World world;
  world.start();
  world.put("{restartPolicy: Never, containers: [{name: a, image: i}, {name: b, image: i}]}", ", uid: u1");
  world.machine.exit(world.id(), 0);
  world.env.run_for(base::milliseconds(100));
  world.join("[{name: d, image: j, targetContainerName: a}]");
  const Json waiting = world.pod()["status"]["ephemeralContainerStatuses"].items().front()["state"]["waiting"];
  EXPECT_EQ(waiting["reason"].as_string(), "CreateContainerConfigError");
  EXPECT_EQ(waiting["message"].as_string(), "unable to find target container a");
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Running");
}

TEST(Agent, TakesUpContainersThatHadJoined) {
  World world;
  world.put("{containers: [{name: a, image: i}], ephemeralContainers: [{name: d, image: j}]}", ", uid: u1");
  RecoveredPod found{.uid = "u1", .ns = "ns", .name = "p", .ip = "10.0.0.5", .prepared = true};
  for (const char* name : {"a", "d"})
    found.containers.push_back({.name = name,
                                .attempt = 0,
                                .id = std::string("c-") + name,
                                .started = true,
                                .running = true,
                                .started_at = world.env.now()});
  world.machine.recovered = {found};
  world.start();
  EXPECT_TRUE(world.machine.log.empty());
  EXPECT_EQ(world.pod()["status"]["ephemeralContainerStatuses"].items().front()["containerID"].as_string(),
            "volcano://c-d");
}

TEST(Agent, RestartsWithBackOff) {
  World world;
  world.start();
  world.put("{containers: [{name: a, image: i}]}");
  const std::int64_t expected[] = {0, 10, 20, 40};
  for (std::size_t i = 0; i < 4; ++i) {
    world.machine.exit(world.id(), 1);
    if (expected[i] > 0) {
      world.env.run_for(base::seconds(expected[i] - 1));
      EXPECT_EQ(world.container()["state"]["waiting"]["reason"].as_string(), "CrashLoopBackOff") << i;
    }
    world.env.run_for(base::seconds(2));
    EXPECT_EQ(world.container()["restartCount"].as_int(), static_cast<std::int64_t>(i + 1));
    EXPECT_TRUE(world.container()["state"].has("running"));
  }
}

TEST(Agent, DeletesAPodOnlyWhenItsProcessesAreGone) {
  World world;
  world.start();
  world.put("{containers: [{name: a, image: i}]}");
  Json deleting = world.pod();
  deleting.edit("metadata").set("deletionTimestamp", "2026-01-01T00:00:31Z");
  deleting.edit("metadata").set("deletionGracePeriodSeconds", 30);
  world.server.put(api::resources::kPods, deleting);
  world.env.run_for(base::seconds(29));
  EXPECT_FALSE(world.pod().is_null());
  EXPECT_EQ(world.machine.log.back(), "term");
  world.env.run_for(base::seconds(3));
  EXPECT_TRUE(world.pod().is_null());
  const client::Request& last = world.server.calls.back();
  EXPECT_EQ(last.verb, client::Verb::kDelete);
  EXPECT_EQ(last.body["gracePeriodSeconds"].as_int(-1), 0);
  EXPECT_FALSE(last.body["preconditions"]["uid"].as_string().empty());
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"prepare p", "start a", "term", "kill", "remove", "erase"}));
}

TEST(Agent, SaysWhyAnImageCannotBeHad) {
  World world;
  world.machine.failing_images = {"i"};
  world.start();
  world.put("{containers: [{name: a, image: i}]}");
  EXPECT_EQ(world.container()["state"]["waiting"]["reason"].as_string(), "ErrImagePull");
  world.env.run_for(base::seconds(3));
  EXPECT_EQ(world.container()["state"]["waiting"]["reason"].as_string(), "ImagePullBackOff");
  world.machine.failing_images.clear();
  world.env.run_for(base::seconds(10));
  EXPECT_TRUE(world.container()["state"].has("running"));
}

TEST(Agent, RefusesAPodThatTheMachineCannotRun) {
  World world;
  world.machine.refusal = "needs root";
  world.start();
  world.put("{containers: [{name: a, image: i}]}");
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Failed");
  EXPECT_EQ(world.pod()["status"]["message"].as_string(), "Pod was rejected: needs root");
  EXPECT_TRUE(world.pod()["status"]["containerStatuses"].empty());
  EXPECT_TRUE(world.machine.log.empty());
}

TEST(Agent, WaitsForAConfigMapAndFollowsItsChanges) {
  World world;
  world.start();
  world.put("{containers: [{name: a, image: i}], volumes: [{name: v, configMap: {name: cm}}]}");
  EXPECT_TRUE(world.machine.log.empty());
  EXPECT_TRUE(world.reasons().contains("FailedMount"));
  Json map = *api::parse_yaml("{metadata: {name: cm, namespace: ns}, data: {a: '1'}}");
  world.server.put(api::resources::kConfigMaps, map);
  world.env.run_for(base::seconds(5));
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"prepare p", "start a"}));
  for (const char* value : {"2", "3", "4"}) {
    map.edit("data").set("a", value), world.server.put(api::resources::kConfigMaps, map);
    while (world.machine.log.size() < 3 && world.env.step()) {
    }
  }
  world.env.run_for(base::seconds(1));  // the last two together, once the first is laid out
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"prepare p", "start a", "update v", "update v"}));
}

// The timer for the deadline is set in the turn that forgets the container's last run.
TEST(Agent, APodKeepsItsDeadlineWhenAContainerStartsOver) {
  for (const bool can_be_made : {true, false}) {
    World world;
    world.start();
    world.server.put(api::resources::kConfigMaps,
                     *api::parse_yaml("{metadata: {name: cm, namespace: ns}, data: {a: '1'}}"));
    world.put(
        "{activeDeadlineSeconds: 60, restartPolicy: Always, containers: [{name: a, image: i, env: [{name: A, "
        "valueFrom: {configMapKeyRef: {name: cm, key: a}}}]}]}",
        ", uid: 0f8fad5b-d9cb-469f-a165-70867728950e");
    if (!can_be_made) world.server.erase(api::resources::kConfigMaps, "ns/cm");
    world.env.run_for(base::seconds(1));
    world.machine.exit(world.id(), 1);
    world.env.run_for(base::seconds(10));
    EXPECT_EQ(world.container()["restartCount"].as_int(), 1);
    EXPECT_EQ(world.container()["state"].has("running"), can_be_made);
    world.env.run_for(base::seconds(60));
    EXPECT_EQ(world.pod()["status"]["reason"].as_string(), "DeadlineExceeded");
  }
}

TEST(Agent, TakesUpAgainWhatRanBeforeItWasKilled) {
  World world;
  world.put("{restartPolicy: Never, containers: [{name: a, image: i}]}", ", uid: u1");
  RecoveredPod found{.uid = "u1", .ns = "ns", .name = "p", .ip = "10.0.0.5", .prepared = true};
  found.containers.push_back(
      {.name = "a", .attempt = 0, .id = "c1", .started = true, .running = true, .started_at = world.env.now()});
  RecoveredPod stranger{.uid = "u2", .ns = "ns", .name = "old"};
  world.machine.recovered = {found, stranger};
  world.start();
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"erase"}));  // the stranger's
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Running");
  EXPECT_EQ(world.pod()["status"]["podIP"].as_string(), "10.0.0.5");
  world.machine.exit("c1", 0);
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Succeeded");
}

TEST(Agent, WhatContainersLeaveIsTextInTheStatus) {
  World world;
  world.start();
  world.machine.last_words = "bad \xff\xfe" + std::string(4092, 'a') + "\xe2\x82";
  world.put("{restartPolicy: Never, containers: [{name: a, image: i}]}");
  world.machine.exit(world.id(), 1);
  world.env.run_for(base::seconds(1));
  const std::string message = world.container()["state"]["terminated"]["message"].str();
  EXPECT_TRUE(base::is_utf8(message));
  EXPECT_LE(message.size(), 4096u);
  EXPECT_TRUE(message.ends_with("a\xEF\xBF\xBD"));
}

TEST(Agent, AStartThatFailedHasItsTimesAndItsReasonAsText) {
  World world;
  world.start();
  world.machine.start_failure = "no \xff" + std::string(9000, 'x');
  world.put("{restartPolicy: Never, containers: [{name: a, image: i}]}");
  world.env.run_for(base::seconds(1));
  const Json ended = world.container()["state"]["terminated"];
  EXPECT_EQ(ended["reason"].as_string(), "StartError");
  EXPECT_EQ(ended["exitCode"].as_int(), 128);
  EXPECT_EQ(ended["startedAt"].as_string(), "1970-01-01T00:00:00Z");
  EXPECT_EQ(ended["finishedAt"].as_string(), "2026-01-01T00:00:01Z");
  EXPECT_TRUE(base::is_utf8(ended["message"].as_string()));
  EXPECT_LE(ended["message"].as_string().size(), 4096u);
  for (const auto& [key, event] : world.server.table(api::resources::kEvents)) {
    EXPECT_TRUE(base::is_utf8(event["message"].as_string()));
    EXPECT_LE(event["message"].as_string().size(), 1024u);
  }
}

TEST(Agent, AContainerThatItsOwnRulesForbidWaits) {
  World world;
  world.start();
  world.machine.start_failure = "container has runAsNonRoot and image will run as root";
  world.machine.start_code = base::Code::kForbidden;
  world.put("{restartPolicy: Never, containers: [{name: a, image: i}]}");
  EXPECT_EQ(world.container()["state"]["waiting"]["reason"].as_string(), "CreateContainerConfigError") << "at once";
  world.env.run_for(base::minutes(1));
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Pending");
  const Json waiting = world.container()["state"]["waiting"];
  EXPECT_EQ(waiting["reason"].as_string(), "CreateContainerConfigError");
  EXPECT_EQ(waiting["message"].as_string(), *world.machine.start_failure);
  EXPECT_EQ(world.container()["restartCount"].as_int(-1), 0);
  EXPECT_FALSE(world.reasons().contains("Created"));
  world.machine.start_failure.reset();
  world.env.run_for(base::minutes(1));
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Running");
}

TEST(Agent, NamesThatWouldLeaveAFolderAreRefused) {
  for (const char* spec : {"{containers: [{name: ../../x, image: i}]}", "{containers: [{name: '', image: i}]}",
                           "{containers: [{name: a, image: i}, {name: a, image: i}]}",
                           "{containers: [{name: a, image: i}], volumes: [{name: ../v, emptyDir: {}}]}",
                           "{hostname: 'a/b', containers: [{name: a, image: i}]}"}) {
    World world;
    world.start();
    world.put(spec);
    EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Failed") << spec;
    EXPECT_TRUE(world.machine.log.empty()) << spec;
  }
}

// Calls to the machine take their time.
struct SlowEnv : client::testing::FakeEnv {
  base::Duration call{};
  void offload(rt::Task work, rt::Task done) override {
    loop().after(call, [this, work = std::move(work), done = std::move(done)] {
      work();
      loop().post(done);
    });
  }
};

TEST(Agent, APodThatIsGoneIsTakenAwayAfterItsStart) {
  SlowEnv env;
  client::testing::FakeClient server{env};
  Machine machine;
  machine.env = &env;
  Options options;
  options.node_name = "n1";
  Agent agent(env, server, options, std::make_unique<FakeRuntime>(machine), {});
  agent.start();
  env.run_for(base::seconds(1));
  env.call = base::seconds(10);
  server.put(api::resources::kPods,
             *api::parse_yaml("{metadata: {name: p, namespace: ns}, spec: {containers: [{name: a, image: i}]}}"));
  env.run_for(base::seconds(21));  // prepared, pulled, and starting
  env.call = {};
  server.erase(api::resources::kPods, "ns/p");
  env.run_for(base::seconds(1));
  EXPECT_EQ(machine.log, (std::vector<std::string>{"prepare p"}));
  env.run_for(base::seconds(20));
  EXPECT_EQ(machine.log, (std::vector<std::string>{"prepare p", "start a", "erase"}));
}

TEST(Agent, AStopDoesNotWaitForAMachineThatHangs) {
  SlowEnv env;
  client::testing::FakeClient server{env};
  Machine machine;
  machine.env = &env;
  Options options;
  options.node_name = "n1";
  Agent agent(env, server, options, std::make_unique<FakeRuntime>(machine), {});
  agent.start();
  env.run_for(base::seconds(1));
  server.put(api::resources::kPods,
             *api::parse_yaml("{metadata: {name: p, namespace: ns}, spec: {containers: [{name: a, image: i}]}}"));
  env.call = base::hours(1);
  env.run_for(base::seconds(1));
  bool stopped = false;
  agent.stop([&] { stopped = true; });
  env.run_for(base::seconds(25));
  EXPECT_TRUE(stopped);
}

TEST(Agent, AStopWaitsForTheStart) {
  SlowEnv env;
  client::testing::FakeClient server{env};
  Machine machine;
  machine.env = &env;
  Options options;
  options.node_name = "n1";
  Agent agent(env, server, options, std::make_unique<FakeRuntime>(machine), {});
  env.call = base::seconds(3);
  agent.start();
  bool stopped = false;
  agent.stop([&] { stopped = true; });
  env.run_for(base::seconds(2));
  EXPECT_TRUE(machine.log.empty()) << "closed before it was open: what is there would stay";
  env.run_for(base::seconds(10));
  EXPECT_EQ(machine.log, std::vector<std::string>{"close"});
  EXPECT_TRUE(stopped);
}

TEST(Agent, AStopEndsPodsAndSaysSo) {
  World world;
  world.start();
  world.put("{containers: [{name: a, image: i}]}");
  bool stopped = false;
  world.agent->stop([&] { stopped = true; });
  world.env.run_for(base::seconds(4));
  EXPECT_FALSE(stopped);
  world.env.run_for(base::seconds(3));
  EXPECT_TRUE(stopped);
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Failed");
  EXPECT_EQ(world.pod()["status"]["reason"].as_string(), "Terminated");
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"prepare p", "start a", "term", "kill", "remove", "close"}));
}

TEST(Agent, KeepsReportingAfterTheServerWasAway) {
  World world;
  world.start();
  for (int i = 0; i < 6; ++i) world.server.failures.push_back(base::make_error(base::Code::kUnavailable, "down"));
  world.put("{restartPolicy: Never, containers: [{name: a, image: i}]}");
  world.env.run_for(base::seconds(60));
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Running");
}

// As with a kubelet: only NoExecute counts, and only before the pod has begun.
TEST(Agent, RefusesWhoDoesNotTolerateATaintOfItsNode) {
  struct Row {
    const char* effect;
    const char* tolerations;
    const char* phase;
  };
  for (const Row& row : {Row{"NoExecute", "[]", "Failed"}, Row{"NoSchedule", "[]", "Running"},
                         Row{"NoExecute", "[{key: down, operator: Exists, tolerationSeconds: 60}]", "Running"}}) {
    World world;
    world.start();
    const auto taint = [&](const std::string& list) {
      Json node = *world.server.find(api::resources::kNodes, "n1");
      node.edit("spec").set("taints", *api::parse_yaml(list));
      world.server.put(api::resources::kNodes, node);
      world.env.run_for(base::milliseconds(100));
    };
    taint(base::format("[{{key: down, effect: {}}}]", row.effect));
    world.put(base::format("{{nodeName: n1, tolerations: {}, containers: [{{name: a, image: i}}]}}", row.tolerations));
    EXPECT_EQ(world.pod()["status"]["phase"].as_string(), row.phase) << row.effect;
    if (std::string_view(row.phase) == "Failed") {
      EXPECT_EQ(world.pod()["status"]["reason"].as_string(), "TaintToleration");
      EXPECT_EQ(world.pod()["status"]["message"].as_string(),
                "Pod was rejected: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate");
      EXPECT_TRUE(world.reasons().contains("TaintToleration"));
      continue;
    }
    taint("[{key: other, effect: NoExecute}]");
    world.env.run_for(base::seconds(60));
    EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Running") << "it is for others to evict it";
  }
}

// A pod that names its node was not seen by a scheduler. A pod on its way out does not count.
TEST(Agent, RefusesWhatItHasNoRoomFor) {
  World world;
  world.start();
  const auto status_of = [&](const char* name) { return (*world.server.find(api::resources::kPods, name))["status"]; };
  const auto put = [&](const std::string& name, const std::string& rest) {
    world.server.put(api::resources::kPods, *api::parse_yaml(base::format(
                                                "{{metadata: {{name: {}, namespace: ns, uid: {}}}, spec: {{nodeName: "
                                                "n1, {} containers: [{{name: a, image: i, resources: {{requests: "
                                                "{{cpu: 1500m}}}}}}]}}}}",
                                                name, name, rest)));
    world.env.run_for(base::milliseconds(100));
  };
  put("first", "");
  put("second", "");
  put("critical", "priority: 2000000000,");
  EXPECT_EQ(status_of("ns/first")["phase"].as_string(), "Running");
  EXPECT_EQ(status_of("ns/critical")["phase"].as_string(), "Running");
  EXPECT_EQ(status_of("ns/second")["phase"].as_string(), "Failed");
  EXPECT_EQ(status_of("ns/second")["reason"].as_string(), "OutOfcpu");
  EXPECT_EQ(status_of("ns/second")["message"].as_string(),
            "Pod was rejected: Node didn't have enough resource: cpu, requested: 1500, used: 1500, capacity: 2000");
  EXPECT_TRUE(world.reasons().contains("OutOfcpu"));
  for (const char* name : {"ns/first", "ns/critical"}) {
    Json going = *world.server.find(api::resources::kPods, name);
    going.edit("metadata").set("deletionTimestamp", "2030-01-01T00:00:00Z");
    going.edit("metadata").set("deletionGracePeriodSeconds", 60);
    world.server.put(api::resources::kPods, going);
  }
  put("third", "");
  EXPECT_EQ(status_of("ns/third")["phase"].as_string(), "Running");
}

}  // namespace
}  // namespace node
