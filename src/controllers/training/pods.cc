// Names, labels and specs of the objects that a training job owns.
#include "controllers/training/pods.h"

#include <algorithm>
#include <set>

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "controllers/training/mpi_objects.h"

namespace controllers::training {

using api::Json;
using api::ResourceList;

namespace {

void set_labels(const TrainingJob& job, const Replica& replica, std::int64_t index, Json& labels) {
  labels.set(kOperatorName, operator_of(*job.framework));
  labels.set(kJobName, job.name);
  labels.set(kReplicaType, replica.lower);
  const bool is_launcher = replica.type == "Launcher";
  if (!is_launcher || (job.framework->launcher_is_a_job && launcher_works(job)))
    labels.set(kReplicaIndex, std::to_string(index + first_index(job, replica)));
  else
    labels.erase(kReplicaIndex);  // that of a template says nothing
  if (job.framework->launcher_is_a_job) labels.set(kJobRole, replica.lower);
}

// The marks that the gang scheduler reads on a pod.
void set_group(const TrainingJob& job, const Replica& replica, const Options& options, Json& metadata, Json& spec) {
  if (spec["schedulerName"].as_string().empty() || job.framework->launcher_is_a_job)
    spec.set("schedulerName", gang_scheduler(options));
  if (!options.plugin_scheduler.empty()) return metadata.edit("labels").set("scheduling.x-k8s.io/pod-group", job.name);
  metadata.edit("annotations").set("scheduling.k8s.io/group-name", job.name);
  metadata.edit("annotations").set("volcano.sh/task-spec", replica.lower);
}

// COMPAT(training-gang-order): the masters first, then parameter servers, then workers.
int rank_of(const Replica& replica) {
  if (replica.type == "PS") return 1;
  return replica.type == "Worker" || replica.type == "Evaluator" ? 2 : 0;
}

std::int64_t pods_wanted(const TrainingJob& job) {
  return job.spec()["runPolicy"]["schedulingPolicy"]["minAvailable"].as_int(job.total());
}

// COMPAT(mpi-waiting-launcher): a gang does not wait for a launcher that waits for the gang. The group's request has
// room for it all the same.
std::int64_t min_member(const TrainingJob& job) {
  const Replica* launcher = job.find("Launcher");
  if (launcher == nullptr || !job.launcher_waits()) return pods_wanted(job);
  return std::min(pods_wanted(job), job.total() - launcher->count);
}

// A limit stands in for a request: of each resource in v2beta1 (kubeflow.md 7), else only for all (training.md 8.3).
ResourceList requests_of(const Json& pod_spec, bool limit_of_each) {
  ResourceList sum;
  for (const Json& container : pod_spec["containers"].items()) {
    const Json& resources = container["resources"];
    ResourceList asked = api::resource_list_from(resources["requests"]);
    if (limit_of_each || resources["requests"].is_null()) asked.merge(api::resource_list_from(resources["limits"]));
    for (const auto& [name, quantity] : asked) {
      const auto [slot, fresh] = sum.try_emplace(name, quantity);
      if (!fresh) slot->second += quantity;
    }
  }
  return sum;
}

ResourceList min_resources(const TrainingJob& job, const PriorityOf& priority_of) {
  const Json& given = job.spec()["runPolicy"]["schedulingPolicy"]["minResources"];
  if (given.is_object()) return api::resource_list_from(given);
  struct Entry {
    const Replica* replica;
    std::int64_t priority;
  };
  std::vector<Entry> order;
  for (const Replica& one : job.replicas) {
    const std::string name = one.pod_template["spec"]["priorityClassName"].str();
    order.push_back({&one, name.empty() ? 0 : priority_of(name)});
  }
  std::ranges::stable_sort(order, [](const Entry& a, const Entry& b) {
    return a.priority != b.priority ? a.priority > b.priority : rank_of(*a.replica) < rank_of(*b.replica);
  });
  ResourceList sum;
  std::int64_t left = pods_wanted(job);
  for (const Entry& one : order) {
    const std::int64_t taken = std::min(left, one.replica->count);
    if (taken <= 0) continue;
    left -= taken;
    for (const auto& [name, quantity] :
         requests_of(one.replica->pod_template["spec"], job.framework->launcher_is_a_job)) {
      const auto [slot, fresh] = sum.try_emplace(name, quantity.times(taken));
      if (!fresh) slot->second += quantity.times(taken);
    }
  }
  return sum;
}

}  // namespace

bool has_launcher_job(const TrainingJob& job, const Options& options) {
  return options.launcher_jobs && job.framework->launcher_is_a_job;
}

bool has_launcher_pods(const TrainingJob& job, const Options& options) {
  return job.framework->launcher_is_a_job && !options.launcher_jobs;
}

bool keeps_group(const TrainingJob& job) { return job.framework->launcher_is_a_job && job.clean_pod_policy == "None"; }

Json owned_metadata(const TrainingJob& job, std::string_view name) {
  return Json::object({{"name", name},
                       {"namespace", job.ns},
                       {"ownerReferences", Json::array({api::controller_reference(job.object)})}});
}

Json pod_for(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options& options) {
  Json metadata = owned_metadata(job, job.pod_name(replica, index));
  const Json& given = replica.pod_template["metadata"];
  for (const char* kept : {"labels", "annotations", "finalizers"})
    if (!given[kept].empty()) metadata.set(kept, given[kept]);
  set_labels(job, replica, index, metadata.edit("labels"));
  if (job.framework->is_master && job.framework->is_master(job, replica, index))
    metadata.edit("labels").set(kJobRole, "master");
  Json spec = replica.pod_template["spec"];
  job.framework->wire(job, replica, index, options, spec);
  spec.set("restartPolicy", replica.restart_policy == "ExitCode" ? "Never" : replica.restart_policy);
  if (options.gang) set_group(job, replica, options, metadata, spec);
  return Json::object(
      {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(metadata)}, {"spec", std::move(spec)}});
}

Json service_for(const TrainingJob& job, const Replica& replica, std::int64_t index) {
  Json labels = Json::object();
  set_labels(job, replica, index, labels);
  Json ports = Json::array();
  std::set<std::string> names;
  if (const Json* container = replica.key_container(job.framework->container))
    for (const Json& port : (*container)["ports"].items()) {
      std::string name = port["name"].str();
      if (!names.insert(name).second) continue;
      Json row = Json::object({{"port", port["containerPort"]}});
      if (!name.empty()) row.set("name", name);
      ports.push_back(std::move(row));
    }
  Json metadata = owned_metadata(job, job.pod_name(replica, index));
  metadata.set("labels", labels);
  return Json::object(
      {{"apiVersion", "v1"},
       {"kind", "Service"},
       {"metadata", std::move(metadata)},
       {"spec", Json::object({{"clusterIP", "None"}, {"ports", std::move(ports)}, {"selector", std::move(labels)}})}});
}

std::string selector_of(const TrainingJob& job, const Replica& replica) {
  return base::format("{}={},{}={},{}={}", kJobName, job.name, kOperatorName, operator_of(*job.framework), kReplicaType,
                      replica.lower);
}

const Json* trouble_of(const Json& pod_status) {
  const Json* newest = nullptr;
  for (const Json& one : pod_status["conditions"].items())
    if (!newest || one["lastTransitionTime"].as_string() >= (*newest)["lastTransitionTime"].as_string()) newest = &one;
  return newest && (*newest)["status"].as_string() != "True" ? newest : nullptr;
}

std::string_view operator_of(const Framework& framework) {
  return framework.operator_name.empty() ? framework.controller : framework.operator_name;
}

std::int64_t first_index(const TrainingJob& job, const Replica& replica) {
  return job.framework->launcher_is_a_job && replica.type == "Worker" && launcher_works(job) ? 1 : 0;
}

const api::ResourceId& group_resource(const Options& options) {
  return options.plugin_scheduler.empty() ? api::resources::kPodGroups : kPluginGroups;
}

std::string_view gang_scheduler(const Options& options) {
  return options.plugin_scheduler.empty() ? std::string_view("volcano") : options.plugin_scheduler;
}

namespace {

// Absent where nothing names one, so that the CRD's default applies.
std::string queue_of(const TrainingJob& job) {
  std::string queue = job.spec()["runPolicy"]["schedulingPolicy"]["queue"].str();
  if (!job.framework->launcher_is_a_job) return queue.empty() ? "default" : queue;
  return queue.empty() ? std::string(api::annotation_of(job.object, "scheduling.volcano.sh/queue-name")) : queue;
}

std::string priority_class_of(const TrainingJob& job) {
  std::string name = job.spec()["runPolicy"]["schedulingPolicy"]["priorityClass"].str();
  if (!job.framework->launcher_is_a_job) return name;
  for (const Replica& one : job.replicas)
    if (name.empty()) name = one.pod_template["spec"]["priorityClassName"].str();
  return name;
}

}  // namespace

Json group_for(const TrainingJob& job, const Options& options, const PriorityOf& priority_of) {
  const Json& policy = job.spec()["runPolicy"]["schedulingPolicy"];
  Json metadata = owned_metadata(job, job.name);
  if (const Json& annotations = job.object["metadata"]["annotations"]; !annotations.empty())
    metadata.set("annotations", annotations);
  Json spec = Json::object({{"minMember", min_member(job)}});
  if (!options.plugin_scheduler.empty()) {
    if (const Json& timeout = policy["scheduleTimeoutSeconds"]; timeout.is_number())
      spec.set("scheduleTimeoutSeconds", timeout);
  } else {
    if (const std::string queue = queue_of(job); !queue.empty()) spec.set("queue", queue);
    if (const std::string name = priority_class_of(job); !name.empty()) spec.set("priorityClassName", name);
  }
  if (const ResourceList needed = min_resources(job, priority_of); !needed.empty())
    spec.set("minResources", api::to_json(needed));
  return Json::object({{"apiVersion", group_resource(options).api_version()},
                       {"kind", "PodGroup"},
                       {"metadata", std::move(metadata)},
                       {"spec", std::move(spec)}});
}

std::optional<Json> group_patch(const TrainingJob& job, const Options& options, const Json& group,
                                const PriorityOf& priority_of) {
  const Json& have = group["spec"];
  const Json wanted = group_for(job, options, priority_of)["spec"];
  Json patch = Json::array();
  const auto put = [&patch](std::string_view path, const Json& value) {
    patch.push_back(Json::object({{"op", "add"}, {"path", path}, {"value", value}}));
  };
  if (have["minMember"].as_int() != wanted["minMember"].as_int()) put("/spec/minMember", wanted["minMember"]);
  // "default" stands for what the namespace says, too.
  const bool moves = job.framework->launcher_is_a_job && wanted["queue"].as_string() != "default" &&
                     have["queue"].as_string() != wanted["queue"].as_string();
  if (wanted.has("queue") && (have["queue"].as_string().empty() || moves)) put("/spec/queue", wanted["queue"]);
  if (wanted.has("scheduleTimeoutSeconds") && have["scheduleTimeoutSeconds"] != wanted["scheduleTimeoutSeconds"])
    put("/spec/scheduleTimeoutSeconds", wanted["scheduleTimeoutSeconds"]);
  if (have["priorityClassName"].as_string() != wanted["priorityClassName"].as_string())
    put("/spec/priorityClassName", wanted["priorityClassName"].str());
  if (api::resource_list_from(have["minResources"]) != api::resource_list_from(wanted["minResources"]))
    put("/spec/minResources", wanted["minResources"].is_null() ? Json::object() : wanted["minResources"]);
  if (patch.empty()) return std::nullopt;
  return patch;
}

bool names_other_scheduler(const TrainingJob& job, const Options& options) {
  if (job.framework->launcher_is_a_job) return false;  // it is overwritten there
  return std::ranges::any_of(job.replicas, [&options](const Replica& one) {
    const std::string_view name = one.pod_template["spec"]["schedulerName"].as_string();
    return !name.empty() && name != gang_scheduler(options);
  });
}

}  // namespace controllers::training
