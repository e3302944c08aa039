// The agent of one node on which online and offline pods share what there is (docs/colocation.md): it offers idle
// amounts to offline pods, keeps their control groups, and sheds them under pressure.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/metrics.h"
#include "client/client.h"
#include "colocation/files/host_files.h"
#include "colocation/machine/pod_network.h"
#include "colocation/policy/pod_facts.h"
#include "rt/env.h"

namespace colocation {

struct AgentOptions {
  std::string node_name;
  // The pod of the agent, which events are about; without a name they are about the node. The namespace has the
  // configuration.
  std::string pod_name;
  std::string pod_namespace = "volcano-system";
  HostPaths paths = {};
  GroupTree tree = {};
  std::vector<std::string> features = {"OverSubscription", "Eviction", "Resources"};
  std::int64_t ratio_percent = 60;
  bool include_system_usage = false;
  bool predicts = false;  // the policy "predict"
  BatchNames names = {};
  std::string state_folder;  // for what the next start has to know; empty: nothing is kept
  bool one_machine = false;  // of `volcano up`: the node takes part without a label
  base::Metrics* metrics = nullptr;
  std::shared_ptr<PodNetwork> network = nullptr;  // null: that of the kernel
};

// On the loop of `env`.
class Agent {
 public:
  Agent(rt::Env& env, client::Client& client, AgentOptions options);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  void start();
  // Takes back what was set in groups and the offer of the node, then calls `done`; nothing is done afterwards. A
  // server that does not answer is waited for five seconds at most.
  void stop(std::function<void()> done);
  // Why the agent does not do its work; empty: it does.
  std::string trouble() const;
  // The page /debug/colocation.
  api::Json report() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace colocation
