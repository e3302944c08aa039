// Reading a training job; defaults are filled in here and never written back (training.md 2.5).
#include "controllers/training/job.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "api/schema/names.h"
#include "base/format.h"
#include "base/letters.h"
#include "controllers/framework/counts.h"
#include "controllers/training/framework.h"

namespace controllers::training {

using api::Json;

namespace {

// More than any cluster trains with; every pod is told of every other.
constexpr std::int64_t kReplicasMax = 20000;
constexpr std::size_t kTypesMax = 100;  // a TFJob may name any
constexpr std::size_t kNameMax = 63;

std::optional<base::Duration> seconds_in(const Json& number) {
  if (!number.is_number()) return std::nullopt;
  constexpr std::int64_t kMost = std::int64_t{10} * 365 * 24 * 3600;
  return base::seconds(std::clamp<std::int64_t>(number.as_int(), 0, kMost));
}

// The framework's spelling of a type, whatever its case.
std::string canonical(const Framework& framework, std::string_view key) {
  for (const std::string_view type : framework.types)
    if (base::lower(type) == base::lower(key)) return std::string(type);
  return std::string(key);
}

void add_port(const Framework& framework, Json& pod_template) {
  const Json& containers = pod_template["spec"]["containers"];
  if (framework.port == 0 || containers.empty()) return;
  std::size_t at = 0;
  for (std::size_t i = 0; i < containers.size(); ++i)
    if (containers[i]["name"].as_string() == framework.container) at = i;
  for (const Json& port : containers[at]["ports"].items())
    if (port["name"].as_string() == framework.port_name) return;
  Json& container = pod_template.edit_path({"spec", "containers"}).edit(at);
  if (!container["ports"].is_array()) container.set("ports", Json::array());
  container.edit("ports").push_back(Json::object({{"name", framework.port_name}, {"containerPort", framework.port}}));
}

Replica read_replica(const TrainingJob& job, std::string type, const Json& given) {
  const Framework& framework = *job.framework;
  Replica replica{.type = std::move(type)};
  replica.lower = base::lower(replica.type);
  const bool is_mpi_worker = framework.port == 0 && replica.type == "Worker";
  replica.count = fit_count(given["replicas"].as_int(is_mpi_worker ? 0 : 1));
  replica.restart_policy = given["restartPolicy"].str();
  replica.names_policy = !replica.restart_policy.empty();
  if (!replica.names_policy) replica.restart_policy = framework.restart_policy;
  const std::string& policy = replica.restart_policy;
  replica.tried_again = policy == "Always" || policy == "OnFailure" || policy == "ExitCode";
  replica.pod_template = given["template"];
  if (replica.pod_template["spec"].is_object()) {
    add_port(framework, replica.pod_template);
    // COMPAT(training-scheduler-name)
    if (const Json& scheduler = job.spec()["schedulerName"];
        !scheduler.as_string().empty() && replica.pod_template["spec"]["schedulerName"].as_string().empty())
      replica.pod_template.edit("spec").set("schedulerName", scheduler);
  }
  return replica;
}

void read_replicas(TrainingJob& job) {
  const Json& map = job.spec()[job.framework->replica_map];
  std::set<std::string> known;
  for (const Json::Member& member : map.members()) {
    const std::string type = canonical(*job.framework, member.name());
    // The right one of two spellings counts, or else the first: pods are named in lower case.
    if (type != member.name() && map.has(type)) continue;
    if (known.insert(base::lower(type)).second) job.replicas.push_back(read_replica(job, type, member.value));
  }
  const auto& types = job.framework->types;
  const auto rank = [&](const Replica& one) { return std::ranges::find(types, one.type) - types.begin(); };
  std::ranges::stable_sort(job.replicas, [&](const Replica& a, const Replica& b) { return rank(a) < rank(b); });
}

}  // namespace

const Json* Replica::key_container(std::string_view name) const {
  for (const Json& container : pod_template["spec"]["containers"].items())
    if (container["name"].as_string() == name) return &container;
  return nullptr;
}

std::optional<std::int64_t> Replica::port(std::string_view container, std::string_view port_name) const {
  const Json* key = key_container(container);
  if (!key) return std::nullopt;
  for (const Json& one : (*key)["ports"].items())
    if (one["name"].as_string() == port_name) return one["containerPort"].as_int();
  return std::nullopt;
}

const Replica* TrainingJob::find(std::string_view type) const {
  const auto found = std::ranges::find_if(replicas, [&](const Replica& one) { return one.type == type; });
  return found == replicas.end() ? nullptr : &*found;
}

std::int64_t TrainingJob::total() const {
  std::int64_t sum = 0;
  for (const Replica& one : replicas) sum += one.count;
  return sum;
}

std::int64_t TrainingJob::port_of(const Replica& replica) const {
  return replica.port(framework->container, framework->port_name).value_or(framework->port);
}

std::string TrainingJob::pod_name(const Replica& replica, std::int64_t index) const {
  if (replica.type == "Launcher") return name + "-launcher";
  std::string text = base::format("{}-{}-{}", name, replica.lower, index);
  std::ranges::replace(text, '/', '-');
  return text;
}

TrainingJob read_job(const Framework& framework, const Json& object) {
  TrainingJob job{.framework = &framework, .object = object};
  job.ns = api::namespace_of(object);
  job.name = api::name_of(object);
  job.uid = api::uid_of(object);
  const Json& policy = job.spec()["runPolicy"];
  job.clean_pod_policy = policy["cleanPodPolicy"].str();
  if (job.clean_pod_policy.empty()) job.clean_pod_policy = job.spec()["cleanPodPolicy"].str();
  if (job.clean_pod_policy.empty()) job.clean_pod_policy = "None";
  job.time_to_live = seconds_in(policy["ttlSecondsAfterFinished"]);
  job.deadline = seconds_in(policy["activeDeadlineSeconds"]);
  if (policy["backoffLimit"].is_number()) job.backoff_limit = policy["backoffLimit"].as_int();
  job.suspended = policy["suspend"].as_bool();
  job.managed_by = policy["managedBy"].str();
  read_replicas(job);
  if (framework.set_defaults) framework.set_defaults(job);
  return job;
}

std::string problem_of(const TrainingJob& job) {
  const Framework& framework = *job.framework;
  const bool is_mpi = framework.kind == "MPIJob";
  if (framework.problem)
    if (std::string text = framework.problem(job); !text.empty()) return text;
  if (job.replicas.empty()) return base::format("spec.{}: Required value: must be required", framework.replica_map);
  if (job.replicas.size() > kTypesMax)
    return base::format("spec.{}: {} types of replicas are more than {}", framework.replica_map, job.replicas.size(),
                        kTypesMax);
  for (const Replica& one : job.replicas)
    if (one.count < 0)
      return base::format("spec.{}[{}].replicas: Invalid value: {}: must be greater than or equal to 0",
                          framework.replica_map, one.type, one.count);
  if (job.total() > kReplicasMax)
    return base::format("spec.{}: {} replicas are more than {}", framework.replica_map, job.total(), kReplicasMax);
  for (const Replica& one : job.replicas) {
    const std::string path = base::format("spec.{}[{}]", framework.replica_map, one.type);
    if (!is_mpi && !one.key_container(framework.container))
      return base::format("{}.template.spec.containers: Required value: must have at least one container with name {}",
                          path, framework.container);
    const std::string longest = job.pod_name(one, std::max<std::int64_t>(0, one.count - 1));
    if (longest.size() > kNameMax)
      return base::format("{}: the name of a pod, {}, is longer than {} characters; use a shorter name for the job",
                          path, longest, kNameMax);
    if (!api::is_dns_label(longest)) return base::format("{}: {} is not a name for a pod", path, longest);
  }
  return {};
}

std::vector<NamedClass> priority_classes_of(const Framework& framework, const Json& object) {
  std::vector<NamedClass> classes;
  const auto add = [&classes](const Json& name, const auto& path) {
    if (!name.as_string().empty()) classes.push_back({path(), name.str()});
  };
  const Json& spec = object["spec"];
  add(spec["runPolicy"]["schedulingPolicy"]["priorityClass"],
      [] { return std::string("spec.runPolicy.schedulingPolicy.priorityClass"); });
  for (const Json::Member& member : spec[framework.replica_map].members())
    add(member.value["template"]["spec"]["priorityClassName"], [&] {
      return base::format("spec.{}[{}].template.spec.priorityClassName", framework.replica_map, member.name());
    });
  return classes;
}

}  // namespace controllers::training
