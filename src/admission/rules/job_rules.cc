// Whether a new Job makes sense (webhooks.md 5.1). All problems become one text; each fragment brings its own blanks.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "admission/rules/names.h"
#include "admission/rules/queue_tree.h"
#include "admission/rules/rules.h"
#include "admission/rules/vocabulary.h"
#include "api/batch/v1alpha1/job_plugins.h"
#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/saturate.h"
#include "base/time.h"
#include "base/trim.h"

namespace admission {

namespace {

// The plugin's --master argument.
std::string mpi_master(const Json& args) {
  std::string master = "master";
  const auto items = args.items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::string_view arg = items[i].as_string();
    if (arg.size() < 2 || arg[0] != '-' || arg == "--") break;
    arg.remove_prefix(arg[1] == '-' ? 2 : 1);
    const std::size_t equals = arg.find('=');
    const std::string_view name = arg.substr(0, equals);
    if (name != "master" && name != "worker" && name != "port") break;
    std::string_view value;
    if (equals != std::string_view::npos)
      value = arg.substr(equals + 1);
    else if (i + 1 < items.size())
      value = items[++i].as_string();
    else
      break;
    if (name == "master") master = std::string(value);
  }
  return master;
}

bool whole_cpu(const Json& container) {
  const Json& resources = container["resources"];
  const Json& side = resources["requests"].empty() ? resources["limits"] : resources["requests"];
  const auto cpu = api::Quantity::from_json(side["cpu"]);
  return cpu && cpu->sign() > 0 && cpu->milli_value() % 1000 == 0;
}

std::string check_whole_cpus(const Json& task, std::size_t index) {
  const std::string_view policy = task["topologyPolicy"].as_string();
  if (policy.empty() || policy == "none") return {};
  std::size_t container_index = 0;
  for (const char* list : {"containers", "initContainers"})
    for (const Json& container : task["template"]["spec"][list].items()) {
      if (!whole_cpu(container))
        return base::format("the cpu request isn't an integer in spec.task[{}] container[{}].", index, container_index);
      ++container_index;
    }
  return {};
}

// More than anybody reads, and than an answer holds.
constexpr std::size_t kMessageBytesMax = 64 << 10;

// False: a repeated name, or a message that is long enough; the tasks behind it are not looked at.
bool check_task(const Json& job, const Json& task, std::size_t index, std::set<std::string>& names,
                const Options& options, std::string& message) {
  const std::string job_name(api::name_of(job));
  const std::string name = task["name"].str();
  if (task["minAvailable"].is_number() && task["minAvailable"].as_int() > task["replicas"].as_int())
    message += base::format(" 'minAvailable' is greater than 'replicas' in task: {}, job: {};", name, job_name);
  if (!names.insert(name).second) {
    message += base::format(" duplicated task name {};", name);
    return false;
  }
  if (const std::string problem = check_policies(task["policies"], "spec.tasks.policies"); !problem.empty())
    message += problem + policy_vocabulary();
  const std::string pod = base::format("{}-{}-{}", job_name, name, index);
  if (const auto problems = check_qualified_name(pod); !problems.empty())
    message += base::format("create pod with name {} validate failed {};", pod, go_list(problems));
  if (const auto problems = check_pod_template(task["template"], "template", options.pod_level_resources);
      !problems.empty()) {
    message += base::format("spec.task[{}].", index);
    for (const std::string& problem : problems) {
      message += problem + ". ";
      if (message.size() > kMessageBytesMax) return false;
    }
  } else {
    message += check_whole_cpus(task, index);
  }
  message += check_partition(task, job_name);
  return message.size() <= kMessageBytesMax;
}

std::string check_volumes(const Json& volumes) {
  std::set<std::string> paths;
  for (const Json& volume : volumes.items()) {
    const std::string path = volume["mountPath"].str();
    const std::string claim_name = volume["volumeClaimName"].str();
    const bool has_claim = volume["volumeClaim"].is_object();
    if (path.empty()) return " mountPath is required;";
    if (!paths.insert(path).second) return base::format(" duplicated mountPath: {};", path);
    if (!has_claim && claim_name.empty()) return " either VolumeClaim or VolumeClaimName must be specified;";
    if (has_claim && !claim_name.empty()) return std::string(kTwoClaims);
    if (!claim_name.empty())
      if (const auto problems = check_dns_subdomain(claim_name); !problems.empty())
        return base::format("invalid VolumeClaimName {} : {}", claim_name, go_list(problems));
  }
  return {};
}

std::string check_queue_of(const Json& spec, const ObjectReader& objects, bool must_be_open) {
  const std::string name = spec["queue"].str();
  const auto queue = objects.find(api::resources::kQueues, "", name);
  if (!queue) return base::format(" unable to find job queue: {};", queue_not_found(name));
  std::string message;
  // COMPAT(empty-queue-state): a queue made a moment ago has no state yet; it counts as open.
  const std::string state = (*queue)["status"]["state"].str();
  if (must_be_open && !state.empty() && state != "Open")
    message += base::format(" can only submit job to queue with state `Open`, queue `{}` status is `{}`;", name, state);
  if (name == "root") return message + " can not submit job to root queue;";
  if (const std::size_t children = objects.list_by(parent_field(), name).size(); children > 0)
    message += base::format(" can only submit job to leaf queue, queue `{}` has {} child queues;", name, children);
  return message;
}

// Kahn's algorithm: what is left over waits for itself or for a task that does not exist.
bool dependencies_are_sound(const Json& tasks) {
  std::map<std::string, std::int64_t> waits;
  std::map<std::string, std::set<std::string>> followers;
  bool any = false;
  for (const Json& task : tasks.items()) {
    const std::string name = task["name"].str();
    waits.try_emplace(name, 0);
    for (const Json& dependency : task["dependsOn"]["name"].items()) {
      any = true;
      ++waits[name];
      followers[dependency.str()].insert(name);
    }
  }
  if (!any) return true;
  std::vector<std::string> ready;
  for (const auto& [name, count] : waits)
    if (count == 0) ready.push_back(name);
  std::size_t done = 0;
  while (!ready.empty()) {
    const std::string name = ready.back();
    ready.pop_back();
    ++done;
    for (const std::string& follower : followers[name])
      if (--waits[follower] == 0) ready.push_back(follower);
  }
  return done == waits.size();
}

// All but what is asked of the queue; `about_queue` stands where that belongs in the message.
std::string check_new_job(const Json& job, const Options& options, const std::string& about_queue) {
  const Json& spec = job["spec"];
  const Json& tasks = spec["tasks"];
  if (tasks.empty()) return "No task specified in job spec";
  if (const Json* mpi = spec["plugins"].find("mpi")) {
    const std::string master = mpi_master(*mpi);
    const auto all = tasks.items();
    if (std::none_of(all.begin(), all.end(), [&](const Json& t) { return t["name"].as_string() == master; }))
      return "The specified mpi master task was not found";
  }
  std::string message;
  if (has_both_tiers(spec["networkTopology"])) message += kBothTiers;
  std::set<std::string> names;
  std::int64_t replicas = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    replicas = base::saturating_add(replicas, tasks[i]["replicas"].as_int());
    if (!check_task(job, tasks[i], i, names, options, message)) break;
  }
  if (message.find("create pod with name") == std::string::npos) message += check_made_names(job);
  const std::string name(api::name_of(job));
  if (const auto problems = check_qualified_name(name); !problems.empty())
    message += base::format("create job with name {} validate failed {}", name, go_list(problems));
  if (spec["minAvailable"].as_int() > replicas)
    message += " job 'minAvailable' should not be greater than total replicas in tasks;";
  if (const std::string problem = check_policies(spec["policies"], "spec.policies"); !problem.empty())
    message += problem + policy_vocabulary();
  for (const Json::Member& plugin : spec["plugins"].members())
    if (std::find(api::kJobPlugins.begin(), api::kJobPlugins.end(), plugin.name()) == api::kJobPlugins.end())
      message += base::format(" unable to find job plugin: {};", plugin.name());
  if (const Json& span = spec["runningEstimate"]; !span.is_null() && !base::parse_go_duration(span.as_string()))
    message += base::format(" spec.runningEstimate: Invalid value: {}: must be a duration such as \"1h30m\";",
                            quoted(span.as_string()));
  message += check_volumes(spec["volumes"]);
  message += about_queue;
  if (!dependencies_are_sound(tasks))
    message += " job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG);";
  return std::string(base::trim(message));
}

// Numbers come as they were written, so their product may not fit.
bool is_product(std::int64_t value, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && product == value;
}

}  // namespace

AdmissionAnswer check_job(const AdmissionRequest& request, const ObjectReader& objects, const Options& options) {
  std::string message;
  if (request.operation == api::Operation::kCreate)
    message = check_new_job(request.object, options, check_queue_of(request.object["spec"], objects, true));
  else if (request.operation == api::Operation::kUpdate)
    message = check_job_update(request.old_object, request.object);
  else
    message = "expect operation to be 'CREATE' or 'UPDATE'";
  return message.empty() ? AdmissionAnswer{} : refuse(message);
}

std::string check_job_itself(const Json& job, const Options& options) { return check_new_job(job, options, {}); }

// A queue that is closed may be open again when the Job comes, and the scheduler makes the default one.
std::string check_queue_of_template(const Json& spec, const ObjectReader& objects) {
  if (spec["queue"].as_string() == "default" && !objects.find(api::resources::kQueues, "", "default")) return {};
  return std::string(base::trim(check_queue_of(spec, objects, false)));
}

std::string check_partition(const Json& task, std::string_view job_name) {
  const Json& policy = task["partitionPolicy"];
  if (!policy.is_object()) return {};
  const std::string where = base::format("in task: {}, job: {}", task["name"].as_string(), job_name);
  const std::int64_t total = policy["totalPartitions"].as_int();
  const std::int64_t size = policy["partitionSize"].as_int();
  const std::int64_t minimum = policy["minPartitions"].as_int();
  std::string message;
  if (total <= 0)
    message = "'TotalPartitions' must be greater than 0 " + where;
  else if (size <= 0)
    message = "'PartitionSize' must be greater than 0 " + where;
  else if (!is_product(task["replicas"].as_int(), total, size))
    message = "'Replicas' are not equal to TotalPartitions*PartitionSize " + where;
  else if (task["minAvailable"].is_number() && minimum > 0 && !is_product(task["minAvailable"].as_int(), minimum, size))
    message = "'MinAvailable' is not equal to MinPartitions*PartitionSize " + where;
  if (has_both_tiers(policy["networkTopology"])) message += kBothTiers;
  return message;
}

}  // namespace admission
