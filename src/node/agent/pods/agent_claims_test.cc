// The agent, its pods' resource claims, and drivers that are made up: what waits for what, and what is said of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include "api/json/yaml.h"
#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "node/agent/agent.h"
#include "node/agent/lasting_runtime_for_tests.h"
#include "node/dra/fake_drivers_for_tests.h"
#include "rt/files/files.h"

namespace node {
namespace {

using api::Json;

// A machine that outlives agents.
struct Machine : LastingMachine {
  std::string environment;  // of the last container

  void end(int code) {
    for (auto& [uid, pod] : pods)
      for (RecoveredContainer& run : pod.containers) {
        if (!std::exchange(run.running, false)) continue;
        run.exit_code = code;
        run.finished_at = env->now();
        on_exit({run.id, code, false, run.finished_at});
      }
  }
};

class GrantedRuntime : public LastingRuntime {
 public:
  explicit GrantedRuntime(Machine& machine) : LastingRuntime(machine), machine_(machine) {}
  base::Result<StartedContainer> start(const ContainerSpec& spec) override {
    machine_.environment.clear();
    for (const auto& [name, value] : spec.devices.environment) machine_.environment += name + "=" + value;
    return LastingRuntime::start(spec);
  }
  void signal(const std::string&, const std::string&, int) override { machine_.end(143); }

 private:
  Machine& machine_;
};

class AgentClaims : public testing::Test {
 protected:
  AgentClaims() {
    machine.env = &env;
    (void)rt::make_folders(folder + "/cdi", 0700);
    (void)rt::write_file(
        folder + "/cdi/gpu.json",
        R"({"cdiVersion": "0.6.0", "kind": "gpu.org/dev", "devices": [{"name": "a", "containerEdits": {"env": ["SEEN=yes"]}}]})",
        0600);
    slice("of-gpu", "gpu.org", "n1");
    slice("elsewhere", "gpu.org", "n2");
    begin();
  }
  ~AgentClaims() override {
    agent.reset();
    (void)rt::remove_tree(folder);
  }
  void begin() {
    agent.reset();
    Options options;
    options.node_name = "n1";
    options.data_dir = folder;
    options.devices.cdi_folders = {folder + "/cdi"};
    auto made = std::make_unique<FakeDrivers>(env);
    drivers = made.get();
    MachineFacts facts;
    facts.cpus = 2;
    facts.memory_bytes = 1 << 30;
    agent = std::make_unique<Agent>(env, server, options, std::make_unique<GrantedRuntime>(machine), facts,
                                    std::move(made));
    agent->start();
    env.run_for(base::seconds(1));
  }
  void put_pod() {
    server.put(
        api::resources::kResourceClaims,
        *api::parse_yaml("{metadata: {name: a, namespace: ns, uid: uid-a}, status: {allocation: {devices: {results: "
                         "[{driver: gpu.org, pool: n1, device: g0, request: r}]}}, reservedFor: [{resource: pods, "
                         "name: p, uid: uid-p}]}}"));
    server.put(api::resources::kPods,
               *api::parse_yaml("{metadata: {name: p, namespace: ns, uid: uid-p}, spec: {restartPolicy: Never, "
                                "resourceClaims: [{name: c, resourceClaimName: a}], containers: [{name: m, image: i, "
                                "resources: {claims: [{name: c}]}}]}}"));
    env.run_for(base::seconds(1));
  }
  void slice(const std::string& name, const std::string& driver, const std::string& node) {
    server.put(
        api::resources::kResourceSlices,
        *api::parse_yaml("{metadata: {name: " + name + "}, spec: {driver: " + driver + ", nodeName: " + node + "}}"));
  }
  std::string phase() const { return (*server.find(api::resources::kPods, "ns/p"))["status"]["phase"].str(); }
  bool has_slice(const std::string& name) const {
    return server.find(api::resources::kResourceSlices, name) != nullptr;
  }
  bool reported(std::string_view reason, std::string_view message) {
    for (const auto& [key, event] : server.table(api::resources::kEvents))
      if (event["reason"].as_string() == reason && event["message"].as_string() == message) return true;
    return false;
  }

  std::string folder = [] {
    char path[] = "/tmp/agent-claims-XXXXXX";
    return std::string(::mkdtemp(path));
  }();
  client::testing::FakeEnv env;
  client::testing::FakeClient server{env};
  Machine machine;
  FakeDrivers* drivers = nullptr;  // the agent's
  std::unique_ptr<Agent> agent;
};

TEST_F(AgentClaims, reach_containers_and_are_given_back_before_the_pod_is_over) {
  drivers->come("gpu.org");
  put_pod();
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(machine.environment, "SEEN=yes");
  drivers->silent = true;
  machine.end(0);
  env.run_for(base::seconds(1));
  EXPECT_EQ(drivers->log, "gpu.org prepares a; gpu.org takes back a; ");
  EXPECT_EQ(phase(), "Running") << "others would be given the device while its driver has it still";
  drivers->answer();
  env.run_for(base::seconds(1));
  EXPECT_EQ(phase(), "Succeeded");
}

TEST_F(AgentClaims, say_how_their_devices_are) {
  drivers->come("gpu.org");
  put_pod();
  const auto warned = [this] {
    env.run_for(base::seconds(1));
    const Json pod = *server.find(api::resources::kPods, "ns/p");
    return pod["status"]["containerStatuses"][std::size_t{0}]["allocatedResourcesStatus"].dump();
  };
  const auto row = [](const std::string& rest) {
    return R"([{"name":"claim:c","resources":[{"resourceID":"gpu.org/dev=a","health":)" + rest + "}]}]";
  };
  EXPECT_EQ(warned(), row(R"("Unknown")"));
  drivers->news.health("gpu.org", {{"pool", "device", Health::kHealthy, base::seconds(30)}});
  EXPECT_EQ(warned(), row(R"("Healthy")"));
  drivers->news.health("gpu.org", {{"pool", "device", Health::kUnhealthy, base::seconds(30), "fan stopped"}});
  EXPECT_EQ(warned(), row(R"("Unhealthy","message":"fan stopped")"));
  env.run_for(base::seconds(31));
  EXPECT_EQ(warned(), row(R"("Unknown")")) << "nobody has said so again";
  drivers->news.health("gpu.org", {{"pool", "device", Health::kHealthy, base::seconds(30)}});
  EXPECT_EQ(warned(), row(R"("Healthy")"));
  drivers->news.health_lost("gpu.org");
  EXPECT_EQ(warned(), row(R"("Unknown")"));
}

TEST_F(AgentClaims, make_a_pod_wait_for_its_driver) {
  put_pod();
  EXPECT_EQ(phase(), "Pending");
  EXPECT_TRUE(reported("FailedPrepareDynamicResources",
                       "Failed to prepare dynamic resources: prepare dynamic resources: DRA driver gpu.org is not "
                       "registered"));
  env.run_for(base::minutes(5));
  drivers->come("gpu.org");
  env.settle();
  EXPECT_EQ(phase(), "Running") << "at once, however long it waited";
}

TEST_F(AgentClaims, of_a_pod_that_is_deleted_are_given_back_before_it_goes) {
  drivers->come("gpu.org");
  put_pod();
  drivers->errors["gpu.org"] = "busy";
  Json pod = *server.find(api::resources::kPods, "ns/p");
  pod.edit("metadata").set("deletionTimestamp", base::format_rfc3339(env.now()));
  pod.edit("metadata").set("deletionGracePeriodSeconds", 1);
  server.put(api::resources::kPods, pod);
  env.run_for(base::seconds(3));
  EXPECT_NE(server.find(api::resources::kPods, "ns/p"), nullptr);
  EXPECT_TRUE(
      reported("FailedUnprepareDynamicResources",
               "Failed to unprepare dynamic resources: unprepare dynamic resources: NodeUnprepareResources failed "
               "for ResourceClaim a: busy"));
  drivers->errors.clear();
  env.run_for(base::seconds(10));
  EXPECT_EQ(server.find(api::resources::kPods, "ns/p"), nullptr);
}

TEST_F(AgentClaims, survive_a_restart_of_the_agent) {
  drivers->come("gpu.org");
  put_pod();
  begin();
  EXPECT_EQ(phase(), "Running");
  machine.end(0);
  env.run_for(base::seconds(5));
  EXPECT_EQ(phase(), "Running") << "the driver is not back yet";
  drivers->come("gpu.org");
  env.run_for(base::seconds(1));
  EXPECT_EQ(drivers->log, "gpu.org takes back a; ");
  EXPECT_EQ(phase(), "Succeeded");
}

TEST_F(AgentClaims, do_not_hold_up_an_agent_that_stops) {
  drivers->come("gpu.org");
  put_pod();
  drivers->errors["gpu.org"] = "busy";
  bool stopped = false;
  agent->stop([&] { stopped = true; });
  env.run_for(base::seconds(2));
  EXPECT_TRUE(stopped);
  EXPECT_EQ(phase(), "Failed");
  machine.pods.clear();
  begin();
  drivers->come("gpu.org");
  env.run_for(base::seconds(1));
  EXPECT_EQ(drivers->log, "gpu.org takes back a; ");
}

TEST_F(AgentClaims, of_a_pod_that_vanished_are_given_back) {
  drivers->come("gpu.org");
  put_pod();
  agent.reset();
  server.erase(api::resources::kPods, "ns/p");
  begin();
  drivers->come("gpu.org");
  env.run_for(base::seconds(5));
  EXPECT_EQ(drivers->log, "gpu.org takes back a; ");
}

TEST_F(AgentClaims, come_from_slices_that_last_as_long_as_their_driver) {
  EXPECT_FALSE(has_slice("of-gpu")) << "nobody is there to hand it out";
  EXPECT_TRUE(has_slice("elsewhere"));
  drivers->come("gpu.org");
  slice("of-gpu", "gpu.org", "n1");
  slice("of-nic", "nic.org", "n1");
  drivers->go("gpu.org");
  env.run_for(base::seconds(20));
  drivers->come("gpu.org");
  env.run_for(base::minutes(2));
  EXPECT_TRUE(has_slice("of-gpu")) << "it was away for a moment";
  drivers->go("gpu.org");
  env.run_for(base::seconds(31));
  EXPECT_FALSE(has_slice("of-gpu"));
  EXPECT_TRUE(has_slice("of-nic"));
  EXPECT_TRUE(has_slice("elsewhere"));
}

}  // namespace
}  // namespace node
