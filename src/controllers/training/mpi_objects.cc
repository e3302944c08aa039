// The hostfile, the way from the launcher into workers, and the rights to it.
#include "controllers/training/mpi_objects.h"

#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "controllers/training/pods.h"

namespace controllers::training {

using api::Json;

namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

std::int64_t slots(const TrainingJob& job) { return job.spec()["slotsPerWorker"].as_int(1); }

Json labelled(const TrainingJob& job, std::string_view name) {
  Json metadata = owned_metadata(job, name);
  metadata.set("labels", Json::object({{"app", job.name}}));
  return metadata;
}

std::string hostfile(const TrainingJob& job) {
  std::string text;
  if (has_gpu_launcher(job)) text += base::format("{}-launcher slots={}\n", job.name, slots(job));
  if (const Replica* worker = job.find("Worker"))
    for (std::int64_t i = 0; i < worker->count; ++i)
      text += base::format("{} slots={}\n", job.pod_name(*worker, i), slots(job));
  return text;
}

std::string exec_script(const TrainingJob& job) {
  const std::string container = job.spec()["mainContainer"].str();
  return base::format(
      "#!/bin/sh\n"
      "set -x\n"
      "POD_NAME=$1\n"
      "shift\n"
      "/opt/kube/kubectl exec ${{POD_NAME}}{}{} -- /bin/sh -c \"$*\"\n",
      container.empty() ? "" : " --container ", container);
}

std::string hosts_script(const TrainingJob& job, const std::vector<std::string>& running) {
  std::string text = "#!/bin/sh\n";
  if (has_gpu_launcher(job)) text += base::format("echo {}-launcher:{}\n", job.name, slots(job));
  for (const std::string& name : running) text += base::format("echo {}:{}\n", name, slots(job));
  return text;
}

Json config_map(const TrainingJob& job, const std::vector<std::string>& running) {
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", labelled(job, job.name + "-config")},
                       {"data", Json::object({{"hostfile", hostfile(job)},
                                              {"kubexec.sh", exec_script(job)},
                                              {"discover_hosts.sh", hosts_script(job, running)}})}});
}

Json role(const TrainingJob& job) {
  Json names = Json::array();
  if (const Replica* worker = job.find("Worker"))
    for (std::int64_t i = 0; i < worker->count; ++i) names.push_back(job.pod_name(*worker, i));
  Json read = Json::object({{"verbs", Json::array({"get", "list", "watch"})},
                            {"apiGroups", Json::array({""})},
                            {"resources", Json::array({"pods"})}});
  Json rules = Json::array({std::move(read)});
  // A rule without names is one about every pod of the namespace.
  if (!names.empty())
    rules.push_back(Json::object({{"verbs", Json::array({"create"})},
                                  {"apiGroups", Json::array({""})},
                                  {"resources", Json::array({"pods/exec"})},
                                  {"resourceNames", std::move(names)}}));
  return Json::object({{"apiVersion", base::format("{}/v1", kRbac)},
                       {"kind", "Role"},
                       {"metadata", labelled(job, job.name + "-launcher")},
                       {"rules", std::move(rules)}});
}

Json role_binding(const TrainingJob& job) {
  const std::string name = job.name + "-launcher";
  return Json::object(
      {{"apiVersion", base::format("{}/v1", kRbac)},
       {"kind", "RoleBinding"},
       {"metadata", labelled(job, name)},
       {"subjects", Json::array({Json::object(
                        {{"kind", "ServiceAccount"}, {"name", launcher_account(job)}, {"namespace", job.ns}})})},
       {"roleRef", Json::object({{"apiGroup", kRbac}, {"kind", "Role"}, {"name", name}})}});
}

}  // namespace

std::string launcher_account(const TrainingJob& job) {
  const Replica* launcher = job.find("Launcher");
  const std::string given = launcher ? launcher->pod_template["spec"]["serviceAccountName"].str() : "";
  return given.empty() ? job.name + "-launcher" : given;
}

bool has_gpu_launcher(const TrainingJob& job) {
  const Replica* launcher = job.find("Launcher");
  if (!launcher) return false;
  for (const Json& container : launcher->pod_template["spec"]["containers"].items())
    for (const Json::Member& limit : container["resources"]["limits"].members())
      if (limit.name().find("gpu") != std::string_view::npos) return true;
  return false;
}

std::string problem_of_mpi(const TrainingJob& job) {
  if (job.replicas.empty()) return "MPIReplicaSpecs is not valid";
  for (const Replica& one : job.replicas) {
    const Json& containers = one.pod_template["spec"]["containers"];
    if (containers.empty())
      return base::format("MPIReplicaSpecs is not valid: containers definition expected in {}", one.type);
    if (one.type != "Launcher" && one.type != "Worker")
      return base::format("MPIReplicaType is {} but must be one of [Launcher Worker]", one.type);
    for (const Json& container : containers.items()) {
      if (container["image"].as_string().empty())
        return base::format("MPIReplicaSpec is not valid: Image is undefined in the container of {}", one.type);
      if (container["name"].as_string().empty())
        return base::format("MPIReplicaSpec is not valid: ImageName is undefined in the container of {}", one.type);
    }
    if (one.type == "Launcher" && one.count != 1)
      return "MPIReplicaSpec is not valid: There must be only 1 launcher replica";
  }
  if (!job.find("Launcher")) return "MPIReplicaSpec is not valid: Master ReplicaSpec must be present";
  return {};
}

std::vector<OwnObject> mpi_objects(const TrainingJob& job, const std::vector<std::string>& running,
                                   const Options& /*options*/) {
  std::vector<OwnObject> all;
  if (launcher_account(job) == job.name + "-launcher")
    all.push_back(
        {api::resources::kServiceAccounts,
         Json::object(
             {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", labelled(job, launcher_account(job))}})});
  all.push_back({api::resources::kConfigMaps, config_map(job, running), "data"});
  all.push_back({kRoles, role(job), "rules"});
  all.push_back({kRoleBindings, role_binding(job)});
  return all;
}

}  // namespace controllers::training
