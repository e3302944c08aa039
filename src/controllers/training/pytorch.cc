// PyTorchJob: torch.distributed finds its master, torchrun its rendezvous (training.md 5.1).

#include "api/json/yaml.h"
#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "base/number.h"
#include "controllers/framework/counts.h"
#include "controllers/training/framework.h"
#include "controllers/training/pods.h"

namespace controllers::training {

using api::Json;

namespace {

void set_defaults(TrainingJob& job) {
  set_elastic_defaults(job);
  const Json& spec = job.spec();
  if (spec["nprocPerNode"].as_string().empty() && spec["elasticPolicy"]["nProcPerNode"].is_null())
    job.object.edit("spec").set("nprocPerNode", "auto");
}

bool is_master(const TrainingJob& job, const Replica& replica, std::int64_t index) {
  return is_first_of(job, replica, index, {"Master"});
}

std::int64_t processes_per_node(const TrainingJob& job) {
  const std::string_view text = job.spec()["nprocPerNode"].as_string();
  return fit_count(base::parse_number<std::int64_t>(text).value_or(1));
}

void wire_elastic(const TrainingJob& job, Json& pod_spec) {
  const Json& policy = job.spec()["elasticPolicy"];
  const Replica* worker = job.find("Worker");
  std::string host = policy["rdzvHost"].str();
  if (host.empty()) host = job.name + "-worker-0";
  const std::int64_t port = policy["rdzvPort"].as_int(worker ? job.port_of(*worker) : job.framework->port);
  add_env(pod_spec, "PET_RDZV_ENDPOINT", base::format("{}:{}", host, port));
  const std::string backend = policy["rdzvBackend"].str();
  add_env(pod_spec, "PET_RDZV_BACKEND", backend.empty() ? "c10d" : backend);
  const Json& least = policy["minReplicas"];
  const Json& most = policy["maxReplicas"];
  add_env(pod_spec, "PET_NNODES",
          least.is_null() || most.is_null() ? std::to_string(worker ? worker->count : 0)
                                            : base::format("{}:{}", least.as_int(), most.as_int()));
  if (const Json& number = policy["maxRestarts"]; number.is_number())
    add_env(pod_spec, "PET_MAX_RESTARTS", std::to_string(number.as_int()));
  if (const Json& number = policy["nProcPerNode"]; number.is_number())
    add_env(pod_spec, "PET_NPROC_PER_NODE", std::to_string(number.as_int()));
  if (const std::string id = policy["rdzvId"].str(); !id.empty()) add_env(pod_spec, "PET_RDZV_ID", id);
  std::string settings;
  for (const Json& one : policy["rdzvConf"].items())
    settings += base::format("{}{}={}", settings.empty() ? "" : ",", one["key"].as_string(), one["value"].as_string());
  if (!settings.empty()) add_env(pod_spec, "PET_RDZV_CONF", settings);
  if (policy["standalone"].as_bool()) add_env(pod_spec, "PET_STANDALONE", "");
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

// The containers that hold a worker back until its master has a name.
Json init_containers(const std::string& master, const Options& options) {
  if (!options.init_template.empty())
    if (auto containers = containers_of_template(options, master); containers.ok()) return *std::move(containers);
  // The printed text counts, not the exit code: BusyBox 1.35 fails when one of the search domains does not know the
  // name.
  const std::string script = base::format(
      "left={1}\n"
      "until nslookup {0} 2> /dev/null | grep '^Name:' || getent hosts {0}; do\n"
      "  left=$((left - 1))\n"
      "  [ $left -gt 0 ] || exit 1\n"
      "  echo waiting for master\n"
      "  sleep 2\n"
      "done\n",
      master, options.init_tries_max);
  return Json::array({Json::object(
      {{"name", kWaitsForMaster},
       {"image", options.init_image},
       {"imagePullPolicy", "IfNotPresent"},
       {"command", Json::array({"sh", "-c", script})},
       {"resources", Json::object({{"limits", Json::object({{"cpu", "100m"}, {"memory", "20Mi"}})},
                                   {"requests", Json::object({{"cpu", "50m"}, {"memory", "10Mi"}})}})}})});
}

void wire(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options& options, Json& pod_spec) {
  add_env(pod_spec, "PYTHONUNBUFFERED", "1");
  const Replica* master = job.find("Master");
  const bool is_worker = replica.type != "Master";
  if (master) {
    const std::string address = job.pod_name(*master, 0);
    const std::string port = std::to_string(job.port_of(*master));
    const std::string rank = std::to_string(is_worker ? index + 1 : index);
    add_env(pod_spec, "MASTER_PORT", port);
    add_env(pod_spec, "PET_MASTER_PORT", port);
    add_env(pod_spec, "MASTER_ADDR", address);
    add_env(pod_spec, "PET_MASTER_ADDR", address);
    add_env(pod_spec, "WORLD_SIZE", std::to_string(job.total() * processes_per_node(job)));
    add_env(pod_spec, "RANK", rank);
    add_env(pod_spec, "PET_NODE_RANK", rank);
    if (is_worker) {
      const Json extra = init_containers(address, options);
      for (const Json& container : extra.items()) pod_spec.edit("initContainers").push_back(container);
    }
  }
  if (const std::string count = job.spec()["nprocPerNode"].str(); !count.empty())
    add_env(pod_spec, "PET_NPROC_PER_NODE", count);
  if (job.spec()["elasticPolicy"].is_object())
    wire_elastic(job, pod_spec);
  else
    add_env(pod_spec, "PET_NNODES", std::to_string(job.total()));
}

void judge(Verdict& verdict) {
  const TrainingJob& job = verdict.job();
  const bool has_master = job.find("Master");
  const bool elastic = job.spec()["elasticPolicy"].is_object();
  for (const Replica& one : job.replicas) {
    const Counts& counts = verdict.counts(one);
    const std::int64_t expected = one.count - counts.succeeded;
    if (has_master && one.type == "Master") {
      if (counts.active > 0) verdict.running(base::format("PyTorchJob {} is running.", job.name));
      if (expected <= 0) return verdict.succeeded(base::format("PyTorchJob {} is successfully completed.", job.name));
    } else if (!has_master && one.type == "Worker") {
      if (expected <= 0 || (elastic && counts.succeeded > 0))
        return verdict.succeeded(base::format("PyTorchJob {}/{} successfully completed.", job.ns, job.name));
      if (counts.active > 0) verdict.running(base::format("PyTorchJob {}/{} is running.", job.ns, job.name));
    }
    judge_failures(verdict, one);
  }
}

}  // namespace

base::Result<Json> containers_of_template(const Options& options, const std::string& master) {
  std::string text = options.init_template;
  replace_all(text, "{{.MasterAddr}}", master);
  replace_all(text, "{{.InitContainerImage}}", options.init_image);
  replace_all(text, "{{.MaxTries}}", std::to_string(options.init_tries_max));
  TRY(Json containers, api::parse_yaml(text));
  if (!containers.is_array()) return base::make_error(base::Code::kInvalid, "not a list of containers");
  return containers;
}

Framework pytorch() {
  return {.kind = "PyTorchJob",
          .label = "pytorch",
          .controller = "pytorchjob-controller",
          .resource = api::resources::kPyTorchJobs,
          .replica_map = "pytorchReplicaSpecs",
          .container = "pytorch",
          .port_name = "pytorchjob-port",
          .port = 23456,
          .restart_policy = "OnFailure",
          .types = {"Master", "Worker"},
          .notifies_selectors = true,
          .set_defaults = set_defaults,
          .is_master = is_master,
          .wire = wire,
          .judge = judge};
}

}  // namespace controllers::training
