// Which flags does the scheduler take?
#include "scheduler/options.h"

#include "base/format.h"
#include "scheduler/model/core/feature_gates.h"

namespace scheduler {
namespace {

// clang-format off
enum class Of : std::uint8_t { kBoth, kBatch, kAgent };  // which program has it
struct Row {
  base::Flag flag;
  Of of = Of::kBoth;
};

// COMPAT(agent-scheduler): Volcano's chart passes its agent scheduler flags that only the other one knows; both take them.
std::vector<Row> all_rows(Options& o) {
  return {
      {{"master", &o.master, "Address of the API server, overrides that of the kubeconfig"}},
      {{"kubeconfig", &o.kubeconfig, "Path of the kubeconfig"}},
      {{"ca-cert-file", &o.ca_cert_file, "CA certificate for HTTPS health checks"}},
      {{"tls-cert-file", &o.tls_cert_file, "Certificate for HTTPS health checks"}},
      {{"tls-private-key-file", &o.tls_private_key_file, "Key of that certificate"}},
      {{"lock-object-namespace", &o.lock_object_namespace, "Deprecated: namespace of the lease"}},
      {{"scheduler-name", base::CommaList{&o.scheduler_names}, "Pods with one of these scheduler names are scheduled (default volcano; one name, agent-scheduler, of the agent scheduler)"}},
      {{"scheduler-conf", &o.scheduler_conf, "Path of the configuration"}},
      {{"schedule-period", &o.schedule_period, "Longest pause between cycles while something waits"}, Of::kBatch},
      {{"arrival-grace", &o.arrival_grace, "How long pods of a group must neither come nor go before it is told that some are missing; 0 tells at once"}, Of::kBatch},
      {{"resync-period", &o.resync_period, "Resync period of informers"}},
      {{"default-queue", &o.default_queue, "Queue of groups that name none"}, Of::kBatch},
      {{"version", &o.print_version, "Print the version and exit"}},
      {{"listen-address", &o.listen_address, "Address of metrics"}},
      {{"healthz-address", &o.healthz_address, "Address of health checks"}},
      {{"priority-class", &o.priority_class, "Read PriorityClasses for the priority of groups"}, Of::kBatch},
      {{"kube-api-qps", &o.kube_api_qps, "Requests a second to the API server"}},
      {{"kube-api-burst", &o.kube_api_burst, "Burst of requests to the API server"}},
      {{"minimum-feasible-nodes", &o.minimum_feasible_nodes, "Sampling: fewest feasible nodes looked for"}},
      {{"minimum-percentage-nodes-to-find", &o.minimum_percentage_nodes, "Sampling: smallest percentage of nodes looked for"}},
      {{"percentage-nodes-to-find", &o.percentage_nodes, "Sampling: percentage of nodes looked for; 0: adaptive"}},
      {{"plugins-dir", &o.plugins_dir, "Folder of custom plugins; Volcano's (*.so) cannot be loaded and end the program"}},
      {{"csi-storage", &o.csi_storage, "Watch CSIDriver and CSIStorageCapacity"}},
      {{"enable-healthz", &o.enable_healthz, "Serve health checks"}},
      {{"enable-metrics", &o.enable_metrics, "Serve metrics"}},
      {{"enable-pprof", &o.enable_pprof, "Serve the pages under /debug; there is no Go runtime to profile"}},
      {{"enable-rehearsal", &o.enable_rehearsal,
        "Answer POST /debug/rehearsal at --listen-address: what would be done with workloads that do not exist yet"}, Of::kBatch},
      {{"node-selector", base::CommaList{&o.node_selector}, "Only nodes with one of these key:value labels"}},
      {{"cache-dumper", &o.cache_dumper, "Write dumps on SIGUSR1 and SIGUSR2"}},
      {{"cache-dump-dir", &o.cache_dump_dir, "Folder of dumps"}},
      {{"node-worker-threads", base::Accepted::kNumber, "Accepted; nodes are taken in by the loop"}},
      {{"gate-removal-worker-num", &o.gate_removal_worker_num, "Scheduling gates removed at a time"}, Of::kBatch},
      {{"ignored-provisioners", base::Accepted::kText, "Accepted, and without effect: attach counts are not resources of pods here"}},
      {{"resource-sync-timeout", &o.resource_sync_timeout, "After so long a wait for the first lists a warning says so; 0: never"}},
      {{"disable-default-scheduler-config", &o.disable_default_config, "A missing or broken configuration ends the program"}},
      {{"scheduler-worker-count", &o.worker_count, "Accepted; pods are decided one after the other by the loop"}, Of::kAgent},
      {{"scheduler-sharding-mode", &o.sharding_mode, "none, hard or soft"}},
      {{"scheduler-sharding-name", &o.sharding_name, "Name of this scheduler's NodeShard"}},
      {{"feature-gates", &o.feature_gates, "Comma separated gates, Name=true|false"}},
      {{"leader-elect", &o.leader_elect, "Run only while holding the lease"}},
      {{"leader-elect-lease-duration", &o.lease_duration, "How long a lease counts without renewal"}},
      {{"leader-elect-renew-deadline", &o.renew_deadline, "How long the holder tries to renew"}},
      {{"leader-elect-retry-period", &o.retry_period, "Pause between tries"}},
      {{"leader-elect-resource-lock", &o.lease_resource_lock, "Kind of the lock"}},
      {{"leader-elect-resource-namespace", &o.lease_namespace, "Namespace of the lease"}},
      {{"leader-elect-resource-name", &o.lease_name, "Name of the lease"}},
      {{"v", &o.verbosity, "Verbosity of logs; 4 and more: debug lines, too"}},
      {{"log-format", &o.log_format, "Format of logs: text or json"}},
  };
}
// clang-format on

base::Error bad_value(std::string_view name, std::string_view value, std::string_view expected) {
  return base::make_error(base::Code::kInvalid, base::format("--{}: {} is not {}", name, value, expected));
}

}  // namespace

Options agent_options() {
  Options out;
  out.single_pods = true;
  out.sharding_name = "agent-scheduler";
  out.lease_name = "agent-scheduler";
  return out;
}

std::vector<std::pair<std::string, std::string>> Options::node_labels() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& one : node_selector) {
    const std::size_t colon = one.find(':');
    if (colon != std::string::npos) out.emplace_back(one.substr(0, colon), one.substr(colon + 1));
  }
  return out;
}

base::Status Options::check() const {
  if (sharding_mode != "none" && sharding_mode != "hard" && sharding_mode != "soft") {
    return bad_value("scheduler-sharding-mode", sharding_mode, "none, hard or soft");
  }
  for (const std::string& one : node_selector) {
    if (one.find(':') == std::string::npos) return bad_value("node-selector", one, "key:value");
  }
  if (single_pods && names().size() != 1)
    return base::make_error(base::Code::kInvalid, "--scheduler-name: the agent scheduler has one name");
  // COMPAT(agent-workers)
  if (worker_count < 1) return bad_value("scheduler-worker-count", std::to_string(worker_count), "above zero");
  const auto gates = FeatureGates::parse(feature_gates);
  if (!gates.ok()) return gates.error();
  return {};
}

std::vector<base::Flag> flag_rows(Options& options) {
  std::vector<base::Flag> out;
  for (const Row& row : all_rows(options)) {
    if (row.of == Of::kBoth || row.of == (options.single_pods ? Of::kAgent : Of::kBatch))
      out.push_back(row.flag);
    else
      out.push_back({row.flag.name, base::Elsewhere{},
                     options.single_pods
                         ? "a flag of vc-scheduler, not of the agent scheduler"
                         : "a flag of the agent scheduler: vc-agent-scheduler, or volcano agent-scheduler"});
  }
  out.insert(out.end(), base::klog_flags().begin(), base::klog_flags().end());
  return out;
}

base::Result<std::vector<std::string>> parse_options(const std::vector<std::string>& arguments, Options& options,
                                                     std::span<const base::Flag> more) {
  std::vector<base::Flag> rows = flag_rows(options);
  rows.insert(rows.end(), more.begin(), more.end());
  TRY(base::FlagWords words, base::parse_flags(rows, arguments));
  options.sampling_asked = words.has("minimum-feasible-nodes") || words.has("minimum-percentage-nodes-to-find") ||
                           words.has("percentage-nodes-to-find");
  if (!options.lock_object_namespace.empty()) options.lease_namespace = options.lock_object_namespace;
  return std::move(words.rest);
}

}  // namespace scheduler
