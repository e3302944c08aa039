// The list of controllers.
#include "controllers/all.h"

#include "controllers/cluster/cluster.h"
#include "controllers/colocation/controller.h"
#include "controllers/cronjob/controller.h"
#include "controllers/framework/driver.h"
#include "controllers/gc/controller.h"
#include "controllers/hypernode/controller.h"
#include "controllers/job/controller.h"
#include "controllers/jobflow/controller.h"
#include "controllers/jobtemplate/controller.h"
#include "controllers/make_all.h"
#include "controllers/notebooks/all.h"
#include "controllers/pipelines/all.h"
#include "controllers/podgroup/controller.h"
#include "controllers/podgroup/native_groups.h"
#include "controllers/queue/controller.h"
#include "controllers/sharding/controller.h"
#include "controllers/workflows/workflow.h"

namespace controllers {

struct Manager::State {
  State(rt::Env& env, client::Client& client, DriverOptions options)
      : driver(env, client, "vc-controller-manager", std::move(options)) {}
  Driver driver;
};

std::vector<std::unique_ptr<Controller>> make_controllers(Options options) {
  std::vector<std::unique_ptr<Controller>> all;
  if (options.jobs && is_enabled(options.enabled, "job-controller"))
    all.push_back(job::make_job_controller({.requeues_max = options.requeues_max,
                                            .reads_commands = options.reads_commands,
                                            .reads_priorities = options.reads_priorities},
                                           options.metrics));
  if (is_enabled(options.enabled, "queue-controller"))
    all.push_back(queue::make_queue_controller({.requeues_max = options.requeues_max,
                                                .reads_commands = options.reads_commands,
                                                .counts_children = options.with_cluster,
                                                .metrics = options.metrics}));
  if (is_enabled(options.enabled, "pg-controller"))
    all.push_back(podgroup::make_podgroup_controller({.scheduler_names = options.scheduler_names,
                                                      .inherit_owner_annotations = options.inherit_owner_annotations,
                                                      .native_groups = options.native_groups,
                                                      .workloads = options.workloads}));
  if (options.native_groups && is_enabled(options.enabled, "native-gang-controller"))
    all.push_back(podgroup::make_native_group_controller(options.scheduler_names));
  if (is_enabled(options.enabled, "gc-controller")) all.push_back(gc::make_gc_controller());
  if (options.cronjobs && is_enabled(options.enabled, "cronjob-controller"))
    all.push_back(cronjob::make_cronjob_controller({.local = options.local_zone}));
  if (is_enabled(options.enabled, "jobflow-controller"))
    all.push_back(jobflow::make_jobflow_controller(options.metrics));
  if (is_enabled(options.enabled, "jobtemplate-controller")) all.push_back(jobtemplate::make_jobtemplate_controller());
  if (is_enabled(options.enabled, "colocation-config-controller"))
    all.push_back(colocation::make_colocation_controller());
  if (is_enabled(options.enabled, "hyperNode-controller"))
    all.push_back(hypernode::make_hypernode_controller(
        {.configmap_namespace = options.configmap_namespace, .configmap_name = options.configmap_name}));
  if (is_enabled(options.enabled, "sharding-controller"))
    all.push_back(sharding::make_sharding_controller(options.sharding));
  if (options.training) {
    options.training->metrics = options.metrics;
    for (const std::string& name : training::controller_names())
      if (is_enabled(options.enabled, name)) all.push_back(training::make_training_controller(name, *options.training));
  }
  if (options.notebooks) {
    options.notebooks->metrics = options.metrics;
    for (const std::string& name : notebooks::controller_names())
      if (is_enabled(options.enabled, name)) all.push_back(notebooks::make_controller(name, *options.notebooks));
  }
  if (options.pipelines) {
    options.pipelines->metrics = options.metrics;
    for (const std::string& name : pipelines::controller_names())
      if (is_enabled(options.enabled, name)) all.push_back(pipelines::make_controller(name, *options.pipelines));
  }
  if (options.workflows && is_enabled(options.enabled, workflows::kController))
    all.push_back(workflows::make_workflow_controller(options.pipelines.value_or(pipelines::Options())));
  if (options.kubernetes)
    for (std::unique_ptr<Controller>& one : workloads::make_controllers(*options.kubernetes))
      all.push_back(std::move(one));
  if (!options.with_cluster) return all;
  all.push_back(cluster::make_owner_controller());
  all.push_back(cluster::make_namespace_controller(options.root_ca));
  all.push_back(cluster::make_endpoints_controller());
  all.push_back(cluster::make_endpoint_slice_controller());
  all.push_back(cluster::make_claim_controller());
  all.push_back(cluster::make_ephemeral_volume_controller());
  all.push_back(cluster::make_role_controller());
  if (options.pipelines) all.push_back(cluster::make_runner_account_controller());
  all.push_back(cluster::make_api_service_controller());
  if (options.balances_services) all.push_back(cluster::make_load_balancer_controller(options.node_name));
  all.push_back(cluster::make_volume_controller({.folder = options.volumes_folder, .node_name = options.node_name}));
  return all;
}

Manager::Manager(rt::Env& env, client::Client& client, Options options)
    : state_(std::make_unique<State>(env, client,
                                     DriverOptions{.counts_interval = options.counts_interval,
                                                   .only_namespace = options.only_namespace,
                                                   .secret_bytes = options.secret_bytes})) {
  for (std::unique_ptr<Controller>& one : make_controllers(std::move(options))) state_->driver.add(std::move(one));
}
Manager::~Manager() = default;

void Manager::stand_by() { state_->driver.stand_by(); }
void Manager::start() { state_->driver.start(); }
bool Manager::synced() const { return state_->driver.synced(); }

bool is_enabled(const std::vector<std::string>& list, std::string_view name) {
  bool star = list.empty();
  for (std::string_view word : list) {
    if (word == "*")
      star = true;
    else if (word == name || (word.starts_with("+") && word.substr(1) == name))
      return true;
    else if (word.starts_with("-") && word.substr(1) == name)
      return false;
  }
  return star;
}

const std::vector<std::string>& controller_names() {
  static const std::vector<std::string> kNames = {"colocation-config-controller",
                                                  "cronjob-controller",
                                                  "gc-controller",
                                                  "hyperNode-controller",
                                                  "job-controller",
                                                  "jobflow-controller",
                                                  "jobtemplate-controller",
                                                  "native-gang-controller",
                                                  "pg-controller",
                                                  "queue-controller",
                                                  "sharding-controller"};
  return kNames;
}

}  // namespace controllers
