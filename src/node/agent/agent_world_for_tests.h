// An agent on a machine that is made up, beside a server that is made up.
#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/ipv4.h"
#include "api/json/yaml.h"
#include "client/fake_client_for_tests.h"
#include "node/agent/agent.h"
#include "node/agent/clock_for_tests.h"

namespace node::made_up {

using api::Json;

// The requests to the made-up machine, and its answers.
struct Machine {
  std::vector<std::string> log;
  std::vector<RecoveredPod> recovered;
  std::set<std::string> failing_images;
  std::optional<std::string> refusal;
  std::optional<std::string> start_failure;
  base::Code start_code = base::Code::kInternal;  // of that failure
  std::string last_words = "last words";
  bool proxy = false;
  DiskUse disk_use;
  std::vector<std::string> rules;  // addresses of services, as they were set
  bool rules_fail = false;
  bool policies = false;              // NetworkPolicies have an effect
  std::vector<std::string> isolated;  // addresses, as the rules of policies were set
  std::string rules_refused = {};     // a port of a service with which no rules are taken
  Runtime::OnExit on_exit;
  rt::Env* env = nullptr;
  std::set<std::string> running;

  void exit(const std::string& id, int code) {
    running.erase(id);
    on_exit({id, code, false, env->now()});
  }
};

class FakeRuntime : public Runtime, public NodeNetwork {
 public:
  explicit FakeRuntime(Machine& machine) : machine_(machine) {}
  base::Result<std::vector<RecoveredPod>> open(OnExit on_exit) override {
    machine_.on_exit = std::move(on_exit);
    return machine_.recovered;
  }
  std::optional<std::string> refusal(const Json&) const override { return machine_.refusal; }
  bool image_present(const std::string&) const override { return false; }
  base::Result<ImageAnswer> ensure_image(const ImageRequest& request) override {
    if (!request.keys.empty()) machine_.log.push_back("keys " + request.keys);
    if (machine_.failing_images.contains(request.image))
      return base::make_error(base::Code::kUnavailable, "no such image");
    return ImageAnswer{"sha256:1", true, 10};
  }
  base::Result<std::string> prepare(const SandboxSpec& spec) override {
    machine_.log.push_back("prepare " + spec.name);
    return std::string("10.0.0.9");
  }
  base::Status update_volume(const std::string&, const VolumeSpec& volume) override {
    machine_.log.push_back("update " + volume.name);
    return {};
  }
  DiskUse disk_use(const DiskPlaces& places, const std::atomic<bool>&) override {
    if (places.whole) machine_.log.push_back("measure " + places.containers.front().first);
    return machine_.disk_use;
  }
  base::Result<StartedContainer> start(const ContainerSpec& spec) override {
    machine_.log.push_back("start " + spec.name + (spec.target_id.empty() ? "" : " -> " + spec.target_id));
    if (machine_.start_failure) return base::make_error(machine_.start_code, *machine_.start_failure);
    machine_.running.insert(spec.id);
    return StartedContainer{machine_.env->now()};
  }
  void signal(const std::string&, const std::string& id, int signal) override {
    machine_.log.push_back(signal == SIGKILL ? "kill" : "term");
    if (signal == SIGKILL) machine_.exit(id, 137);
  }
  void remove(const std::string&, bool logs_too) override { machine_.log.push_back(logs_too ? "erase" : "remove"); }
  std::string termination_message(const std::string&, const std::string&, bool) const override {
    return machine_.last_words;
  }
  std::vector<RecoveredContainer> containers_of(const std::string& uid) const override {
    for (const RecoveredPod& pod : machine_.recovered)
      if (pod.uid == uid) return pod.containers;
    return {};
  }
  NodeNetwork& network() override { return *this; }
  std::string no_service_proxy() const override { return machine_.proxy ? "" : "none"; }
  base::Status set_services(const ServiceRules& rules) override {
    std::string text;
    for (const auto& [key, chain] : rules.services) text += key + "; ";
    for (const auto& [key, chain] : rules.machine_ports) text += "port " + key + "; ";
    machine_.rules.push_back(text);
    return try_services(rules);
  }
  base::Status try_services(const ServiceRules& rules) override {
    if (machine_.rules_fail || rules.services.contains(machine_.rules_refused))
      return base::make_error(base::Code::kUnavailable, "the kernel says no");
    return {};
  }
  std::string no_policies() const override { return machine_.policies ? "" : "none"; }
  base::Status set_policies(const PolicyRules& rules) override {
    std::string text;
    for (const auto& [address, chain] : rules.coming) text += api::ipv4_text(address) + "; ";
    machine_.isolated.push_back(text);
    machine_.log.push_back("policies " + text);
    if (machine_.rules_fail) return base::make_error(base::Code::kUnavailable, "the kernel says no");
    return {};
  }
  void close(bool) override { machine_.log.push_back("close"); }
  std::string name() const override { return "fake://1"; }

 private:
  Machine& machine_;
};

struct World {
  ClockEnv env;
  client::testing::FakeClient server{env};
  Machine machine;
  std::unique_ptr<Agent> agent;

  World() { machine.env = &env; }
  void start() {
    Options options;
    options.node_name = "n1";
    MachineFacts facts;
    facts.cpus = 2;
    facts.memory_bytes = 1 << 30;
    facts.architecture = "amd64";
    agent = std::make_unique<Agent>(env, server, options, std::make_unique<FakeRuntime>(machine), facts);
    agent->start();
    env.run_for(base::seconds(1));
  }
  void put(const std::string& spec, const std::string& metadata = "") {
    const auto json = api::parse_yaml("{metadata: {name: p, namespace: ns" + metadata + "}, spec: " + spec + "}");
    CHECK(json.ok());
    server.put(api::resources::kPods, *json);
    env.run_for(base::milliseconds(100));
  }
  void join(const std::string& list) {
    Json changed = pod();
    changed.edit("spec").set("ephemeralContainers", *api::parse_yaml(list));
    server.put(api::resources::kPods, changed);
    env.run_for(base::milliseconds(100));
  }
  Json pod() const {
    const Json* found = server.find(api::resources::kPods, "ns/p");
    return found == nullptr ? Json() : *found;
  }
  Json container() const { return pod()["status"]["containerStatuses"].items().front(); }
  std::string id() const { return container()["containerID"].str().substr(10); }
  std::set<std::string> reasons() {
    std::set<std::string> out;
    for (const auto& [key, event] : server.table(api::resources::kEvents)) out.insert(event["reason"].str());
    return out;
  }
};

}  // namespace node::made_up
