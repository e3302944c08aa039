// The differences between frameworks: names, ports, defaults, environment, and when a job has succeeded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "controllers/framework/plan.h"
#include "controllers/training/controller.h"
#include "controllers/training/job.h"
#include "controllers/training/verdict.h"

namespace controllers::training {

// An object of a job that is neither a pod nor the service of one.
struct OwnObject {
  api::ResourceId resource;
  api::Json object;
  const char* content = nullptr;  // the member that is kept as it should be; null: it is made once
  Addition addition = Addition::kNone;
};

struct Framework {
  std::string_view kind;
  std::string_view label;       // of metrics
  std::string_view controller;  // name of the controller, source of its events, value of the label operator-name
  api::ResourceId resource;
  std::string_view replica_map;  // the member of spec
  std::string_view container;    // the key container
  std::string_view port_name;
  std::int64_t port = 0;  // 0: none is added
  std::string_view restart_policy;
  std::vector<std::string_view> types;  // in the order in which they are judged
  bool has_services = true;
  bool notifies_selectors = false;                           // in replicaStatuses
  std::string_view deletion_reason = "SuccessfulDeletePod";  // of the event when the time to live is over
  std::string_view operator_name = {};                       // value of that label; empty: the controller's name
  std::string_view manager = "kubeflow.org/training-operator";
  // Of v2beta1: the launcher is what a Job of Kubernetes is. It is tried again, and stays when the rest is cleaned up;
  // pods wait for the scheduler and not for their group.
  bool launcher_is_a_job = false;
  // With the policies OnFailure and Always a pod that failed fails the job: containers are tried again in place only.
  bool restarts_by_exit_code_only = false;

  // Further defaults.
  void (*set_defaults)(TrainingJob& job) = nullptr;
  bool (*is_master)(const TrainingJob& job, const Replica& replica, std::int64_t index) = nullptr;
  // Tells the containers of one pod who they are and where the others are.
  void (*wire)(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options& options,
               api::Json& pod_spec) = nullptr;
  // Running, succeeded, failed?
  void (*judge)(Verdict& verdict) = nullptr;
  // Why no pod can be made, in this framework's own words; null: what holds for all is enough.
  std::string (*problem)(const TrainingJob& job) = nullptr;
  // The objects that are made before the pods. `running`: names of the workers that run, sorted.
  std::vector<OwnObject> (*objects)(const TrainingJob& job, const std::vector<std::string>& running,
                                    const Options& options) = nullptr;
};

// The init container in which workers wait until the name of their master resolves.
inline constexpr std::string_view kWaitsForMaster = "init-pytorch";

const std::vector<Framework>& frameworks();
// By kind and version; null when unknown.
const Framework* find_framework(std::string_view kind, std::string_view version = "v1");

Framework pytorch();
Framework tensorflow();
Framework mpi();
Framework mpi_ssh();
Framework xgboost();
Framework paddle();
Framework jax();

// --- for the files of the frameworks ---

// Appends a variable to every container, after what the user gave.
void add_env(api::Json& pod_spec, std::string_view name, const api::Json& value);
void add_env_to(api::Json& container, std::string_view name, const api::Json& value);
// Fills in the limits of an elastic policy: one is taken for the other, and the number of workers for both.
void set_elastic_defaults(TrainingJob& job);
// Whether `replica` is the first worker of a job that has none of `masters`, or one of those.
bool is_first_of(const TrainingJob& job, const Replica& replica, std::int64_t index,
                 std::initializer_list<std::string_view> masters);

}  // namespace controllers::training
