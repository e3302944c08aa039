// The controllers as one component: which there are, and their start.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/time.h"
#include "base/time_zone.h"
#include "client/client.h"
#include "controllers/notebooks/options.h"
#include "controllers/one_machine.h"
#include "controllers/pipelines/options.h"
#include "controllers/sharding/controller.h"
#include "controllers/training/controller.h"
#include "rt/env.h"

namespace controllers {

struct Options {
  // As --controllers: "*" means all that are on by default, "-name" takes one out; the first hit decides.
  std::vector<std::string> enabled = {"*", "-sharding-controller"};
  std::vector<std::string> scheduler_names = {"volcano"};
  bool native_groups = true;  // PodGroups of scheduling.k8s.io, where they are served
  int requeues_max = 15;
  // A status in which only numbers change is written this long after the object's last one, or later; zero: at once.
  base::Duration counts_interval = base::milliseconds(200);
  bool inherit_owner_annotations = true;
  // Feature gates: QueueCommandSync, WorkLoadSupport, VolcanoJobSupport, PriorityClass, CronVolcanoJobSupport.
  bool reads_commands = true, workloads = true, jobs = true, reads_priorities = true, cronjobs = true;
  sharding::Options sharding = {.config = sharding::default_config()};
  base::TimeZone local_zone = {};  // of CronJobs that name none
  // The ConfigMap of the discovery of HyperNodes.
  std::string configmap_namespace = "volcano-system";
  std::string configmap_name = "volcano-controller-configmap";
  // The training operator; unset: none. Its controllers are listed by --controllers as the others are.
  std::optional<training::Options> training = {};
  // The controllers of notebooks, TensorBoards and profiles; unset: none. They are listed as those of training are.
  std::optional<notebooks::Options> notebooks = {};
  // The controllers of pipelines; unset: none. They are listed as those of training are.
  std::optional<pipelines::Options> pipelines = {};
  bool workflows = false;  // those of Argo
  // The controllers of Kubernetes that a lone machine does not have: owner garbage collection, namespaces, endpoints,
  // local volumes; and counters of queues that include those below them. Only `volcano up` turns this on.
  bool with_cluster = false;
  // The controllers of Kubernetes' own workloads; unset: none. Only `volcano up` sets it.
  std::optional<workloads::Options> kubernetes = {};
  // The namespace whose objects are seen; empty: all.
  std::string only_namespace = {};
  // The source of keys; unset: what a cryptographic generator gives.
  std::function<std::string(std::size_t count)> secret_bytes = {};
  std::string root_ca = {};          // for pods, as kube-root-ca.crt; empty: none
  std::string volumes_folder = {};   // where local volumes are made; empty: none are
  std::string node_name = {};        // of the one machine
  bool balances_services = false;    // Services of type LoadBalancer have that machine's address
  base::Metrics* metrics = nullptr;  // with metric_rows(), counted into; may be null; outlives the manager
};

// All methods on the loop of `env`. The client must outlive it.
class Manager {
 public:
  Manager(rt::Env& env, client::Client& client, Options options);
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // Watches, so that nothing has to be listed at start(); until then nothing is decided or written.
  void stand_by();
  void start();
  // True once every watch has delivered its first list.
  bool synced() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether --controllers switches `name` on.
bool is_enabled(const std::vector<std::string>& list, std::string_view name);
// The names of all controllers that --controllers may select.
const std::vector<std::string>& controller_names();

}  // namespace controllers
