// What an MPIJob has beside its pods: who its launcher is, its files, and what it may do (training.md 5.6).
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/resource.h"
#include "controllers/training/job.h"

namespace controllers::training {

inline const api::ResourceId kRoles{"rbac.authorization.k8s.io", "v1", "roles"};
inline const api::ResourceId kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};

struct MpiObject {
  api::ResourceId resource;
  api::Json object;
  const char* content;  // the member that is kept as it should be; null: it is made once
};

// In the order in which they are made. `running`: names of the workers that run, sorted.
std::vector<MpiObject> mpi_objects(const TrainingJob& job, const std::vector<std::string>& running, bool gives_roles);
std::string launcher_account(const TrainingJob& job);
bool has_gpu_launcher(const TrainingJob& job);

}  // namespace controllers::training
