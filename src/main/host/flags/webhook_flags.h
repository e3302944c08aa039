// The flags of vc-webhook-manager; `volcano admit` takes those that change answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/rules/hooks.h"
#include "base/flags.h"
#include "base/result.h"

namespace volcano_main {

struct WebhookFlags {
  std::vector<std::string> scheduler_names;
  std::string enabled =
      "/jobs/mutate,/jobs/validate,/podgroups/mutate,/pods/validate,/pods/mutate,/queues/mutate,/queues/validate";
  std::string admission_conf;
  std::string feature_gates;
  bool allocated_pods_check = false;
  bool root_protection = true;
  int queue_depth_max = 5;
  // Accepted; they do not change answers.
  std::string master, kubeconfig, tls_cert_file, tls_private_key_file, ca_cert_file, listen_address, webhook_namespace,
      webhook_service_name, webhook_url, healthz_address = ":11251";
  base::Duration graceful_shutdown_time = base::seconds(30);
  int port = 8443;
  double kube_api_qps = 50;
  int kube_api_burst = 100;
  int v = 0;
  bool enable_healthz = false;
  bool version = false;
  std::string tls_secret_name;
  std::string log_format = "text";

  // Point into this object.
  std::vector<base::Flag> rows();
  // The rules that the flags ask for, without the configuration file. An unknown path is an error.
  base::Result<admission::Options> admission() const;
  // The rules of the configuration file; unset if none is named.
  base::Result<std::optional<std::vector<admission::PodGroupRule>>> pod_rules() const;
};

}  // namespace volcano_main
