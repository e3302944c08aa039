// Which flags does the scheduler take?
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace scheduler {

struct Options {
  // The agent scheduler: each pod stands for itself, without groups, queues and eviction.
  bool single_pods = false;
  std::string master;
  std::string kubeconfig;
  std::string ca_cert_file, tls_cert_file, tls_private_key_file;
  std::vector<std::string> scheduler_names;  // empty: volcano, or agent-scheduler
  std::string scheduler_conf;
  base::Duration schedule_period = base::seconds(1);
  base::Duration arrival_grace = base::seconds(1);
  base::Duration resync_period{};
  std::string default_queue = "default";
  bool print_version = false;
  std::string listen_address = ":8080";
  std::string healthz_address = ":11251";
  bool priority_class = true;
  double kube_api_qps = 2000;
  std::int64_t kube_api_burst = 2000;
  std::int64_t minimum_feasible_nodes = 100;
  std::int64_t minimum_percentage_nodes = 5;
  std::int64_t percentage_nodes = 0;
  bool sampling_asked = false;  // a sampling flag was given
  std::string plugins_dir;
  bool csi_storage = true;
  bool enable_healthz = false, enable_metrics = false, enable_pprof = false;
  std::vector<std::string> node_selector;
  bool cache_dumper = true;
  std::string cache_dump_dir = "/tmp";
  std::int64_t node_worker_threads = 20;
  std::int64_t worker_count = 1;
  std::int64_t gate_removal_worker_num = 5;
  std::vector<std::string> ignored_provisioners;
  base::Duration resource_sync_timeout = base::seconds(60);
  bool disable_default_config = false;
  std::string sharding_mode = "none";
  std::string sharding_name = "volcano";
  std::string feature_gates;
  bool leader_elect = true;
  base::Duration lease_duration = base::seconds(15);
  base::Duration renew_deadline = base::seconds(10);
  base::Duration retry_period = base::seconds(2);
  std::string lease_resource_lock = "leases";
  std::string lease_namespace = "volcano-system";
  std::string lease_name = "volcano";
  std::string lock_object_namespace;
  base::Duration log_flush_frequency = base::seconds(5);
  std::int64_t verbosity = 0;
  std::string log_format = "text";
  bool klog_switch = false;  // flags of klog that are accepted and change nothing
  std::string klog_value;
  // Not flags: the environment of the process. Several schedulers share the pods, groups and nodes of one name.
  std::string share_pod_name;  // "<base>-<i>"
  int share_members = 1;
  // Nor is this: hard shards are shared with schedulers that run, and claimed before they are used.
  bool claims_nodes = false;

  std::vector<std::string> names() const {
    if (!scheduler_names.empty()) return scheduler_names;
    return {single_pods ? "agent-scheduler" : "volcano"};
  }
  std::vector<std::pair<std::string, std::string>> node_labels() const;
  // Values that no flag's kind refuses, and that make no sense.
  base::Status check() const;
};

// What the agent scheduler does without flags.
Options agent_options();

enum class FlagKind : std::uint8_t { kText, kBool, kInt, kNumber, kDuration, kTextList };

// One row per flag: its name, what it is, and what it means. Parsing and --help follow from the rows.
struct Flag {
  std::string_view name;
  FlagKind kind;
  void* (*field)(Options&);
  std::string_view meaning;
  enum class Of : std::uint8_t { kBoth, kBatch, kAgent } of = Of::kBoth;  // which program has it

  bool is_of(const Options& options) const {
    return of == Of::kBoth || of == (options.single_pods ? Of::kAgent : Of::kBatch);
  }
};
std::span<const Flag> scheduler_flags();

// Sets the options from `arguments`, beginning with those of `options`. What is not a flag of the table goes to `rest`,
// in order: `on_other` may take a flag (with its value, if it has one) and says how many arguments it used; 0 means
// that it does not know it either.
using OtherFlag = std::function<int(std::string_view name, const std::string* value)>;
base::Result<Options> parse_options(const std::vector<std::string>& arguments, std::vector<std::string>& rest,
                                    const OtherFlag& on_other = {}, Options options = {});
std::string flags_help(const Options& options = {});

}  // namespace scheduler
