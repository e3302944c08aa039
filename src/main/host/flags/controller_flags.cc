// Rows and meaning of the controller flags.
#include "main/host/flags/controller_flags.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/format.h"
#include "controllers/notebooks/all.h"
#include "controllers/pipelines/all.h"
#include "controllers/workflows/workflow.h"
#include "scheduler/model/core/feature_gates.h"

namespace volcano_main {
namespace {}  // namespace

std::vector<base::Flag> ControllerFlags::rows() {
  std::vector<base::Flag> rows = {
      {"master", &master, "API server URL, overrides the kubeconfig"},
      {"kubeconfig", &kubeconfig, "kubeconfig; empty: in a cluster"},
      {"kube-api-qps", &kube_api_qps,
       "requests a second to the API server; 0: no limit by time, 64 wait for answers at once"},
      {"kube-api-burst", &kube_api_burst, "burst of requests to the API server, where --kube-api-qps limits them"},
      {"ca-cert-file", &ca_cert_file, "for TLS of the health server, which needs all three"},
      {"tls-cert-file", &tls_cert_file, "for TLS of the health server, which needs all three"},
      {"tls-private-key-file", &tls_private_key_file, "for TLS of the health server, which needs all three"},
      {"enable-healthz", &enable_healthz, "serve /healthz"},
      {"healthz-address", &healthz_address, "address of the health server"},
      {"enable-metrics", &enable_metrics, "serve /metrics"},
      {"listen-address", &listen_address, "address of the metrics server"},
      {"version", &version, "print the version and exit"},
      {"scheduler-name", &scheduler_names, "schedulers whose plain pods get groups (default volcano)"},
      {"max-requeue-num", &requeues_max, "failed attempts before a request is given up; negative: no limit"},
      {"status-counts-interval", &counts_interval,
       "least time between statuses of a job or queue that differ in numbers only; 0: each change is written"},
      {"inherit-owner-annotations", &inherit_owner_annotations, "groups of plain pods take their owner's annotations"},
      {"controllers", base::CommaList{&enabled},
       "list of controllers: *, name, +name, -name (default *,-sharding-controller)"},
      {"lock-object-namespace", &lock_object_namespace, "old name of --leader-elect-resource-namespace"},
      {"leader-elect", &leader_elect, "act only while holding the lease"},
      {"leader-elect-lease-duration", &lease_duration, "how long others wait for the holder"},
      {"leader-elect-renew-deadline", &renew_deadline, "when the holder gives up"},
      {"leader-elect-retry-period", &retry_period, "time between attempts"},
      {"leader-elect-resource-lock", &lease_lock, "only leases"},
      {"leader-elect-resource-name", &lease_name, "name of the lease"},
      {"leader-elect-resource-namespace", &lease_namespace, "namespace of the lease"},
      {"feature-gates", &feature_gates, "Name=true|false, separated by commas"},
      {"worker-threads", base::Accepted::kNumber, "accepted; one loop serves all jobs"},
      {"worker-threads-for-cronjob", base::Accepted::kNumber, "accepted"},
      {"worker-threads-for-podgroup", base::Accepted::kNumber, "accepted"},
      {"worker-threads-for-queue", base::Accepted::kNumber, "accepted"},
      {"worker-threads-for-gc", base::Accepted::kNumber, "accepted"},
      {"scheduler-configs", base::CommaList{&scheduler_configs},
       "deprecated: who gets which nodes without a ConfigMap, "
       "name:type:minUtil:maxUtil:preferWarmup:minNodes:maxNodes (default volcano:volcano:0.0:0.6:false:2:100 and "
       "agent-scheduler:agent:0.7:1.0:true:2:100)"},
      {"shard-sync-period", &shard_sync_period, "how often nodes are shared out in any case"},
      {"enable-node-event-trigger", &enable_node_event_trigger, "nodes are also shared out when some change much"},
      {"sharding-configmap", &sharding_configmap, "ConfigMap whose sharding.yaml says who gets which nodes"},
      {"sharding-configmap-namespace", &sharding_configmap_namespace, "its namespace"},
      {"v", &v, "log verbosity; 4 and more: debug lines too"},
      {"log-format", &log_format, "text or json"}};
  rows.insert(rows.end(), base::klog_flags().begin(), base::klog_flags().end());
  return rows;
}

base::Status ControllerFlags::check() const {
  std::set<std::string> names;
  for (std::string name : enabled) {
    const bool excluded = name.starts_with("-");
    if (name.starts_with("+") || excluded) name.erase(0, 1);
    // COMPAT(controllers)
    std::vector<std::string> here = controllers::controller_names();
    if (training) here = controllers::training::controller_names();
    if (notebooks) here = controllers::notebooks::controller_names();
    if (pipelines) std::ranges::copy(controllers::pipelines::controller_names(), std::back_inserter(here));
    if (workflows) here.emplace_back(controllers::workflows::kController);
    if (!excluded && name != "*" && std::ranges::find(here, name) == here.end())
      return base::make_error(base::Code::kInvalid, base::format("--controllers: there is no controller {:?}", name));
    if (!names.insert(name).second)
      return base::make_error(
          base::Code::kInvalid,
          base::format("--controllers: controllers option {} cannot have both '-' and '+' prefixes: it is listed twice",
                       name));
  }
  if (const auto shares = sharding(); !shares.ok()) return shares.error();
  const auto gates = scheduler::FeatureGates::parse(feature_gates);
  if (!gates.ok()) return gates.error();
  if (counts_interval.ns < 0)
    return base::make_error(base::Code::kInvalid, base::format("--status-counts-interval: {} is below zero",
                                                               base::format_go_duration(counts_interval)));
  if (lease_lock != "leases")
    return base::make_error(base::Code::kInvalid,
                            base::format("--leader-elect-resource-lock: only leases, not \"{}\"", lease_lock));
  if (leader_elect) TRY_VOID(lease());
  return {};
}

controllers::Options ControllerFlags::controllers() const {
  controllers::Options options;
  if (names_controllers || !enabled.empty()) options.enabled = enabled;
  if (!scheduler_names.empty()) options.scheduler_names = scheduler_names;
  if (const auto gates = scheduler::FeatureGates::parse(feature_gates); gates.ok()) {
    options.reads_commands = gates->on("QueueCommandSync");
    options.workloads = gates->on("WorkLoadSupport");
    options.jobs = gates->on("VolcanoJobSupport");
    options.reads_priorities = gates->on("PriorityClass");
    options.cronjobs = gates->on("CronVolcanoJobSupport");
  }
  options.requeues_max = requeues_max;
  options.counts_interval = counts_interval;
  options.inherit_owner_annotations = inherit_owner_annotations;
  options.local_zone = base::TimeZone::local();
  options.training = training;
  options.notebooks = notebooks;
  options.pipelines = pipelines;
  options.workflows = workflows;
  // As the chart names it and the pod is told (controllers.md 12.1).
  const auto variable = [](const char* name, const char* fallback) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr && *value != 0 ? value : fallback);
  };
  options.configmap_namespace = variable("KUBE_POD_NAMESPACE", "volcano-system");
  options.configmap_name = variable("HELM_RELEASE_NAME", "volcano") + "-controller-configmap";
  if (auto config = sharding(); config.ok()) options.sharding.config = *std::move(config);
  options.sharding.config_name = sharding_configmap;
  options.sharding.config_namespace = sharding_configmap_namespace;
  return options;
}

Installation ControllerFlags::installation() const {
  return {.scheduler_names = scheduler_names.empty() ? std::vector<std::string>{"volcano"} : scheduler_names,
          .elects = leader_elect,
          .lease_namespace = lock_object_namespace.empty() ? lease_namespace : lock_object_namespace,
          .lease_name = lease_name,
          .all_jobs = true};
}

base::Result<controllers::sharding::Config> ControllerFlags::sharding() const {
  namespace sharding = controllers::sharding;
  TRY(auto schedulers, sharding::parse_scheduler_flags(scheduler_configs.empty() ? sharding::default_scheduler_flags()
                                                                                 : scheduler_configs));
  return sharding::Config{.schedulers = std::move(schedulers),
                          .sync_period = sharding::sound_period(shard_sync_period),
                          .follows_nodes = enable_node_event_trigger};
}

base::Result<client::LeaderElectionOptions> ControllerFlags::lease() const {
  client::LeaderElectionOptions options;
  options.ns = lock_object_namespace.empty() ? lease_namespace : lock_object_namespace;
  options.name = lease_name;
  options.lease_duration = lease_duration;
  options.renew_deadline = renew_deadline;
  options.retry_period = retry_period;
  TRY_VOID(client::check_lease_times(options));
  return options;
}

ControllerFlags hypernode_controller_flags() {
  ControllerFlags out;
  out.enabled = {"hyperNode-controller"};
  out.lease_name = "vc-hypernode-controller-manager";
  return out;
}

}  // namespace volcano_main
