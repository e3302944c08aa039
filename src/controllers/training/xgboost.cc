// XGBoostJob: the master starts the tracker, and everybody knows where (training.md 5.3).
#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "controllers/training/framework.h"

namespace controllers::training {

using api::Json;

namespace {

bool is_master(const TrainingJob&, const Replica& replica, std::int64_t) { return replica.type == "Master"; }

void wire(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options&, Json& pod_spec) {
  const Replica* master = job.find("Master");
  const Replica* worker = job.find("Worker");
  const std::int64_t rank = replica.type == "Master" || !master ? index : index + master->count;
  add_env(pod_spec, "MASTER_PORT", std::to_string(master ? job.port_of(*master) : job.framework->port));
  add_env(pod_spec, "MASTER_ADDR", job.name + "-master-0");
  add_env(pod_spec, "WORLD_SIZE", std::to_string(job.total()));
  add_env(pod_spec, "RANK", std::to_string(rank));
  add_env(pod_spec, "PYTHONUNBUFFERED", "1");
  if (job.total() <= 1) return;
  add_env(pod_spec, "WORKER_PORT", std::to_string(worker ? job.port_of(*worker) : job.framework->port));
  std::string hosts;
  for (std::int64_t i = 0; i + 1 < job.total(); ++i)
    hosts += base::format("{}{}-worker-{}", hosts.empty() ? "" : ",", job.name, i);
  add_env(pod_spec, "WORKER_ADDRS", hosts);
}

void judge(Verdict& verdict) {
  const TrainingJob& job = verdict.job();
  const std::string running = base::format("XGBoostJob {} is running.", job.name);
  for (const Replica& one : job.replicas) {
    const Counts& counts = verdict.counts(one);
    if (one.type == "Master") {
      if (counts.active > 0) verdict.running(running);
      if (one.count - counts.succeeded <= 0) {
        verdict.running(running);
        return verdict.succeeded(base::format("XGBoostJob {} is successfully completed.", job.name));
      }
    }
    if (counts.failed == 0) continue;
    const bool again = one.restart_policy == "ExitCode";
    const std::string text = base::format("XGBoostJob {} is {} because {} {} replica(s) failed.", job.name,
                                          again ? "restarting" : "failed", counts.failed, one.type);
    verdict.running(running);
    if (again)
      verdict.restarting(text);
    else
      verdict.failed(text);
  }
}

}  // namespace

Framework xgboost() {
  return {.kind = "XGBoostJob",
          .label = "xgboost",
          .controller = "xgboostjob-controller",
          .resource = api::resources::kXgboostJobs,
          .replica_map = "xgbReplicaSpecs",
          .container = "xgboost",
          .port_name = "xgboostjob-port",
          .port = 9999,
          .restart_policy = "Never",
          .types = {"Master", "Worker"},
          .deletion_reason = "SuccessfulDeleteJob",
          .restarts_by_exit_code_only = true,
          .is_master = is_master,
          .wire = wire,
          .judge = judge};
}

}  // namespace controllers::training
