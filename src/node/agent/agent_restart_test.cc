// The agent is killed at every step of a container's life; what the container did is reported all the same.
#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "node/agent/agent.h"
#include "node/agent/lasting_runtime_for_tests.h"

namespace node {
namespace {

using api::Json;

// A machine that outlives agents: what is here is on its disk, or runs.
struct Machine : LastingMachine {
  int starts = 0;
  std::string warned;         // names of what was started, "|" for a loss of power
  bool die_in_start = false;  // the next start is cut short: the container is made, but not let go

  RecoveredContainer* running() {
    for (auto& [uid, pod] : pods)
      for (RecoveredContainer& run : pod.containers)
        if (run.running) return &run;
    return nullptr;
  }
  // True if there was something to end. The exit is on disk before anybody is told.
  bool end(int code) {
    RecoveredContainer* run = running();
    if (run == nullptr) return false;
    run->running = false;
    run->exit_code = code;
    run->finished_at = env->now();
    if (on_exit) on_exit({run->id, code, false, run->finished_at});
    return true;
  }
};

class RestartedRuntime : public LastingRuntime {
 public:
  explicit RestartedRuntime(Machine& machine) : LastingRuntime(machine), machine_(machine) {}
  base::Result<StartedContainer> start(const ContainerSpec& spec) override {
    std::vector<RecoveredContainer>& runs = machine_.pods[spec.pod_uid].containers;
    std::erase_if(runs, [&](const RecoveredContainer& run) { return run.id == spec.id; });
    RecoveredContainer run{.name = spec.name, .attempt = spec.attempt, .id = spec.id};
    run.started = run.running = !machine_.die_in_start;
    run.started_at = machine_.env->now();
    runs.push_back(run);
    if (run.started) ++machine_.starts;
    machine_.warned += run.started ? spec.name : "";
    return StartedContainer{run.started_at};
  }
  void signal(const std::string&, const std::string& id, int) override {
    if (const RecoveredContainer* run = machine_.running(); run != nullptr && run->id == id) machine_.end(143);
  }
  void remove(const std::string& uid, bool logs_too) override {
    const auto found = machine_.pods.find(uid);
    if (found == machine_.pods.end()) return;
    found->second.prepared = false;
    for (RecoveredContainer& run : found->second.containers) run.running = false;
    if (logs_too) machine_.pods.erase(found);
  }
  std::string termination_message(const std::string&, const std::string&, bool) const override { return "last words"; }

 private:
  Machine& machine_;
};

struct World {
  client::testing::FakeEnv env;
  client::testing::FakeClient server{env};
  Machine machine;
  std::unique_ptr<Agent> agent;
  std::map<std::int64_t, std::int64_t> huge_pages = {};

  World() {
    machine.env = &env;
    const auto pod = api::parse_yaml(
        "{metadata: {name: p, namespace: ns, uid: u}, spec: {restartPolicy: Never, containers: [{name: a, image: "
        "i}]}}");
    CHECK(pod.ok());
    server.put(api::resources::kPods, *pod);
    start();
  }
  void start() {
    MachineFacts facts;
    facts.cpus = 2;
    facts.memory_bytes = 1 << 30;
    facts.huge_pages = huge_pages;
    Options options;
    options.node_name = "n1";
    agent = std::make_unique<Agent>(env, server, options, std::make_unique<RestartedRuntime>(machine), facts);
    agent->start();
  }
  void kill() {
    machine.on_exit = {};
    agent.reset();
    env.drop_tasks();
  }
  Json pod() const {
    const Json* found = server.find(api::resources::kPods, "ns/p");
    return found == nullptr ? Json() : *found;
  }
  void lose_power() {
    kill();
    for (auto& [uid, pod] : machine.pods) {
      pod.prepared = false;
      for (RecoveredContainer& run : pod.containers) {
        if (!run.running) continue;
        run.running = false;
        run.lost = true;
        run.exit_code = 137;
      }
    }
    machine.warned += "|";
    start();
  }
  void erase_as_kubectl_does() {
    Json doomed = pod();
    doomed.edit("metadata").set("deletionTimestamp", base::format_rfc3339(env.now() + base::seconds(30)));
    doomed.edit("metadata").set("deletionGracePeriodSeconds", 30);
    server.put(api::resources::kPods, doomed);
  }
};

constexpr int kSteps = 45;  // callbacks until the pod runs, and then some

struct Moment {
  int kill;    // the step before which the agent is killed
  int revive;  // when the next one starts
  int end;     // when the container ends by itself
};

void play(World& world, const Moment& at) {
  for (int step = 0; step < 3 * kSteps; ++step) {
    if (step == at.kill) world.kill();
    if (step == at.revive) world.start();
    if (step == at.end) world.machine.end(0);
    (void)world.env.step();
  }
  // One that had not begun by then ends now.
  for (int second = 0; second < 60; ++second) {
    world.env.run_for(base::seconds(1));
    world.machine.end(0);
  }
}

TEST(AgentRestart, EndsAreReportedWheneverTheAgentIsKilled) {
  for (int kill = 0; kill < kSteps; ++kill) {
    for (int end = 0; end < 2 * kSteps; ++end) {
      World world;
      play(world, {.kill = kill, .revive = kill + end % 3, .end = end});
      ASSERT_EQ(world.pod()["status"]["phase"].as_string(), "Succeeded") << kill << " " << end;
      ASSERT_EQ(world.machine.starts, 1) << kill << " " << end;
      const Json& container = world.pod()["status"]["containerStatuses"].items().front();
      ASSERT_EQ(container["state"]["terminated"]["message"].as_string(), "last words") << kill << " " << end;
    }
  }
}

TEST(AgentRestart, PodsCanBeDeletedWheneverTheAgentIsKilled) {
  for (int kill = 0; kill < kSteps; ++kill) {
    for (int end = 0; end < 2 * kSteps; end += 3) {
      World world;
      for (int step = 0; step < 3 * kSteps; ++step) {
        if (step == kSteps / 2) world.erase_as_kubectl_does();
        if (step == kill) {
          world.kill();
          world.start();
        }
        if (step == end) world.machine.end(0);
        (void)world.env.step();
      }
      world.env.run_for(base::seconds(60));
      ASSERT_TRUE(world.pod().is_null()) << kill << " " << end << ": " << world.pod().dump();
      ASSERT_TRUE(world.machine.pods.empty()) << kill << " " << end;
    }
  }
}

// An init container, a sidecar and a service: what is started after a loss of power is what a new pod starts, whenever
// the agent is killed besides.
TEST(AgentRestart, AfterALossOfPowerInitContainersRunAgain) {
  for (int cut = 0; cut < 2 * kSteps; ++cut) {
    for (int kill = cut + 1; kill < cut + 2 * kSteps; kill += 7) {
      World world;
      Json pod = world.pod();
      pod.set("spec", *api::parse_yaml("{initContainers: [{name: i, image: b}, {name: s, image: b, restartPolicy: "
                                       "Always}], containers: [{name: a, image: b}]}"));
      world.server.put(api::resources::kPods, pod);
      for (int step = 0; step < 6 * kSteps; ++step) {
        if (step == cut) world.lose_power();
        if (step == kill) {
          world.kill();
          world.start();
        }
        if (RecoveredContainer* run = world.machine.running(); run != nullptr && run->name == "i") world.machine.end(0);
        (void)world.env.step();
      }
      const std::string& warned = world.machine.warned;
      ASSERT_EQ(warned.substr(warned.find('|') + 1), "isa") << cut << " " << kill;
      const Json status = world.pod()["status"];
      ASSERT_EQ(status["phase"].as_string(), "Running") << cut << " " << kill;
      const bool had_run = warned.find('a') < warned.find('|');
      ASSERT_EQ(status["containerStatuses"].items().front()["restartCount"].as_int(), had_run ? 1 : 0);
      ASSERT_TRUE(!had_run || status["initContainerStatuses"].items().front()["restartCount"].as_int() == 1);
    }
  }
}

TEST(AgentRestart, AStartThatWasCutShortIsDoneAgain) {
  for (int kill = 0; kill < kSteps; ++kill) {
    World world;
    world.machine.die_in_start = true;
    for (int step = 0; step < kill; ++step) {
      (void)world.env.step();
      if (!world.machine.pods.empty() && !world.machine.pods.begin()->second.containers.empty()) break;
    }
    world.kill();
    world.machine.die_in_start = false;
    world.start();
    for (int second = 0; second < 60; ++second) {
      world.env.run_for(base::seconds(1));
      world.machine.end(0);
    }
    ASSERT_EQ(world.pod()["status"]["phase"].as_string(), "Succeeded") << kill;
    ASSERT_EQ(world.machine.starts, 1) << kill;
  }
}

TEST(AgentRestart, TheNodeHasTheHugePagesOfItsLastStart) {
  World world;
  const auto amounts = [&world](const char* list) {
    world.env.run_for(base::seconds(2));
    const Json& status = (*world.server.find(api::resources::kNodes, "n1"))["status"][list];
    return base::format("{} {} {}", status["memory"].as_string(), status["hugepages-2Mi"].dump(),
                        status["hugepages-1Gi"].dump());
  };
  const auto again = [&world](std::map<std::int64_t, std::int64_t> pages) {
    world.kill();
    world.huge_pages = std::move(pages);
    world.start();
  };
  EXPECT_EQ(amounts("allocatable"), "1Gi null null");
  again({{2 << 20, 256 << 20}, {1 << 30, 512 << 20}});
  EXPECT_EQ(amounts("capacity"), R"(1Gi "256Mi" "512Mi")");
  EXPECT_EQ(amounts("allocatable"), R"(256Mi "256Mi" "512Mi")") << "pages that are set aside serve nothing else";
  again({{2 << 20, std::int64_t{2} << 30}});
  EXPECT_EQ(amounts("allocatable"), R"(0 "2Gi" null)");
  again({});
  EXPECT_EQ(amounts("allocatable"), "1Gi null null");
  EXPECT_EQ(amounts("capacity"), "1Gi null null");
}

}  // namespace
}  // namespace node
