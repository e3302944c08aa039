// Which flags does the scheduler take?
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/flags.h"
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
  bool enable_rehearsal = false;
  std::vector<std::string> node_selector;
  bool cache_dumper = true;
  std::string cache_dump_dir = "/tmp";
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
  std::int64_t verbosity = 0;
  std::string log_format = "text";
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

// The defaults of the agent scheduler's flags.
Options agent_options();

// One row per flag, in this order; the rows point into `options`, whose `single_pods` says which program's they are.
std::vector<base::Flag> flag_rows(Options& options);

// Sets `options` from `arguments`, which may also hold flags of `more`; returns what is not a flag.
base::Result<std::vector<std::string>> parse_options(const std::vector<std::string>& arguments, Options& options,
                                                     std::span<const base::Flag> more = {});

}  // namespace scheduler
