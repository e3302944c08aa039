// The objects of MPIJobs beside their pods: who the launcher is, its files, and what it may do (training.md 5.6), and
// the same of v2beta1 (kubeflow.md 7).
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "controllers/training/framework.h"

namespace controllers::training {

inline const api::ResourceId kRoles{"rbac.authorization.k8s.io", "v1", "roles"};
inline const api::ResourceId kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};

inline const api::ResourceId kBatchJobs{"batch", "v1", "jobs"};

// --- v1 ---

// In the order in which they are made. `running`: names of the workers that run, sorted.
std::vector<OwnObject> mpi_objects(const TrainingJob& job, const std::vector<std::string>& running,
                                   const Options& options);
std::string launcher_account(const TrainingJob& job);
bool has_gpu_launcher(const TrainingJob& job);
// Why no pod can be made; empty: nothing is wrong.
std::string problem_of_mpi(const TrainingJob& job);

// --- v2beta1 ---

std::vector<OwnObject> mpi_ssh_objects(const TrainingJob& job, const std::vector<std::string>& running,
                                       const Options& options);
// The Job that makes the launcher, from the pod that would be the launcher.
api::Json launcher_job(const TrainingJob& job, api::Json pod);
// OpenMPI, Intel or MPICH.
std::string mpi_implementation(const TrainingJob& job);
bool launcher_works(const TrainingJob& job);

}  // namespace controllers::training
