// Probes and hooks of the agent, in a machine whose commands answer as they are told: events, readiness, ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "api/json/yaml.h"
#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "node/agent/agent.h"
#include "node/agent/clock_for_tests.h"
#include "node/agent/lasting_runtime_for_tests.h"

namespace node {
namespace {

using api::Json;

struct Machine : LastingMachine {
  std::vector<std::string> log;
  std::map<std::string, int> codes;  // by command; -1: it does not end
};

class Stream : public api::PodStream {
 public:
  explicit Stream(Machine& machine) : machine_(machine) {}
  bool write(std::string) override { return true; }
  void close_input() override {}
  void resize(int, int) override {}
  void end() override { machine_.log.emplace_back("end"); }

 private:
  Machine& machine_;
};

class Streams : public api::PodStreams {
 public:
  explicit Streams(Machine& machine) : machine_(machine) {}
  Opened exec(const std::string&, api::ExecOptions options, api::PodStreamEvents events) override {
    const std::string& command = options.command[0];
    machine_.log.push_back(command);
    if (const int code = machine_.codes[command]; code >= 0) {
      if (command != "quiet") events.on_output(1, "said " + std::string(20'000, 'x'));
      events.on_end(code);
    }
    return std::shared_ptr<api::PodStream>(std::make_shared<Stream>(machine_));
  }
  Opened attach(const std::string&, api::ExecOptions, api::PodStreamEvents) override {
    return base::make_error(base::Code::kInternal, "not here");
  }
  Opened connect(const std::string&, int, api::PodStreamEvents) override {
    return base::make_error(base::Code::kInternal, "not here");
  }

 private:
  Machine& machine_;
};

class CommandRuntime : public LastingRuntime {
 public:
  explicit CommandRuntime(Machine& machine) : LastingRuntime(machine), machine_(machine) {}
  base::Result<StartedContainer> start(const ContainerSpec& spec) override {
    machine_.log.emplace_back("start");
    return LastingRuntime::start(spec);
  }
  void signal(const std::string&, const std::string& id, int signal) override {
    machine_.log.emplace_back(signal == SIGKILL ? "KILL" : "TERM");
    machine_.on_exit({id, 128 + signal, false, machine_.env->now()});
  }
  std::unique_ptr<api::PodStreams> streams() const override { return std::make_unique<Streams>(machine_); }

 private:
  Machine& machine_;
};

struct World {
  ClockEnv env;
  client::testing::FakeClient server{env};
  Machine machine;
  std::unique_ptr<Agent> agent;

  explicit World(const std::string& container, std::map<std::string, int> codes = {}) {
    machine.env = &env;
    machine.codes = std::move(codes);
    Options options;
    options.node_name = "n1";
    agent = std::make_unique<Agent>(env, server, options, std::make_unique<CommandRuntime>(machine), MachineFacts{});
    agent->start();
    const auto json = api::parse_yaml("{metadata: {name: p, namespace: ns, uid: u}, spec: {containers: [{name: a, " +
                                      container + "}]}}");
    CHECK(json.ok());
    env.run_for(base::seconds(1));
    server.put(api::resources::kPods, *json);
    env.run_for(base::milliseconds(500));
  }
  Json status() const { return (*server.find(api::resources::kPods, "ns/p"))["status"]; }
  bool is(const char* field) const { return status()["containerStatuses"].items().front()[field].as_bool(); }
  std::string condition(std::string_view type) const {
    for (const Json& one : status()["conditions"].items())
      if (one["type"].as_string() == type) return one["status"].str();
    return {};
  }
  bool warned(std::string_view reason, std::string_view message) {
    for (const auto& [key, event] : server.table(api::resources::kEvents))
      if (event["reason"].as_string() == reason && event["message"].as_string().starts_with(message)) return true;
    return false;
  }
  // A change that says nothing: the agent looks at the pod.
  void touch_pod() {
    Json touched = *server.find(api::resources::kPods, "ns/p");
    touched.edit("metadata").edit("labels").set("touched", "yes");
    server.put(api::resources::kPods, touched);
    env.settle();
  }
  void remove_pod(int grace) {
    Json deleting = *server.find(api::resources::kPods, "ns/p");
    deleting.edit("metadata").set("deletionTimestamp", "2026-01-01T00:01:00Z");
    deleting.edit("metadata").set("deletionGracePeriodSeconds", grace);
    server.put(api::resources::kPods, deleting);
  }
};

TEST(AgentProbes, ReadinessFollowsItsProbe) {
  World world("readinessProbe: {exec: {command: [r]}, failureThreshold: 1}", {{"r", 1}});
  EXPECT_TRUE(world.is("started"));
  EXPECT_FALSE(world.is("ready"));
  EXPECT_EQ(world.condition("Ready") + world.condition("ContainersReady"), "FalseFalse");
  EXPECT_TRUE(world.warned("Unhealthy", "Readiness probe failed: said xxx"));
  world.machine.codes["r"] = 0;
  world.env.run_for(base::seconds(10));
  EXPECT_TRUE(world.is("ready"));
  EXPECT_EQ(world.condition("Ready") + world.condition("ContainersReady"), "TrueTrue");
  const std::size_t writes = world.server.calls.size();
  world.env.run_for(base::seconds(30));
  for (std::size_t i = writes; i < world.server.calls.size(); ++i)
    EXPECT_FALSE(world.server.calls[i].ns == "ns" && world.server.calls[i].subresource == "status") << "no change";
}

TEST(AgentProbes, AFailedLivenessProbeRestartsTheContainer) {
  World world("livenessProbe: {exec: {command: [l]}, failureThreshold: 2, periodSeconds: 5}", {{"l", 1}});
  EXPECT_TRUE(world.is("ready"));
  world.env.run_for(base::seconds(4));
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"start", "l", "end"}));
  world.machine.log.clear();
  world.env.run_for(base::seconds(1));
  EXPECT_TRUE(world.warned("Killing", "Container a failed liveness probe, will be restarted"));
  EXPECT_EQ(world.status()["containerStatuses"].items().front()["restartCount"].as_int(), 1);
}

TEST(AgentProbes, AStartupProbeComesFirst) {
  World world("startupProbe: {exec: {command: [s]}}, livenessProbe: {exec: {command: [l]}}", {{"s", 1}});
  EXPECT_FALSE(world.is("started"));
  EXPECT_FALSE(world.is("ready"));
  world.machine.codes["s"] = 0;
  world.env.run_for(base::seconds(11));
  EXPECT_TRUE(world.is("started"));
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"start", "s", "end", "s", "end", "l", "end"}));
}

TEST(AgentProbes, OneThatHangsIsEndedInItsTime) {
  World world("readinessProbe: {exec: {command: [r]}, timeoutSeconds: 3}", {{"r", -1}});
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"start", "r"}));
  world.env.run_for(base::seconds(3));
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"start", "r", "end"}));
  EXPECT_TRUE(world.warned("Unhealthy", "Readiness probe failed: timed out after 3s"));
}

TEST(AgentProbes, WhatCannotBeAskedIsSaid) {
  World world("readinessProbe: {httpGet: {port: web}}");
  EXPECT_TRUE(world.warned("Unhealthy", "Readiness probe errored: the container has no port \"web\""));
  World header(
      "ports: [{name: web, containerPort: 80}], "
      "readinessProbe: {httpGet: {port: web, httpHeaders: [{name: A, value: \"b\\r\\nC: d\"}]}}");
  EXPECT_TRUE(header.warned("Unhealthy", "Readiness probe errored: httpHeaders: \"A\" is not a header"));
}

TEST(AgentProbes, HooksRunAfterTheStartAndBeforeTheEnd) {
  World world("lifecycle: {postStart: {exec: {command: [a]}}, preStop: {exec: {command: [z]}}}");
  EXPECT_TRUE(world.is("ready"));
  world.remove_pod(30);
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"start", "a", "end", "z", "end", "TERM"}));
}

TEST(AgentProbes, AHookThatFailedEndsItsContainer) {
  World world("lifecycle: {postStart: {exec: {command: [a]}}}", {{"a", 1}});
  EXPECT_TRUE(world.warned("FailedPostStartHook", "PostStartHook failed: said"));
  EXPECT_TRUE(world.warned("Killing", "FailedPostStartHook"));
  EXPECT_FALSE(world.is("ready"));
  World quiet("lifecycle: {postStart: {exec: {command: [quiet]}}}", {{"quiet", 1}});
  EXPECT_TRUE(quiet.warned("FailedPostStartHook", "PostStartHook failed"));
  EXPECT_FALSE(quiet.warned("FailedPostStartHook", "PostStartHook failed:"));
}

TEST(AgentProbes, APreStopHookHasTheGracePeriodAndNoMore) {
  World world("lifecycle: {preStop: {exec: {command: [z]}}}", {{"z", -1}});
  world.remove_pod(20);
  world.env.run_for(base::seconds(19));
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"start", "z"}));
  world.env.run_for(base::seconds(2));
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"start", "z", "end", "TERM"}));
  EXPECT_TRUE(world.warned("FailedPreStopHook", "PreStopHook failed: timed out after 20s"));
}

struct SleepCase {
  int asked;
  int grace;
  int slept;
  bool failed;
};
TEST(AgentProbes, ASleepBeforeTheEndIsCutByTheGracePeriod) {
  for (const SleepCase& test :
       {SleepCase{5, 20, 5, false}, SleepCase{20, 20, 20, false}, SleepCase{90, 20, 20, true}}) {
    World world(base::format("lifecycle: {{preStop: {{sleep: {{seconds: {}}}}}}}", test.asked));
    world.remove_pod(test.grace);
    world.env.run_for(base::seconds(test.slept - 1));
    EXPECT_EQ(world.machine.log, std::vector<std::string>{"start"}) << test.asked;
    world.env.run_for(base::seconds(2));
    EXPECT_EQ(world.machine.log, (std::vector<std::string>{"start", "TERM"})) << test.asked;
    EXPECT_EQ(world.warned("FailedPreStopHook", ""), test.failed) << test.asked;
  }
}

TEST(AgentProbes, GoOnInTheirTimeWhenTheClockIsSet) {
  for (const base::Duration ahead : {base::hours(-8), base::hours(8)}) {
    World world(
        "readinessProbe: {exec: {command: [r]}, failureThreshold: 1}, "
        "livenessProbe: {exec: {command: [l]}, initialDelaySeconds: 60, periodSeconds: 100}",
        {{"r", 0}, {"l", 0}});
    const auto asked = [&world](const char* command) { return std::ranges::count(world.machine.log, command); };
    EXPECT_TRUE(world.is("ready"));
    EXPECT_EQ(asked("r"), 1);
    world.env.ahead = ahead;
    world.touch_pod();
    world.env.run_for(base::seconds(9));
    EXPECT_EQ(asked("r"), 1) << ahead.seconds();
    world.env.run_for(base::seconds(25));
    EXPECT_EQ(asked("r"), 4) << ahead.seconds();
    EXPECT_TRUE(world.is("ready"));
    EXPECT_FALSE(world.warned("Unhealthy", ""));
    EXPECT_EQ(asked("l"), 0) << ahead.seconds();
    world.machine.codes["r"] = 1;
    world.env.run_for(base::seconds(27));
    EXPECT_EQ(asked("l"), 1) << ahead.seconds();
    EXPECT_FALSE(world.is("ready"));
  }
}

}  // namespace
}  // namespace node
