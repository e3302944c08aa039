// The list of frameworks, and what their files share.
#include "controllers/training/framework.h"

namespace controllers::training {

using api::Json;

const std::vector<Framework>& frameworks() {
  static const std::vector<Framework> kAll = {pytorch(), tensorflow(), mpi(), xgboost(), paddle(), jax(), mpi_ssh()};
  return kAll;
}

const Framework* find_framework(std::string_view kind, std::string_view version) {
  for (const Framework& one : frameworks())
    if (one.kind == kind && one.resource.version == version) return &one;
  return nullptr;
}

void add_env_to(Json& container, std::string_view name, const Json& value) {
  container.edit("env").push_back(Json::object({{"name", name}, {"value", value}}));
}

void add_env(Json& pod_spec, std::string_view name, const Json& value) {
  Json& containers = pod_spec.edit("containers");
  for (std::size_t i = 0; i < containers.size(); ++i) add_env_to(containers.edit(i), name, value);
}

void set_elastic_defaults(TrainingJob& job) {
  const Replica* worker = job.find("Worker");
  if (!job.spec()["elasticPolicy"].is_object() || !worker) return;
  Json& policy = job.object.edit_path({"spec", "elasticPolicy"});
  const Json least = policy["minReplicas"];
  const Json most = policy["maxReplicas"];
  const Json workers = worker->count;
  if (least.is_null()) policy.set("minReplicas", most.is_null() ? workers : most);
  if (most.is_null()) policy.set("maxReplicas", least.is_null() ? workers : least);
}

bool is_first_of(const TrainingJob& job, const Replica& replica, std::int64_t index,
                 std::initializer_list<std::string_view> masters) {
  bool has_master = false;
  for (const std::string_view master : masters) {
    if (replica.type == master) return true;
    has_master = has_master || job.find(master);
  }
  return !has_master && replica.type == "Worker" && index == 0;
}

}  // namespace controllers::training
