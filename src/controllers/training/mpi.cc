// MPIJob: a launcher that reaches its workers through exec (training.md 5.6, 6.4).
#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "controllers/training/framework.h"
#include "controllers/training/mpi_objects.h"

namespace controllers::training {

using api::Json;

namespace {

constexpr int kExecutable = 0555;
constexpr int kReadable = 0444;

bool is_master(const TrainingJob&, const Replica& replica, std::int64_t) { return replica.type == "Launcher"; }

Json mount(std::string_view name, std::string_view path) { return Json::object({{"name", name}, {"mountPath", path}}); }

Json file(std::string_view key, int mode) { return Json::object({{"key", key}, {"path", key}, {"mode", mode}}); }

Json config_volume(const TrainingJob& job, Json files) {
  return Json::object({{"name", "mpi-job-config"},
                       {"configMap", Json::object({{"name", job.name + "-config"}, {"items", std::move(files)}})}});
}

void wire_worker(const TrainingJob& job, Json& spec) {
  Json& first = spec.edit("containers").edit(std::size_t{0});
  first.edit("volumeMounts").push_back(mount("mpi-job-config", "/etc/mpi"));
  if (first["command"].empty()) {
    first.set("command", Json::array({"sleep"}));
    first.set("args", Json::array({"365d"}));
  }
  spec.edit("volumes").push_back(config_volume(job, Json::array({file("kubexec.sh", kExecutable)})));
}

Json delivery(const TrainingJob& job, const Options& options) {
  const Json needed = Json::object({{"cpu", "100m"}, {"ephemeral-storage", "5Gi"}, {"memory", "512Mi"}});
  Json container = Json::object(
      {{"name", "kubectl-delivery"}, {"image", options.delivery_image}, {"imagePullPolicy", "IfNotPresent"}});
  if (!options.delivery_command.empty()) {
    Json words = Json::array();
    for (const std::string& word : options.delivery_command) words.push_back(word);
    container.set("command", std::move(words));
  }
  container.set("env", Json::array({Json::object({{"name", "TARGET_DIR"}, {"value", "/opt/kube"}}),
                                    Json::object({{"name", "NAMESPACE"}, {"value", job.ns}})}));
  container.set("resources", Json::object({{"limits", needed}, {"requests", needed}}));
  container.set("volumeMounts",
                Json::array({mount("mpi-job-kubectl", "/opt/kube"), mount("mpi-job-config", "/etc/mpi")}));
  return container;
}

bool has_env(const Json& container, std::string_view name) {
  for (const Json& one : container["env"].items())
    if (one["name"].as_string() == name) return true;
  return false;
}

void wire_launcher(const TrainingJob& job, const Options& options, Json& spec) {
  spec.set("serviceAccountName", launcher_account(job));
  spec.edit("initContainers").push_back(delivery(job, options));
  spec.edit("volumes").push_back(Json::object({{"name", "mpi-job-kubectl"}, {"emptyDir", Json::object()}}));
  spec.edit("volumes").push_back(
      config_volume(job, Json::array({file("kubexec.sh", kExecutable), file("hostfile", kReadable),
                                      file("discover_hosts.sh", kExecutable)})));
  Json& first = spec.edit("containers").edit(std::size_t{0});
  first.edit("volumeMounts").push_back(mount("mpi-job-kubectl", "/opt/kube"));
  first.edit("volumeMounts").push_back(mount("mpi-job-config", "/etc/mpi"));
  const bool own_bootstrap = has_env(first, "I_MPI_HYDRA_BOOTSTRAP");
  const bool own_exec = has_env(first, "I_MPI_HYDRA_BOOTSTRAP_EXEC");
  add_env_to(first, "OMPI_MCA_plm_rsh_agent", "/etc/mpi/kubexec.sh");
  add_env_to(first, "OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile");
  if (!has_gpu_launcher(job)) {
    add_env_to(first, "NVIDIA_VISIBLE_DEVICES", "");
    add_env_to(first, "NVIDIA_DRIVER_CAPABILITIES", "");
  }
  if (!own_bootstrap) add_env_to(first, "I_MPI_HYDRA_BOOTSTRAP", "rsh");
  if (!own_exec) add_env_to(first, "I_MPI_HYDRA_BOOTSTRAP_EXEC", "/etc/mpi/kubexec.sh");
}

void wire(const TrainingJob& job, const Replica& replica, std::int64_t, const Options& options, Json& pod_spec) {
  if (replica.type == "Launcher")
    wire_launcher(job, options, pod_spec);
  else
    wire_worker(job, pod_spec);
}

void judge(Verdict& verdict) {
  const TrainingJob& job = verdict.job();
  for (const Replica& one : job.replicas) {
    const Counts& counts = verdict.counts(one);
    if (one.type == "Launcher") {
      if (counts.active > 0) verdict.running(base::format("MPIJob {} is running.", job.name));
      if (counts.succeeded > 0)
        return verdict.succeeded(base::format("MPIJob {} is successfully completed.", job.name));
    }
    if (counts.failed == 0) continue;
    const std::string why = base::format("because {} {} replica(s) failed.", counts.failed, one.type);
    if (one.restart_policy == "ExitCode")
      verdict.restarting(base::format("MPIJob {} is restarting {}", job.name, why));
    else  // COMPAT(training-mpi-reasons)
      verdict.failed(base::format("MPIJob {} is failed {}", job.name, why));
  }
}

}  // namespace

Framework mpi() {
  return {.kind = "MPIJob",
          .label = "mpi",
          .controller = "mpijob-controller",
          .resource = api::resources::kMpiJobs,
          .replica_map = "mpiReplicaSpecs",
          .container = "mpi",
          .port_name = "mpi-port",
          .restart_policy = "Never",
          .types = {"Launcher", "Worker"},
          .has_services = false,
          .deletion_reason = "SuccessfulDeleteJob",
          .restarts_by_exit_code_only = true,
          .is_master = is_master,
          .wire = wire,
          .judge = judge,
          .problem = problem_of_mpi,
          .objects = mpi_objects};
}

}  // namespace controllers::training
