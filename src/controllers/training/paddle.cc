// PaddleJob: collective without a master, with parameter servers where there is one (training.md 5.4).
#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "controllers/training/framework.h"

namespace controllers::training {

using api::Json;

namespace {

bool is_master(const TrainingJob&, const Replica& replica, std::int64_t) { return replica.type == "Master"; }

void add_own_address(Json& pod_spec) {
  Json& containers = pod_spec.edit("containers");
  for (std::size_t i = 0; i < containers.size(); ++i)
    containers.edit(i).edit("env").push_back(
        Json::object({{"name", "POD_IP_DUMMY"},
                      {"valueFrom", Json::object({{"fieldRef", Json::object({{"fieldPath", "status.podIP"}})}})}}));
}

void wire(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options&, Json& pod_spec) {
  add_env(pod_spec, "PYTHONUNBUFFERED", "1");
  add_env(pod_spec, "PADDLE_JOB_ID", job.name);
  add_env(pod_spec, "PADDLE_NNODES", std::to_string(job.total()));
  const Replica* master = job.find("Master");
  const Replica& first = master ? *master : replica;
  const std::int64_t port = job.port_of(first);
  if (replica.type == first.type && index == 0) {
    add_own_address(pod_spec);
    add_env(pod_spec, "PADDLE_MASTER", base::format("$(POD_IP_DUMMY):{}", port));
  } else {
    add_env(pod_spec, "PADDLE_MASTER", base::format("{}:{}", job.pod_name(first, 0), port));
  }
  if (master) add_env(pod_spec, replica.type == "Master" ? "PADDLE_SERVER_NUM" : "PADDLE_TRAINER_NUM", "1");
}

void judge(Verdict& verdict) {
  const TrainingJob& job = verdict.job();
  const bool has_master = job.find("Master");
  for (const Replica& one : job.replicas) {
    const Counts& counts = verdict.counts(one);
    const std::int64_t expected = one.count - counts.succeeded;
    if (has_master && one.type == "Master") {
      if (counts.active > 0) verdict.running(base::format("PaddleJob {} is running.", job.name));
      if (expected <= 0) return verdict.succeeded(base::format("PaddleJob {} is successfully completed.", job.name));
    } else if (!has_master && one.type == "Worker") {
      if (expected <= 0)
        return verdict.succeeded(base::format("PaddleJob {}/{} successfully completed.", job.ns, job.name));
      if (counts.active > 0) verdict.running(base::format("PaddleJob {}/{} is running.", job.ns, job.name));
    }
    judge_failures(verdict, one);
  }
}

}  // namespace

Framework paddle() {
  return {.kind = "PaddleJob",
          .label = "paddle",
          .controller = "paddlejob-controller",
          .resource = api::resources::kPaddleJobs,
          .replica_map = "paddleReplicaSpecs",
          .container = "paddle",
          .port_name = "master",
          .port = 36543,
          .restart_policy = "OnFailure",
          .types = {"Master", "Worker"},
          .notifies_selectors = true,
          .set_defaults = set_elastic_defaults,
          .is_master = is_master,
          .wire = wire,
          .judge = judge};
}

}  // namespace controllers::training
