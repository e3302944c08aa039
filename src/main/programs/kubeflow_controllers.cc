// kubeflow-controllers: notebooks, TensorBoards, viewers, profiles and runs of pipelines on a cluster (kubeflow.md 2 to
// 5).
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/format.h"
#include "base/split.h"
#include "controllers/notebooks/all.h"
#include "controllers/pipelines/all.h"
#include "main/host/flags/notebook_settings.h"
#include "main/host/hosts/controller_host.h"

namespace volcano_main {
namespace {

struct KubeflowFlags {
  std::string metrics_address = ":8080";
  std::string probe_address = ":8081";
  std::vector<std::string> enabled;
  bool leads = false;
  std::string lease_namespace;
  std::string lease = "kubeflow-notebook-controller";
  std::string only_namespace;

  std::vector<base::Flag> rows() {
    return {
        {"metrics-addr", &metrics_address, "address of the metrics server; 0: none"},
        {"probe-addr", &probe_address, "address of the health server; 0: none"},
        {"enable-leader-election", &leads, "run under a lease, so that one of several replicas works"},
        {"leader-election-namespace", &lease_namespace, "namespace of the lease (default: the pod's own)"},
        {"leader-election-id", &lease, "name of the lease"},
        {"enable", &enabled, "a controller that is run, such as notebook-controller; may be repeated (default: all)"},
        {"namespace", &only_namespace, "the namespace that is looked at; empty: all"}};
  }
};

base::Status use(const KubeflowFlags& flags, ControllerFlags& host) {
  std::vector<std::string> all = controllers::notebooks::controller_names();
  std::ranges::copy(controllers::pipelines::controller_names(), std::back_inserter(all));
  for (const std::string& name : flags.enabled)
    if (std::ranges::find(all, name) == all.end())
      return base::make_error(base::Code::kInvalid,
                              base::format("--enable: {:?} is none of {}", name, base::join(all, ", ")));
  host.enabled = flags.enabled.empty() ? all : flags.enabled;
  const auto serves = [](const std::string& address) { return address != "0" && !address.empty(); };
  host.enable_metrics = serves(flags.metrics_address);
  host.listen_address = flags.metrics_address;
  host.enable_healthz = serves(flags.probe_address);
  host.healthz_address = flags.probe_address;
  host.leader_elect = flags.leads;
  host.lease_name = flags.lease;
  const char* own = std::getenv("POD_NAMESPACE");
  host.lease_namespace = !flags.lease_namespace.empty() ? flags.lease_namespace : own != nullptr ? own : "kubeflow";
  host.only_namespace = flags.only_namespace;
  TRY(host.notebooks, notebook_settings_of_environment());
  host.pipelines.emplace();
  return {};
}

}  // namespace

int run_kubeflow_controllers(const Arguments& arguments) {
  KubeflowFlags flags;
  return run_controllers(
      {.name = "kubeflow-controllers",
       .flags = {"master", "kubeconfig", "kube-api-qps", "kube-api-burst", "version", "v", "log-format"},
       .preset = [](ControllerFlags& host) { host.leader_elect = false; },
       .own_flags = flags.rows(),
       .settle = [&flags](ControllerFlags& host) { return use(flags, host); }},
      arguments);
}

}  // namespace volcano_main
