// The flags of vc-controller-manager (controllers.md 1.2).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/flags.h"
#include "base/result.h"
#include "client/election/leader_election.h"
#include "controllers/all.h"
#include "main/host/base/other_installation.h"

namespace volcano_main {

struct ControllerFlags {
  std::string master, kubeconfig, ca_cert_file, tls_cert_file, tls_private_key_file;
  double kube_api_qps = 0;  // 0: no limit by time, client::kFairInFlight at once
  int kube_api_burst = 100;
  bool names_qps = false;  // --kube-api-qps is given
  int requeues_max = 15;
  base::Duration counts_interval = base::milliseconds(200);
  std::vector<std::string> scheduler_names;
  std::vector<std::string> enabled;  // comma lists
  bool names_controllers = false;    // --controllers is given; an empty list means all
  bool inherit_owner_annotations = true;
  bool leader_elect = true;
  base::Duration lease_duration = base::seconds(15), renew_deadline = base::seconds(10),
                 retry_period = base::seconds(2);
  std::string lease_lock = "leases", lease_name = "vc-controller-manager", lease_namespace = "volcano-system",
              lock_object_namespace;
  bool version = false;
  bool enable_healthz = false;
  bool enable_metrics = false;
  std::string healthz_address = ":11251";
  std::string listen_address = ":8081";
  int v = 0;
  std::string feature_gates, log_format = "text";
  std::vector<std::string> scheduler_configs;  // comma lists
  base::Duration shard_sync_period = base::seconds(60);
  bool enable_node_event_trigger = true;
  std::string sharding_configmap = "volcano-sharding-configmap", sharding_configmap_namespace = "volcano-system";
  std::string only_namespace;                                // that is looked at; no flag of this table
  std::optional<controllers::training::Options> training;    // of the training operator; no flag of this table
  std::optional<controllers::notebooks::Options> notebooks;  // of kubeflow-controllers; no flag of this table
  std::optional<controllers::pipelines::Options> pipelines;  // the same
  bool workflows = false;                                    // runs those of Argo, too

  std::vector<base::Flag> rows();
  base::Status check() const;
  controllers::Options controllers() const;
  base::Result<controllers::sharding::Config> sharding() const;
  base::Result<client::LeaderElectionOptions> lease() const;
  Installation installation() const;
};

// The flags of vc-hypernode-controller-manager without any given.
ControllerFlags hypernode_controller_flags();

}  // namespace volcano_main
