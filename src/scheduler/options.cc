// Which flags does the scheduler take?
#include "scheduler/options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/format.h"
#include "scheduler/model/core/feature_gates.h"

namespace scheduler {
namespace {

// clang-format off
#define FIELD(member) [](Options& o) -> void* { return &o.member; }
// COMPAT(agent-scheduler): Volcano's chart passes its agent scheduler flags that only the other one knows; both take them.
constexpr Flag kFlags[] = {
    {"master", FlagKind::kText, FIELD(master), "Address of the API server, overrides that of the kubeconfig"},
    {"kubeconfig", FlagKind::kText, FIELD(kubeconfig), "Path of the kubeconfig"},
    {"ca-cert-file", FlagKind::kText, FIELD(ca_cert_file), "CA certificate for HTTPS health checks"},
    {"tls-cert-file", FlagKind::kText, FIELD(tls_cert_file), "Certificate for HTTPS health checks"},
    {"tls-private-key-file", FlagKind::kText, FIELD(tls_private_key_file), "Key of that certificate"},
    {"lock-object-namespace", FlagKind::kText, FIELD(lock_object_namespace), "Deprecated: namespace of the lease"},
    {"scheduler-name", FlagKind::kTextList, FIELD(scheduler_names), "Pods with one of these scheduler names are scheduled (default volcano; one name, agent-scheduler, of the agent scheduler)"},
    {"scheduler-conf", FlagKind::kText, FIELD(scheduler_conf), "Path of the configuration"},
    {"schedule-period", FlagKind::kDuration, FIELD(schedule_period), "Longest pause between cycles while something waits", Flag::Of::kBatch},
    {"arrival-grace", FlagKind::kDuration, FIELD(arrival_grace), "How long pods of a group must neither come nor go before it is told that some are missing; 0 tells at once", Flag::Of::kBatch},
    {"resync-period", FlagKind::kDuration, FIELD(resync_period), "Resync period of informers"},
    {"default-queue", FlagKind::kText, FIELD(default_queue), "Queue of groups that name none", Flag::Of::kBatch},
    {"version", FlagKind::kBool, FIELD(print_version), "Print the version and exit"},
    {"listen-address", FlagKind::kText, FIELD(listen_address), "Address of metrics"},
    {"healthz-address", FlagKind::kText, FIELD(healthz_address), "Address of health checks"},
    {"priority-class", FlagKind::kBool, FIELD(priority_class), "Read PriorityClasses for the priority of groups", Flag::Of::kBatch},
    {"kube-api-qps", FlagKind::kNumber, FIELD(kube_api_qps), "Requests a second to the API server"},
    {"kube-api-burst", FlagKind::kInt, FIELD(kube_api_burst), "Burst of requests to the API server"},
    {"minimum-feasible-nodes", FlagKind::kInt, FIELD(minimum_feasible_nodes), "Sampling: fewest feasible nodes looked for"},
    {"minimum-percentage-nodes-to-find", FlagKind::kInt, FIELD(minimum_percentage_nodes), "Sampling: smallest percentage of nodes looked for"},
    {"percentage-nodes-to-find", FlagKind::kInt, FIELD(percentage_nodes), "Sampling: percentage of nodes looked for; 0: adaptive"},
    {"plugins-dir", FlagKind::kText, FIELD(plugins_dir), "Folder of custom plugins; Volcano's (*.so) cannot be loaded and end the program"},
    {"csi-storage", FlagKind::kBool, FIELD(csi_storage), "Watch CSIDriver and CSIStorageCapacity"},
    {"enable-healthz", FlagKind::kBool, FIELD(enable_healthz), "Serve health checks"},
    {"enable-metrics", FlagKind::kBool, FIELD(enable_metrics), "Serve metrics"},
    {"enable-pprof", FlagKind::kBool, FIELD(enable_pprof), "Accepted; there is no Go runtime to profile"},
    {"node-selector", FlagKind::kTextList, FIELD(node_selector), "Only nodes with one of these key:value labels"},
    {"cache-dumper", FlagKind::kBool, FIELD(cache_dumper), "Write dumps on SIGUSR1 and SIGUSR2"},
    {"cache-dump-dir", FlagKind::kText, FIELD(cache_dump_dir), "Folder of dumps"},
    {"node-worker-threads", FlagKind::kInt, FIELD(node_worker_threads), "Accepted; nodes are taken in by the loop"},
    {"gate-removal-worker-num", FlagKind::kInt, FIELD(gate_removal_worker_num), "Scheduling gates removed at a time", Flag::Of::kBatch},
    {"ignored-provisioners", FlagKind::kTextList, FIELD(ignored_provisioners), "Accepted, and without effect: attach counts are no resources of pods here"},
    {"resource-sync-timeout", FlagKind::kDuration, FIELD(resource_sync_timeout), "After so long a wait for the first lists a warning says so; 0: never"},
    {"disable-default-scheduler-config", FlagKind::kBool, FIELD(disable_default_config), "A missing or broken configuration ends the program"},
    {"scheduler-worker-count", FlagKind::kInt, FIELD(worker_count), "Accepted; pods are decided one after the other by the loop", Flag::Of::kAgent},
    {"scheduler-sharding-mode", FlagKind::kText, FIELD(sharding_mode), "none, hard or soft"},
    {"scheduler-sharding-name", FlagKind::kText, FIELD(sharding_name), "Name of this scheduler's NodeShard"},
    {"feature-gates", FlagKind::kText, FIELD(feature_gates), "Comma separated gates, Name=true|false"},
    {"leader-elect", FlagKind::kBool, FIELD(leader_elect), "Run only while holding the lease"},
    {"leader-elect-lease-duration", FlagKind::kDuration, FIELD(lease_duration), "How long a lease counts without renewal"},
    {"leader-elect-renew-deadline", FlagKind::kDuration, FIELD(renew_deadline), "How long the holder tries to renew"},
    {"leader-elect-retry-period", FlagKind::kDuration, FIELD(retry_period), "Pause between tries"},
    {"leader-elect-resource-lock", FlagKind::kText, FIELD(lease_resource_lock), "Kind of the lock"},
    {"leader-elect-resource-namespace", FlagKind::kText, FIELD(lease_namespace), "Namespace of the lease"},
    {"leader-elect-resource-name", FlagKind::kText, FIELD(lease_name), "Name of the lease"},
    {"log-flush-frequency", FlagKind::kDuration, FIELD(log_flush_frequency), "Accepted; logs are not buffered"},
    {"v", FlagKind::kInt, FIELD(verbosity), "Verbosity of logs; 4 and more: debug lines, too"},
    {"log-format", FlagKind::kText, FIELD(log_format), "Format of logs: text or json"},
    {"logtostderr", FlagKind::kBool, FIELD(klog_switch), "Accepted; logs go to standard error"},
    {"alsologtostderr", FlagKind::kBool, FIELD(klog_switch), "Accepted; logs go to standard error"},
    {"one_output", FlagKind::kBool, FIELD(klog_switch), "Accepted; logs go to standard error"},
    {"skip_headers", FlagKind::kBool, FIELD(klog_switch), "Accepted; logs go to standard error"},
    {"skip_log_headers", FlagKind::kBool, FIELD(klog_switch), "Accepted; logs go to standard error"},
    {"add_dir_header", FlagKind::kBool, FIELD(klog_switch), "Accepted; logs go to standard error"},
    {"stderrthreshold", FlagKind::kText, FIELD(klog_value), "Accepted; logs go to standard error"},
    {"vmodule", FlagKind::kText, FIELD(klog_value), "Accepted; logs go to standard error"},
    {"log_backtrace_at", FlagKind::kText, FIELD(klog_value), "Accepted; logs go to standard error"},
    {"log_dir", FlagKind::kText, FIELD(klog_value), "Accepted; logs go to standard error"},
    {"log_file", FlagKind::kText, FIELD(klog_value), "Accepted; logs go to standard error"},
    {"log_file_max_size", FlagKind::kText, FIELD(klog_value), "Accepted; logs go to standard error"},
};
#undef FIELD
// clang-format on

// Words of a name may be separated by either, as Kubernetes' flags are.
bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return x == y || ((x == '_' || x == '-') && (y == '_' || y == '-')); });
}

const Flag* find_flag(std::string_view name, const Options& options) {
  for (const Flag& flag : kFlags) {
    if (same_name(flag.name, name) && flag.is_of(options)) return &flag;
  }
  return nullptr;
}

base::Error bad_value(std::string_view name, std::string_view value, std::string_view expected) {
  return base::make_error(base::Code::kInvalid, base::format("--{}: {} is not {}", name, value, expected));
}

bool is_true(std::string_view text) {
  return text == "1" || text == "t" || text == "T" || text == "true" || text == "TRUE" || text == "True";
}
bool is_false(std::string_view text) {
  return text == "0" || text == "f" || text == "F" || text == "false" || text == "FALSE" || text == "False";
}

void split_into(std::string_view text, std::vector<std::string>& out) {
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    if (comma > start) out.emplace_back(text.substr(start, comma - start));
    start = comma + 1;
  }
}

base::Status set_flag(const Flag& flag, std::string_view value, Options& options) {
  void* field = flag.field(options);
  const std::string text(value);
  char* end = nullptr;
  switch (flag.kind) {
    case FlagKind::kText: *static_cast<std::string*>(field) = text; return {};
    case FlagKind::kTextList: split_into(value, *static_cast<std::vector<std::string>*>(field)); return {};
    case FlagKind::kBool:
      if (!is_true(value) && !is_false(value)) return bad_value(flag.name, value, "a boolean");
      *static_cast<bool*>(field) = is_true(value);
      return {};
    case FlagKind::kInt: {
      std::int64_t number = 0;
      auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error != std::errc{} || stop != value.data() + value.size()) return bad_value(flag.name, value, "an integer");
      *static_cast<std::int64_t*>(field) = number;
      return {};
    }
    case FlagKind::kNumber:
      *static_cast<double*>(field) = std::strtod(text.c_str(), &end);
      if (text.empty() || *end != 0) return bad_value(flag.name, value, "a number");
      return {};
    case FlagKind::kDuration: {
      const auto span = base::parse_go_duration(value);
      if (!span) return bad_value(flag.name, value, "a duration");
      *static_cast<base::Duration*>(field) = *span;
      return {};
    }
  }
  return {};
}

}  // namespace

std::span<const Flag> scheduler_flags() { return kFlags; }

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

base::Result<Options> parse_options(const std::vector<std::string>& arguments, std::vector<std::string>& rest,
                                    const OtherFlag& on_other, Options options) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-') {
      rest.emplace_back(argument);
      continue;
    }
    argument.remove_prefix(argument.starts_with("--") ? 2 : 1);
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    std::string inline_value;
    if (equals != std::string_view::npos) inline_value = argument.substr(equals + 1);
    const std::string* value = equals != std::string_view::npos ? &inline_value
                               : i + 1 < arguments.size()       ? &arguments[i + 1]
                                                                : nullptr;
    const Flag* flag = find_flag(name, options);
    if (flag == nullptr) {
      const int used = on_other ? on_other(name, value) : 0;
      if (used == 0 && name == "scheduler-worker-count" && !options.single_pods) {
        return base::make_error(base::Code::kInvalid,
                                "--scheduler-worker-count is a flag of the agent scheduler: vc-agent-scheduler, or "
                                "volcano agent-scheduler");
      }
      if (used == 0) return base::make_error(base::Code::kInvalid, base::format("unknown flag {}", arguments[i]));
      if (equals == std::string_view::npos) i += static_cast<std::size_t>(used - 1);
      continue;
    }
    const bool samples = name == "minimum-feasible-nodes" || name == "minimum-percentage-nodes-to-find" ||
                         name == "percentage-nodes-to-find";
    if (samples) options.sampling_asked = true;
    if (flag->kind == FlagKind::kBool && equals == std::string_view::npos) {
      *static_cast<bool*>(flag->field(options)) = true;
      continue;
    }
    if (value == nullptr) return base::make_error(base::Code::kInvalid, base::format("--{} needs a value", name));
    TRY_VOID(set_flag(*flag, *value, options));
    if (equals == std::string_view::npos) ++i;
  }
  if (!options.lock_object_namespace.empty()) options.lease_namespace = options.lock_object_namespace;
  return options;
}

std::string flags_help(const Options& options) {
  std::string out;
  for (const Flag& flag : kFlags) {
    if (flag.is_of(options)) out += base::format("  --{:<36} {}\n", flag.name, flag.meaning);
  }
  return out;
}

}  // namespace scheduler
