// TFJob: TF_CONFIG, and a chief or the first worker that says when it is over (training.md 5.2, 6.4).
#include <map>

#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "controllers/training/framework.h"

namespace controllers::training {

using api::Json;

namespace {

bool is_master(const TrainingJob& job, const Replica& replica, std::int64_t index) {
  return is_first_of(job, replica, index, {"Chief", "Master"});
}

std::string endpoint(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options& options) {
  return base::format("{}.{}.svc{}{}:{}", job.pod_name(replica, index), job.ns,
                      options.cluster_domain.empty() ? "" : ".", options.cluster_domain, job.port_of(replica));
}

Json all_endpoints(const TrainingJob& job, const Replica& replica, const Options& options) {
  Json list = Json::array();
  for (std::int64_t i = 0; i < replica.count; ++i) list.push_back(endpoint(job, replica, i, options));
  return list;
}

Json task(const Replica& replica, std::int64_t index) {
  return Json::object({{"type", replica.lower}, {"index", index}});
}

Json config(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options& options) {
  std::map<std::string, const Replica*> by_name;
  for (const Replica& one : job.replicas) by_name[one.lower] = &one;
  Json cluster = Json::object();
  for (const auto& [name, one] : by_name) cluster.set(name, all_endpoints(job, *one, options));
  return Json::object({{"cluster", std::move(cluster)}, {"task", task(replica, index)}, {"environment", "cloud"}});
}

// Workers that come and go know themselves and the parameter servers only.
Json sparse_config(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options& options) {
  Json workers = Json::object();
  Json servers = Json::array();
  if (replica.type == "Worker") {
    workers.set(std::to_string(index), endpoint(job, replica, index, options));
    if (const Replica* all = job.find("PS")) servers = all_endpoints(job, *all, options);
  } else if (replica.type == "PS") {
    servers.push_back(endpoint(job, replica, index, options));
  }
  Json cluster = Json::object({{"worker", std::move(workers)}, {"ps", std::move(servers)}});
  return Json::object({{"cluster", std::move(cluster)}, {"task", task(replica, index)}});
}

void wire(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options& options, Json& pod_spec) {
  if (job.total() == 1) return;
  const Json value = job.spec()["enableDynamicWorker"].as_bool() ? sparse_config(job, replica, index, options)
                                                                 : config(job, replica, index, options);
  const Json text = value.dump();
  Json& containers = pod_spec.edit("containers");
  for (std::size_t i = 0; i < containers.size(); ++i)
    if (containers[i]["name"].as_string() == "tensorflow") add_env_to(containers.edit(i), "TF_CONFIG", text);
}

void judge_failed(Verdict& verdict, const Replica& replica) {
  const Counts& counts = verdict.counts(replica);
  if (counts.failed == 0) return;
  const TrainingJob& job = verdict.job();
  // COMPAT(training-tf-never): what is not made again is not waited for.
  if (verdict.was_restarting() && replica.restart_policy != "Never")
    return verdict.restarting(
        base::format("job {} is restarting because {} replica(s) failed.", job.name, replica.type));
  if (job.spec()["enableDynamicWorker"].as_bool() && replica.type == "Worker") return;
  verdict.failed(base::format("TFJob {}/{} has failed because {} {} replica(s) failed.", job.ns, job.name,
                              counts.failed, replica.type));
}

void judge(Verdict& verdict) {
  const TrainingJob& job = verdict.job();
  const bool has_master = job.find("Chief") || job.find("Master");
  const bool all_workers = job.spec()["successPolicy"].as_string() == "AllWorkers";
  const std::string running = base::format("TFJob {}/{} is running.", job.ns, job.name);
  const std::string done = base::format("TFJob {}/{} successfully completed.", job.ns, job.name);
  for (const Replica& one : job.replicas) {
    const Counts& counts = verdict.counts(one);
    const std::int64_t expected = one.count - counts.succeeded;
    if (has_master && (one.type == "Chief" || one.type == "Master")) {
      if (counts.active > 0) verdict.running(running);
      if (expected <= 0) verdict.succeeded(done);
    } else if (!has_master && one.type == "Worker") {
      if (expected <= 0 || (verdict.first_worker_is_done && !all_workers))
        verdict.succeeded(done);
      else if (counts.active > 0)
        verdict.running(running);
    }
    if (!verdict.has_succeeded()) judge_failed(verdict, one);
  }
}

}  // namespace

Framework tensorflow() {
  return {.kind = "TFJob",
          .label = "tensorflow",
          .controller = "tfjob-controller",
          .resource = api::resources::kTfJobs,
          .replica_map = "tfReplicaSpecs",
          .container = "tensorflow",
          .port_name = "tfjob-port",
          .port = 2222,
          .restart_policy = "Never",
          .types = {"Chief", "Evaluator", "Master", "PS", "Worker"},
          .deletion_reason = "SuccessfulDeleteJob",
          .is_master = is_master,
          .wire = wire,
          .judge = judge};
}

}  // namespace controllers::training
