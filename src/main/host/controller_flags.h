// The flags of vc-controller-manager (controllers.md 1.2).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/leader_election.h"
#include "controllers/all.h"
#include "main/host/flags.h"

namespace volcano_main {

struct ControllerFlags {
  std::string master, kubeconfig, ca_cert_file, tls_cert_file, tls_private_key_file;
  std::string kube_api_qps = "50";
  int kube_api_burst = 100;
  int requeues_max = 15;
  std::string counts_interval = "200ms";
  std::vector<std::string> scheduler_names;
  std::vector<std::string> enabled;  // comma lists
  bool inherit_owner_annotations = true;
  bool leader_elect = true;
  std::string lease_duration = "15s", renew_deadline = "10s", retry_period = "2s", lease_lock = "leases",
              lease_name = "vc-controller-manager", lease_namespace = "volcano-system", lock_object_namespace;
  bool version = false;
  bool enable_healthz = false;
  bool enable_metrics = false;
  std::string healthz_address = ":11251";
  std::string listen_address = ":8081";
  // Accepted and checked for form; one loop needs no worker counts, and the others have no effect on this program.
  int worker_threads = 3, worker_threads_for_cronjob = 3, worker_threads_for_podgroup = 5, worker_threads_for_queue = 5,
      worker_threads_for_gc = 1, v = 0;
  std::string feature_gates, log_flush_frequency = "5s", log_format = "text";
  bool klog_switch = false;  // flags of klog that are accepted and change nothing
  std::string klog_value;
  std::vector<std::string> scheduler_configs;  // comma lists
  std::string shard_sync_period = "60s";
  bool enable_node_event_trigger = true;
  std::string sharding_configmap = "volcano-sharding-configmap", sharding_configmap_namespace = "volcano-system";
  std::string only_namespace;                              // that is looked at; no flag of this table
  std::optional<controllers::training::Options> training;  // of the training operator; no flag of this table

  std::vector<Flag> rows();
  // The arguments as rows() reads them: `-v=4` is `--v=4`, and `_` in a flag's name is `-`.
  static std::vector<std::string> in_long_form(const std::vector<std::string>& arguments);
  base::Status check() const;
  double requests_per_second() const;
  controllers::Options controllers() const;
  base::Result<controllers::sharding::Config> sharding() const;
  base::Result<client::LeaderElectionOptions> lease() const;
};

}  // namespace volcano_main
