// The newer MPIJob: its launcher reaches the workers through ssh (kubeflow.md 7). A cluster has this one or that of v1.
#pragma once

#include "api/kubeflow/v1/run_policy.h"
#include "api/meta/owner_reference.h"

namespace api {

struct SshMpiJobSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v2beta1.MpiJobSpec";
  static constexpr auto fields() {
    return rows(
        field<std::int32_t>("slotsPerWorker", {.default_json = "1"}, "Processes a worker."),
        field<bool>("runLauncherAsWorker", {.default_json = "false"}, "Whether ranks run in the launcher, too."),
        field<TrainingRunPolicy>("runPolicy", "How the job is run."),
        field<TrainingReplicas>("mpiReplicaSpecs", {.required = true}, "Replicas by type: Launcher, Worker."),
        field<Text>("sshAuthMountPath", {.default_json = R"("/root/.ssh")"}, "Folder of the keys in containers."),
        field<Text>("launcherCreationPolicy",
                    {.default_json = R"("AtStartup")", .enumeration = "AtStartup|WaitForWorkersReady"},
                    "When the launcher is made."),
        field<Text>("mpiImplementation", {.default_json = R"("OpenMPI")", .enumeration = "OpenMPI|Intel|MPICH"},
                    "Whose mpirun the launcher has."));
  }
};

struct SshMpiJob {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v2beta1.MpiJob";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<SshMpiJobSpec>("spec", "What to run, and with what."),
                field<TrainingJobStatus>("status", "How it goes."));
  }
};

}  // namespace api
