// The flags of vc-agent (agent.md 2.1).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/flags.h"
#include "base/result.h"
#include "colocation/agent.h"

namespace volcano_main {

// The value of a variable of the environment; empty: it is not set.
std::string environment_variable(const std::string& name);

struct AgentFlags {
  std::string master, kubeconfig;
  std::vector<std::string> features = {"OverSubscription", "Eviction", "Resources"};
  std::string healthz_address;
  int healthz_port = 3300;
  std::string kube_cgroup_root, node_name, pod_name, pod_namespace;
  std::string policy = "extend";
  std::int64_t ratio = 60;
  bool include_system_usage = false;
  std::string cpu_name, memory_name;
  std::string state_folder = "/var/lib/volcano-agent";
  int v = 0;
  std::string log_format = "text";
  bool version = false;

  std::vector<base::Flag> rows();
  base::Status check() const;
  colocation::AgentOptions options() const;
};

}  // namespace volcano_main
