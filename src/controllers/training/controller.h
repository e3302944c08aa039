// The training operator: one controller for each kind of kubeflow.org/v1 (training.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/time.h"
#include "controllers/framework/controller.h"

namespace controllers::training {

// Between two statuses of a job that differ in numbers of pods only, in the program of its own.
inline constexpr base::Duration kCountsInterval = base::seconds(2);

struct Options {
  bool gang = true;  // a group for each job; with ours, no pod comes before its group is admitted
  // The scheduler of groups of scheduling.x-k8s.io (scheduler-plugins); empty: groups of ours, and volcano.
  std::string plugin_scheduler = {};
  std::string init_image = "alpine:3.10";
  int init_tries_max = 100;
  std::string init_template = {};  // YAML of the init containers of PyTorch workers; empty: the built-in one
  std::string delivery_image = "kubeflow/kubectl-delivery:latest";
  std::vector<std::string> delivery_command = {};  // empty: the image's own
  std::string cluster_domain = {};                 // after "<ns>.svc." in TF_CONFIG; empty: none
  // The launcher of an MPIJob of v2beta1 is a Job if the API server has Jobs.
  bool launcher_jobs = false;
  // Elastic jobs with metrics get a HorizontalPodAutoscaler if it has them.
  bool autoscalers = false;
  std::string mpi_version = "v1";    // of MPIJob
  base::Metrics* metrics = nullptr;  // may be null
};

// The names of the controllers, one a kind.
std::vector<std::string> controller_names();
// By the name of the controller, which is one of those.
std::unique_ptr<Controller> make_training_controller(std::string_view name, Options options);

}  // namespace controllers::training
