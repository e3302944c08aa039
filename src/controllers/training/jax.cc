// JAXJob: the first worker coordinates (training.md 5.5).
#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "controllers/training/framework.h"

namespace controllers::training {

using api::Json;

namespace {

bool is_master(const TrainingJob&, const Replica&, std::int64_t index) { return index == 0; }

void wire(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options&, Json& pod_spec) {
  add_env(pod_spec, "PYTHONUNBUFFERED", "1");
  add_env(pod_spec, "COORDINATOR_PORT", std::to_string(job.port_of(replica)));
  add_env(pod_spec, "COORDINATOR_ADDRESS", job.name + "-worker-0");
  add_env(pod_spec, "NUM_PROCESSES", std::to_string(job.total()));
  add_env(pod_spec, "PROCESS_ID", std::to_string(index));
}

void judge(Verdict& verdict) {
  const TrainingJob& job = verdict.job();
  for (const Replica& one : job.replicas) {
    const Counts& counts = verdict.counts(one);
    if (one.count - counts.succeeded <= 0)
      return verdict.succeeded(base::format("JAXJob {}/{} successfully completed.", job.ns, job.name));
    if (counts.active > 0) verdict.running(base::format("JAXJob {}/{} is running.", job.ns, job.name));
    judge_failures(verdict, one);
  }
}

}  // namespace

Framework jax() {
  return {.kind = "JAXJob",
          .label = "jax",
          .controller = "jaxjob-controller",
          .resource = api::resources::kJaxJobs,
          .replica_map = "jaxReplicaSpecs",
          .container = "jax",
          .port_name = "jaxjob-port",
          .port = 6666,
          .restart_policy = "Never",
          .types = {"Worker"},
          .notifies_selectors = true,
          .is_master = is_master,
          .wire = wire,
          .judge = judge};
}

}  // namespace controllers::training
