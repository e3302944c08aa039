// MPIJob of v2beta1: a launcher that logs in to its workers (kubeflow.md 7).
#include <algorithm>

#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "controllers/training/framework.h"
#include "controllers/training/mpi_objects.h"

namespace controllers::training {

using api::Json;

namespace {

constexpr std::string_view kRootFolder = "/root/.ssh";
constexpr int kForRoot = 0600;
constexpr int kExecutable = 0555;
constexpr int kReadable = 0444;
constexpr std::int64_t kBackoffLimit = 6;  // as a Job of Kubernetes has it
constexpr std::string_view kPolicies[] = {"Never", "OnFailure"};
constexpr std::string_view kCleanPolicies[] = {"None", "Running", "All"};
constexpr std::string_view kImplementations[] = {"OpenMPI", "Intel", "MPICH"};
constexpr std::string_view kCreations[] = {"AtStartup", "WaitForWorkersReady"};

bool is_launcher(const Replica& replica) { return replica.type == "Launcher"; }

void set_defaults(TrainingJob& job) {
  for (Replica& one : job.replicas) {
    if (is_launcher(one) && !one.names_policy) one.restart_policy = "OnFailure";
    // COMPAT(mpi-launcher): one that failed is tried again whatever its policy, as the pods of a Job are. Workers only
    // wait.
    one.tried_again = is_launcher(one);
  }
  if (!job.backoff_limit) job.backoff_limit = kBackoffLimit;
}

std::string ssh_folder(const TrainingJob& job) {
  const std::string given = job.spec()["sshAuthMountPath"].str();
  return given.empty() ? std::string(kRootFolder) : given;
}

Json item(std::string_view key, std::string_view path) { return Json::object({{"key", key}, {"path", path}}); }

void mount(Json& spec, std::string_view volume, std::string_view path) {
  spec.edit("containers")
      .edit(std::size_t{0})
      .edit("volumeMounts")
      .push_back(Json::object({{"name", volume}, {"mountPath", path}}));
}

void add_keys(const TrainingJob& job, Json& spec) {
  Json secret =
      Json::object({{"secretName", job.name + "-ssh"},
                    {"items", Json::array({item("ssh-privatekey", "id_rsa"), item("ssh-publickey", "id_rsa.pub"),
                                           item("ssh-publickey", "authorized_keys")})}});
  // The group can read what Kubernetes gives it in another user's folder; root's sshd wants nobody else to.
  if (ssh_folder(job) == kRootFolder) secret.set("defaultMode", kForRoot);
  spec.edit("volumes").push_back(Json::object({{"name", "ssh-auth"}, {"secret", std::move(secret)}}));
  mount(spec, "ssh-auth", ssh_folder(job));
}

void add_name(const TrainingJob& job, std::string_view name, const Options& options, Json& spec) {
  spec.set("hostname", name);
  spec.set("subdomain", job.name);
  if (spec["hostNetwork"].as_bool()) spec.set("dnsPolicy", "ClusterFirstWithHostNet");
  const std::string domain = options.cluster_domain.empty() ? "cluster.local" : options.cluster_domain;
  spec.edit("dnsConfig").edit("searches").push_back(base::format("{}.{}.svc.{}", job.name, job.ns, domain));
}

void wire_worker(Json& spec) {
  Json& first = spec.edit("containers").edit(std::size_t{0});
  if (first["command"].empty() && first["args"].empty()) {
    first.set("command", Json::array({"/usr/sbin/sshd"}));
    first.set("args", Json::array({"-De"}));
  }
  add_env_to(first, "K_MPI_JOB_ROLE", "worker");
}

void wire_launcher(const TrainingJob& job, Json& spec) {
  constexpr std::string_view kHostfile = "/etc/mpi/hostfile";
  Json& first = spec.edit("containers").edit(std::size_t{0});
  const std::string slots = std::to_string(job.spec()["slotsPerWorker"].as_int(1));
  const std::string implementation = mpi_implementation(job);
  add_env_to(first, "K_MPI_JOB_ROLE", "launcher");
  if (implementation == "OpenMPI") {
    add_env_to(first, "OMPI_MCA_orte_keep_fqdn_hostnames", "true");
    add_env_to(first, "OMPI_MCA_orte_default_hostfile", kHostfile);
    add_env_to(first, "OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10");
    add_env_to(first, "OMPI_MCA_orte_set_default_slots", slots);
  } else if (implementation == "Intel") {
    add_env_to(first, "I_MPI_HYDRA_HOST_FILE", kHostfile);
    add_env_to(first, "I_MPI_PERHOST", slots);
  } else {
    add_env_to(first, "HYDRA_HOST_FILE", kHostfile);
  }
  if (!launcher_works(job)) {
    add_env_to(first, "NVIDIA_VISIBLE_DEVICES", "");
    add_env_to(first, "NVIDIA_DRIVER_CAPABILITIES", "");
  }
  Json hosts = item("hostfile", "hostfile");
  hosts.set("mode", kReadable);
  Json script = item("discover_hosts.sh", "discover_hosts.sh");
  script.set("mode", kExecutable);
  spec.edit("volumes").push_back(
      Json::object({{"name", "mpi-job-config"},
                    {"configMap", Json::object({{"name", job.name + "-config"},
                                                {"items", Json::array({std::move(hosts), std::move(script)})}})}}));
  mount(spec, "mpi-job-config", "/etc/mpi");
}

void wire(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options& options, Json& spec) {
  add_name(job, job.pod_name(replica, index), options, spec);
  if (is_launcher(replica))
    wire_launcher(job, spec);
  else
    wire_worker(spec);
  add_keys(job, spec);
}

void judge(Verdict& verdict) {
  const TrainingJob& job = verdict.job();
  const Replica* found = job.find("Launcher");
  if (!found) return;  // of a job that began before its spec was spoilt
  const Replica& launcher = *found;
  const Replica* worker = job.find("Worker");
  const Counts none;
  const Counts& workers = worker ? verdict.counts(*worker) : none;
  if (verdict.counts(launcher).succeeded > 0)
    return verdict.succeeded(base::format("MPIJob {}/{} successfully completed.", job.ns, job.name));
  if (!verdict.launcher_failure.empty())
    return verdict.failed(base::format("MPIJob {}/{} has failed: {}", job.ns, job.name, verdict.launcher_failure),
                          "Warning");
  if (verdict.counts(launcher).active > 0 && workers.active == (worker ? worker->count : 0))
    verdict.running(base::format("MPIJob {}/{} is running.", job.ns, job.name));
}

bool knows(std::span<const std::string_view> all, const Json& word) {
  return word.as_string().empty() || std::ranges::find(all, word.as_string()) != all.end();
}

std::string unsupported(std::string_view path, const Json& word, std::span<const std::string_view> all) {
  std::string known;
  for (const std::string_view one : all) known += base::format("{}{:?}", known.empty() ? "" : ", ", one);
  return base::format("{}: Unsupported value: {:?}: supported values: {}", path, word.as_string(), known);
}

std::string problem_of_replica(const Replica& one) {
  const std::string path = base::format("spec.mpiReplicaSpecs[{}]", one.type);
  if (!is_launcher(one) && one.type != "Worker")
    return base::format("{}: Unsupported value: {:?}: supported values: \"Launcher\", \"Worker\"", path, one.type);
  if (is_launcher(one) && one.count != 1)
    return base::format("{}.replicas: Invalid value: {}: must be 1", path, one.count);
  if (!is_launcher(one) && one.count < 1)
    return base::format("{}.replicas: Invalid value: {}: must be greater than or equal to 1", path, one.count);
  if (!knows(kPolicies, one.restart_policy)) return unsupported(path + ".restartPolicy", one.restart_policy, kPolicies);
  if (one.pod_template["spec"]["containers"].empty())
    return path + ".template.spec.containers: Required value: must define at least one container";
  return {};
}

std::string problem(const TrainingJob& job) {
  const Json& spec = job.spec();
  if (job.replicas.empty()) return "spec.mpiReplicaSpecs: Required value: must have MPI replica specs";
  if (!job.find("Launcher")) return "spec.mpiReplicaSpecs[Launcher]: Required value: must have Launcher replica spec";
  for (const Replica& one : job.replicas)
    if (std::string text = problem_of_replica(one); !text.empty()) return text;
  if (spec["slotsPerWorker"].as_int(1) < 0)
    return base::format("spec.slotsPerWorker: Invalid value: {}: must be greater than or equal to 0",
                        spec["slotsPerWorker"].as_int());
  if (!knows(kImplementations, spec["mpiImplementation"]))
    return unsupported("spec.mpiImplementation", spec["mpiImplementation"], kImplementations);
  if (!knows(kCreations, spec["launcherCreationPolicy"]))
    return unsupported("spec.launcherCreationPolicy", spec["launcherCreationPolicy"], kCreations);
  const Json& policy = spec["runPolicy"];
  if (!knows(kCleanPolicies, policy["cleanPodPolicy"]))
    return unsupported("spec.runPolicy.cleanPodPolicy", policy["cleanPodPolicy"], kCleanPolicies);
  for (const char* number : {"ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit"})
    if (policy[number].as_int() < 0)
      return base::format("spec.runPolicy.{}: Invalid value: {}: must be greater than or equal to 0", number,
                          policy[number].as_int());
  constexpr std::string_view kManagers[] = {"kubeflow.org/mpi-operator", "kueue.x-k8s.io/multikueue"};
  if (!knows(kManagers, policy["managedBy"]))
    return unsupported("spec.runPolicy.managedBy", policy["managedBy"], kManagers);
  return {};
}

}  // namespace

Framework mpi_ssh() {
  return {.kind = "MPIJob",
          .label = "mpi",
          .controller = "mpijob-controller",
          .resource = api::resources::kSshMpiJobs,
          .replica_map = "mpiReplicaSpecs",
          .container = "mpi",
          .port_name = "mpi-port",
          .restart_policy = "Never",
          .types = {"Launcher", "Worker"},
          .has_services = false,
          .operator_name = "mpi-operator",
          .manager = "kubeflow.org/mpi-operator",
          .launcher_is_a_job = true,
          .set_defaults = set_defaults,
          .wire = wire,
          .judge = judge,
          .problem = problem,
          .objects = mpi_ssh_objects};
}

}  // namespace controllers::training
