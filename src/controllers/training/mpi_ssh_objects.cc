// The objects of an MPIJob of v2beta1 beside its pods: names for them, where they are, keys to log in, and the Job that
// its launcher is on a cluster that has Jobs (kubeflow.md 7).
#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "controllers/training/mpi_objects.h"
#include "controllers/training/pods.h"

namespace controllers::training {

using api::Json;

namespace {

Json labelled(const TrainingJob& job, std::string_view name) {
  Json metadata = owned_metadata(job, name);
  metadata.set("labels", Json::object({{"app", job.name}}));
  return metadata;
}

std::int64_t slots(const TrainingJob& job) { return job.spec()["slotsPerWorker"].as_int(1); }

std::string host(const TrainingJob& job, std::string_view pod) {
  return base::format("{}.{}.{}.svc", pod, job.name, job.ns);
}

std::string hostfile(const TrainingJob& job) {
  std::string text;
  const bool is_open = mpi_implementation(job) == "OpenMPI";
  const auto add = [&](const std::string& pod) {
    text += base::format("{}{}{}\n", host(job, pod), is_open ? " slots=" : ":", slots(job));
  };
  if (launcher_works(job)) add(job.name + "-launcher");
  if (const Replica* worker = job.find("Worker"))
    for (std::int64_t i = 0; i < worker->count; ++i) add(job.pod_name(*worker, i));
  return text;
}

// COMPAT(mpi-hosts)
std::string hosts_script(const TrainingJob& job, const std::vector<std::string>& running) {
  std::string text = "#!/bin/sh\n";
  if (launcher_works(job)) text += base::format("echo {}:{}\n", host(job, job.name + "-launcher"), slots(job));
  for (const std::string& pod : running) text += base::format("echo {}:{}\n", host(job, pod), slots(job));
  return text;
}

}  // namespace

std::vector<OwnObject> mpi_ssh_objects(const TrainingJob& job, const std::vector<std::string>& running,
                                       const Options&) {
  Json selector = Json::object({{kJobName, job.name}, {kOperatorName, job.framework->operator_name}});
  Json service = Json::object(
      {{"apiVersion", "v1"},
       {"kind", "Service"},
       {"metadata", labelled(job, job.name)},
       // Ranks look each other up before sshd answers.
       {"spec",
        Json::object({{"clusterIP", "None"}, {"publishNotReadyAddresses", true}, {"selector", std::move(selector)}})}});
  Json config = Json::object(
      {{"apiVersion", "v1"},
       {"kind", "ConfigMap"},
       {"metadata", labelled(job, job.name + "-config")},
       {"data", Json::object({{"hostfile", hostfile(job)}, {"discover_hosts.sh", hosts_script(job, running)}})}});
  Json keys = Json::object({{"apiVersion", "v1"},
                            {"kind", "Secret"},
                            {"metadata", labelled(job, job.name + "-ssh")},
                            {"type", "kubernetes.io/ssh-auth"},
                            {"data", Json::object()}});
  return {{.resource = api::resources::kServices, .object = std::move(service)},
          {.resource = api::resources::kConfigMaps, .object = std::move(config), .content = "data"},
          {.resource = api::resources::kSecrets, .object = std::move(keys), .addition = Addition::kSshAuthPair}};
}

Json launcher_job(const TrainingJob& job, Json pod) {
  Json metadata = labelled(job, job.name + "-launcher");
  Json about = pod["metadata"];
  for (const char* not_of_a_template : {"name", "namespace", "ownerReferences"}) about.erase(not_of_a_template);
  Json spec = Json::object({{"template", Json::object({{"metadata", std::move(about)}, {"spec", pod["spec"]}})}});
  const Json& policy = job.spec()["runPolicy"];
  for (const char* passed_on : {"backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"})
    if (policy[passed_on].is_number()) spec.set(passed_on, policy[passed_on]);
  return Json::object(
      {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", std::move(metadata)}, {"spec", std::move(spec)}});
}

std::string mpi_implementation(const TrainingJob& job) {
  const std::string given = job.spec()["mpiImplementation"].str();
  return given.empty() ? "OpenMPI" : given;
}

bool launcher_works(const TrainingJob& job) { return job.spec()["runLauncherAsWorker"].as_bool(); }

}  // namespace controllers::training
