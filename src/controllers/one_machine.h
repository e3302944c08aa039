// The controllers of Kubernetes' own workloads, by the names that kube-controller-manager has for them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time_zone.h"
#include "controllers/autoscaling/autoscaler.h"
#include "controllers/cluster/certificates.h"
#include "controllers/cluster/finished_pods.h"
#include "controllers/framework/controller.h"

namespace controllers::workloads {

struct Options {
  // As --controllers of kube-controller-manager: "*" means all, "-deployment" takes one out. Names may have
  // "-controller" at their end or not.
  std::vector<std::string> enabled = {"*"};
  base::TimeZone local_zone = {};           // of CronJobs that name none
  autoscaling::LatestUsage pod_usage = {};  // that autoscalers go by
  cluster::SignRequest sign_request = {};   // for CertificateSigningRequests; unset: nobody signs here
  cluster::FinishedPodLimits finished_pods = {};
};

// kInvalid names a word that is not a controller.
base::Status check(const Options& options);
std::vector<std::unique_ptr<Controller>> make_controllers(const Options& options);

}  // namespace controllers::workloads
