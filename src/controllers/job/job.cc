// Reading a Job document; see api.md 2.1 for the fields.
#include "controllers/job/job.h"

#include <algorithm>
#include <array>

#include "api/meta/resource.h"
#include "base/format.h"

namespace controllers::job {

using api::Json;

namespace {

constexpr std::array<std::string_view, 11> kPhaseNames = {
    "",           "Pending",   "Aborting",    "Aborted",    "Running", "Restarting",
    "Completing", "Completed", "Terminating", "Terminated", "Failed"};

std::optional<std::int64_t> optional_int(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  return value.as_int();
}

std::vector<std::string> strings(const Json& array) {
  std::vector<std::string> out;
  for (const Json& item : array.items()) out.push_back(item.str());
  return out;
}

std::vector<Policy> read_policies(const Json& array) {
  std::vector<Policy> policies;
  for (const Json& item : array.items()) {
    Policy policy;
    policy.events = strings(item["events"]);
    if (const std::string event = item["event"].str(); !event.empty()) policy.events.push_back(event);
    policy.action = item["action"].str();
    policy.exit_code = optional_int(item["exitCode"]);
    if (const auto timeout = base::parse_go_duration(item["timeout"].as_string())) policy.timeout = *timeout;
    policies.push_back(std::move(policy));
  }
  return policies;
}

Task read_task(const Json& item) {
  Task task;
  task.name = item["name"].str();
  if (task.name.empty()) task.name = "default";
  task.replicas = std::max<std::int64_t>(0, item["replicas"].as_int());
  task.min_available = optional_int(item["minAvailable"]);
  task.max_retry = item["maxRetry"].as_int();
  task.pod_template = item["template"];
  task.topology_policy = item["topologyPolicy"].str();
  task.policies = read_policies(item["policies"]);
  task.depends_on = strings(item["dependsOn"]["name"]);
  task.depends_on_any = item["dependsOn"]["iteration"].as_string() == "any";
  if (const Json& partition = item["partitionPolicy"]; partition.is_object())
    task.partition = Partition{partition["totalPartitions"].as_int(), partition["partitionSize"].as_int(),
                               partition["minPartitions"].as_int(), partition["networkTopology"]};
  return task;
}

}  // namespace

std::string_view name_of(Phase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }

Phase parse_phase(std::string_view word) {
  for (std::size_t index = 1; index < kPhaseNames.size(); ++index)
    if (kPhaseNames[index] == word) return static_cast<Phase>(index);
  return Phase::kNone;
}

bool is_finished(Phase phase) {
  return phase == Phase::kCompleted || phase == Phase::kFailed || phase == Phase::kTerminated;
}

std::int64_t Job::replicas_total() const {
  std::int64_t total = 0;
  for (const Task& task : tasks) total += task.replicas;
  return total;
}

const Task* Job::find_task(std::string_view task) const {
  const auto found = task_places.find(task);
  return found == task_places.end() ? nullptr : &tasks[found->second];
}

std::string_view Job::annotation(std::string_view key) const { return api::annotation_of(object, key); }
std::string_view Job::label(std::string_view key) const { return api::label_of(object, key); }

Job read_job(const Json& object) {
  Job job;
  job.object = object;
  job.ns = std::string(api::namespace_of(object));
  job.name = std::string(api::name_of(object));
  job.uid = std::string(api::uid_of(object));
  job.deleting = api::is_deleting(object);
  if (const auto created = base::parse_rfc3339(object["metadata"]["creationTimestamp"].as_string()))
    job.created = *created;
  if (const std::string_view text = api::annotation_of(object, api::kArrayAnnotation); !text.empty())
    if (auto array = api::parse_array(text); array.ok()) job.array = *std::move(array);
  const Json& spec = object["spec"];
  job.queue = spec["queue"].str();
  job.scheduler_name = spec["schedulerName"].str();
  job.priority_class = spec["priorityClassName"].str();
  job.min_available = spec["minAvailable"].as_int();
  job.max_retry = spec["maxRetry"].as_int();
  job.min_success = optional_int(spec["minSuccess"]);
  for (const Json& task : spec["tasks"].items()) {
    job.tasks.push_back(read_task(task));
    job.task_places.emplace(job.tasks.back().name, job.tasks.size() - 1);
  }
  job.policies = read_policies(spec["policies"]);
  for (const Json& volume : spec["volumes"].items())
    job.volumes.push_back({volume["mountPath"].str(), volume["volumeClaimName"].str(), volume["volumeClaim"]});
  for (const Json::Member& plugin : spec["plugins"].members())
    job.plugins.emplace_back(std::string(plugin.name()), strings(plugin.value));
  std::sort(job.plugins.begin(), job.plugins.end());
  job.network_topology = spec["networkTopology"];
  const Json& status = object["status"];
  job.phase = parse_phase(status["state"]["phase"].as_string());
  job.version = status["version"].as_int();
  job.retry_count = status["retryCount"].as_int();
  return job;
}

std::string pod_name(const Job& job, const Task& task, std::int64_t index) {
  return base::format("{}-{}-{}", job.name, task.name, index);
}

std::string partition_of(const Task& task, std::int64_t index) {
  return std::to_string(task.partition->size > 0 ? index / task.partition->size : 0);
}

std::string host_name(const Job& job, const Task& task, std::int64_t index) {
  const std::string own = task.pod_template["spec"]["hostname"].str();
  return own.empty() ? pod_name(job, task, index) : own;
}

std::string domain_name(const Job& job, const Task& task) {
  const std::string own = task.pod_template["spec"]["subdomain"].str();
  return own.empty() ? job.name : own;
}

}  // namespace controllers::job
