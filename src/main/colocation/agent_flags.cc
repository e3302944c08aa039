// Rows, and what they mean.
#include "main/colocation/agent_flags.h"

#include <cstdlib>

#include "base/format.h"
#include "colocation/files/host_files.h"

namespace volcano_main {

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::vector<base::Flag> AgentFlags::rows() {
  std::vector<base::Flag> rows = {
      {"master", &master, "address of the API server, in place of the kubeconfig's"},
      {"kubeconfig", &kubeconfig, "how to reach the API server (default: the pod's account)"},
      {"supported-features", base::CommaList{&features},
       "features that may run: names, -NAME forbids one, * allows all that are not named"},
      {"healthz-address", &healthz_address, "address of the server of /healthz, /metrics and /debug/colocation"},
      {"healthz-port", &healthz_port, "its port"},
      {"kube-cgroup-root", &kube_cgroup_root, "control group above kubepods, as the kubelet's --cgroup-root"},
      {"kube-node-name", &node_name, "the Node that this is (default: KUBE_NODE_NAME)"},
      {"kube-pod-name", &pod_name, "the agent's own pod (default: KUBE_POD_NAME)"},
      {"kube-pod-namespace", &pod_namespace,
       "its namespace, which has the configuration, too (default: KUBE_POD_NAMESPACE)"},
      {"oversubscription-policy", &policy,
       "how idle amounts are judged: extend (by what is used now), or predict (also by what online pods used in this "
       "hour of earlier weeks)"},
      {"oversubscription-ratio", &ratio, "percent of the idle amounts that are offered"},
      {"include-system-usage", &include_system_usage, "count what runs outside pods, too"},
      {"extend-resource-cpu-name", &cpu_name, "name of the offered processors (default: kubernetes.io/batch-cpu)"},
      {"extend-resource-memory-name", &memory_name, "name of the offered memory (default: kubernetes.io/batch-memory)"},
      {"state-dir", &state_folder, "folder for what the next start has to know; empty: nothing is kept"},
      {"version", &version, "print the version"},
      {"v", &v, "log verbosity; 4 and more: debug lines too"},
      {"log-format", &log_format, "text or json"}};
  rows.insert(rows.end(), base::klog_flags().begin(), base::klog_flags().end());
  return rows;
}

base::Status AgentFlags::check() const {
  const auto wrong = [](std::string text) { return base::make_error(base::Code::kInvalid, std::move(text)); };
  if (options().node_name.empty()) return wrong("--kube-node-name: neither it nor KUBE_NODE_NAME names this node");
  if (ratio <= 0) return wrong(base::format("over subscription ratio must be greater than 0, not {}", ratio));
  if (policy != "extend" && policy != "predict")
    return wrong(base::format("--oversubscription-policy: {:?} is neither extend nor predict", policy));
  if (healthz_port < 0 || healthz_port > 65535)
    return wrong(base::format("--healthz-port: {} is not between 0 and 65535", healthz_port));
  return {};
}

colocation::AgentOptions AgentFlags::options() const {
  const auto or_variable = [](const std::string& given, const char* name) {
    return given.empty() ? environment_variable(name) : given;
  };
  colocation::AgentOptions options;
  options.node_name = or_variable(node_name, "KUBE_NODE_NAME");
  options.pod_name = or_variable(pod_name, "KUBE_POD_NAME");
  if (std::string ns = or_variable(pod_namespace, "KUBE_POD_NAMESPACE"); !ns.empty())
    options.pod_namespace = std::move(ns);
  options.paths = colocation::host_paths(environment_variable);
  options.tree = colocation::find_group_tree(options.paths, environment_variable, kube_cgroup_root);
  options.features = features;
  options.ratio_percent = ratio;
  options.include_system_usage = include_system_usage;
  options.predicts = policy == "predict";
  if (!cpu_name.empty()) options.names.cpu = cpu_name;
  if (!memory_name.empty()) options.names.memory = memory_name;
  options.state_folder = state_folder;
  return options;
}

}  // namespace volcano_main
