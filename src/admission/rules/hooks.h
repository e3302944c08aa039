// Admission of Jobs, Queues, PodGroups, Pods, HyperNodes, CronJobs, JobFlows and training jobs: which rules there are
// and where they answer.
//
// Rules are pure functions of a request and of the objects it looks up; the API server calls them in process, and the
// webhook server and `volcano admit` call the same ones.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission.h"
#include "base/result.h"

namespace admission {

// One entry of the pod-mutation configuration (--admission-conf).
struct PodGroupRule {
  std::string name;
  std::string key;  // namespace, annotation, or empty
  std::vector<std::string> values;
  std::string scheduler_name;
  api::Json labels;
  std::string affinity;  // JSON text
  api::Json tolerations;
};

struct Options {
  // Paths that answer; unset: all.
  std::optional<std::vector<std::string>> enabled = {};
  std::vector<std::string> scheduler_names = {"volcano"};
  int queue_depth_max = 5;
  bool queue_allocated_pods_check = false;
  bool root_queue_protection = true;
  bool scheduling_gates_queue_admission = false;
  bool pod_level_resources = true;  // the feature gate: templates may say spec.resources, and it is judged
  bool in_process = true;           // asked by our own API server, not as a webhook
  // The version of MPIJobs that are run; those of the other one are refused. Empty: both are taken.
  std::string mpi_version = {};
  // Unset: no configuration was loaded.
  std::optional<std::vector<PodGroupRule>> pod_rules = {};
  // Unset: every zone whose name has the right form is known.
  std::function<bool(const std::string& zone)> knows_time_zone = {};
};

std::vector<api::AdmissionHook> hooks(const Options& options);

// "mutatejob.volcano.sh" for "/jobs/mutate"; empty for an unknown path.
std::string_view webhook_name(std::string_view path);

base::Result<std::vector<PodGroupRule>> parse_pod_rules(std::string_view yaml);

}  // namespace admission
