// The newer MPIJob: its launcher reaches the workers through ssh (kubeflow.md 7). A cluster has this one or that of v1.
#pragma once

#include "api/kubeflow/v1/run_policy.h"
#include "api/meta/object.h"

namespace api {

struct SshMpiJobSpec {
  std::optional<std::int32_t> slots_per_worker;
  std::optional<bool> launcher_works;
  std::optional<TrainingRunPolicy> run_policy;
  TrainingReplicas replicas;
  std::string ssh_folder;
  std::string launcher_creation;
  std::string implementation;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v2beta1.MpiJobSpec";
  static constexpr auto fields() {
    using J = SshMpiJobSpec;
    return rows(
        field<&J::slots_per_worker>("slotsPerWorker", {.default_json = "1"}, "Processes a worker."),
        field<&J::launcher_works>("runLauncherAsWorker", {.default_json = "false"},
                                  "Whether ranks run in the launcher, too."),
        field<&J::run_policy>("runPolicy", "How the job is run."),
        field<&J::replicas>("mpiReplicaSpecs", {.required = true}, "Replicas by type: Launcher, Worker."),
        field<&J::ssh_folder>("sshAuthMountPath", {.default_json = R"("/root/.ssh")"},
                              "Folder of the keys in containers."),
        field<&J::launcher_creation>("launcherCreationPolicy",
                                     {.default_json = R"("AtStartup")", .enumeration = "AtStartup|WaitForWorkersReady"},
                                     "When the launcher is made."),
        field<&J::implementation>("mpiImplementation",
                                  {.default_json = R"("OpenMPI")", .enumeration = "OpenMPI|Intel|MPICH"},
                                  "Whose mpirun the launcher has."));
  }
};

struct SshMpiJob {
  ObjectMeta metadata;
  SshMpiJobSpec spec;
  TrainingJobStatus status;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v2beta1.MpiJob";
  static constexpr auto fields() {
    using J = SshMpiJob;
    return rows(field<&J::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&J::spec>("spec", "What to run, and with what."), field<&J::status>("status", "How it goes."));
  }
};

}  // namespace api
