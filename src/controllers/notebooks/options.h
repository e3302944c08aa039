// The settings of the controllers of notebooks, which Kubeflow's own have as environment variables and flags.
#pragma once

#include <map>
#include <string>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/metrics.h"
#include "base/time.h"

namespace controllers::notebooks {

struct Options {
  bool adds_fs_group = true;                                // ADD_FSGROUP
  bool istio = true;                                        // USE_ISTIO: where VirtualServices are a kind
  std::string istio_gateway = "kubeflow/kubeflow-gateway";  // ISTIO_GATEWAY
  std::string istio_host = "*";                             // ISTIO_HOST
  std::string cluster_domain = "cluster.local";             // CLUSTER_DOMAIN
  bool culling = false;                                     // ENABLE_CULLING: for notebooks that say no time themselves
  base::Duration cull_idle = base::minutes(1440);           // CULL_IDLE_TIME
  base::Duration check_period = base::minutes(1);           // IDLENESS_CHECK_PERIOD
  std::string tensorboard_image = "tensorflow/tensorflow:2.5.1";  // TENSORBOARD_IMAGE
  bool rwo_scheduling = false;                                    // RWO_PVC_SCHEDULING
  api::Json viewer_pod = {};                                      // DEFAULT_POD_SPEC_PATH; null: a file browser
  std::string user_header = "kubeflow-userid";                    // USERID_HEADER
  std::string user_prefix = {};                                   // USERID_PREFIX
  std::map<std::string, std::string> namespace_labels = {{"app.kubernetes.io/part-of", "kubeflow-profile"},
                                                         {"katib.kubeflow.org/metrics-collector-injection", "enabled"},
                                                         {"pipelines.kubeflow.org/enabled", "true"},
                                                         {"serving.kubeflow.org/inferenceservice", "enabled"}};
  bool makes_roles = false;  // the ClusterRoles of profiles, where no chart brings them
  // A NetworkPolicy for each server: its page asks for no password, and pods of other namespaces have no business
  // there.
  bool isolates = false;
  base::Metrics* metrics = nullptr;  // may be null
};

}  // namespace controllers::notebooks
