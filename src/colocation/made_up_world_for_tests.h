// The agent's world, made up: a machine, its network, and a server.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "api/meta/resource.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "colocation/agent.h"
#include "colocation/made_up_machine_for_tests.h"
#include "colocation/made_up_network_for_tests.h"
#include "colocation/metrics.h"
#include "colocation/policy/config.h"

namespace colocation::made_up {

inline constexpr std::int64_t kGi = std::int64_t{1} << 30;

// A server that also takes evictions.
class Server : public client::testing::FakeClient {
 public:
  explicit Server(rt::Env& env) : FakeClient(env), own_env_(env) {}
  void call(client::Request request, OnResult on_result) override {
    if (request.subresource != "eviction") return FakeClient::call(std::move(request), std::move(on_result));
    calls.push_back(request);
    own_env_.loop().post([this, request, on_result = std::move(on_result)] {
      if (forbids && forbids(request)) return on_result(base::make_error(base::Code::kTooManyRequests, "a budget"));
      on_result(api::Json::object({{"kind", "Status"}}));
    });
  }

 private:
  rt::Env& own_env_;
};

struct World {
  explicit World(GroupVersion version = GroupVersion::kV2, GroupDriver driver = GroupDriver::kCgroupfs)
      : machine(version, driver) {
    metrics.add(metric_rows());
    client.begins_watches = true;
    client.put(api::resources::kNodes, made_up::object(R"(
kind: Node
metadata: {name: n1, uid: n, labels: {volcano.sh/oversubscription: "true"}}
spec: {}
status: {allocatable: {cpu: "10", memory: 10Gi}, capacity: {cpu: "10", memory: 10Gi}}
)"));
    machine.make_group(pods_path(machine.tree));
    machine.memory(20 * kGi, 15 * kGi);
  }

  void config(const std::string& json) {
    client.put(
        api::resources::kConfigMaps,
        api::Json::object({{"metadata", api::Json::object({{"name", kConfigMapName}, {"namespace", "volcano-system"}})},
                           {"data", api::Json::object({{kConfigKey, json}})}}));
  }
  // A pod that runs here, with its groups.
  std::string pod(const std::string& name, const std::string& more) {
    api::Json pod = made_up::object(base::format(R"(
kind: Pod
metadata: {{name: {0}, namespace: a, uid: uid-{0}, {1}
status: {{phase: Running, startTime: "2025-12-31T00:00:00Z", containerStatuses: [{{name: c, containerID: "containerd://id-{0}", state: {{running: {{}}}}}}]}}
)",
                                                 name, more));
    pod.edit("spec").set("nodeName", "n1");
    client.put(api::resources::kPods, pod);
    return machine.make_pod(pod_facts(pod, {}));
  }
  std::string offline(const std::string& name, std::int64_t memory_gi = 1) {
    return pod(name, base::format(R"(annotations: {{volcano.sh/qos-level: BE}}}}
spec: {{containers: [{{name: c, resources: {{requests: {{kubernetes.io/batch-cpu: "2000", kubernetes.io/batch-memory: {0}Gi}}, limits: {{kubernetes.io/batch-cpu: "4000", kubernetes.io/batch-memory: {0}Gi}}}}}}]}})",
                                  memory_gi));
  }
  std::string online(const std::string& name) {
    return pod(name, R"(annotations: {}}
spec: {containers: [{name: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]})");
  }
  void start(std::vector<std::string> features = {"*"}) {
    AgentOptions options{.node_name = "n1", .paths = machine.paths, .tree = machine.tree};
    options.pod_name = "agent-x";
    options.features = std::move(features);
    options.metrics = &metrics;
    options.state_folder = state;
    options.network = network;
    agent = std::make_unique<Agent>(env, client, options);
    agent->start();
  }
  void run(int seconds) {
    for (int second = 0; second < seconds; ++second) {
      cpu_us += cpu_us_a_second;
      machine.use(pods_path(machine.tree), cpu_us, memory_bytes);
      env.run_for(base::seconds(1));
    }
  }
  const api::Json& node() { return *client.find(api::resources::kNodes, "n1"); }
  std::string offered(const char* resource) { return node()["status"]["allocatable"][resource].str(); }
  std::vector<std::string> evicted() {
    std::vector<std::string> names;
    for (const client::Request& one : client.calls)
      if (one.subresource == "eviction") names.push_back(one.name);
    return names;
  }
  std::vector<std::string> reasons() {
    std::vector<std::string> out;
    for (const auto& [key, event] : client.table(api::resources::kEvents)) out.push_back(event["reason"].str());
    return out;
  }
  bool has_reason(const std::string& reason) {
    const auto all = reasons();
    return std::ranges::find(all, reason) != all.end();
  }
  bool is_tainted() {
    for (const api::Json& taint : node()["spec"]["taints"].items())
      if (taint["key"].as_string() == "volcano.sh/offline-job-evicting") return true;
    return false;
  }

  Machine machine;
  client::testing::FakeEnv env;
  Server client{env};
  base::Metrics metrics;
  std::string state;
  std::int64_t cpu_us = 0, cpu_us_a_second = 2'000'000, memory_bytes = 2 * kGi;
  std::shared_ptr<Network> network = std::make_shared<Network>();
  std::unique_ptr<Agent> agent;
};

}  // namespace colocation::made_up
