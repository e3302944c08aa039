// Two objects follow from a Job, one after the other: the PodGroup names the Workload's uid.
//
// COMPAT(jobs-with-groups): a Job without spec.scheduling has none, and a group that is gone is made again.
#include "controllers/workloads/job_groups.h"

#include <algorithm>
#include <utility>

#include "api/native_group_resources.h"
#include "api/schema/names.h"
#include "base/format.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {

using api::Json;
using api::resources::kNativePodGroups;
using api::resources::kNativeWorkloads;

namespace {

constexpr std::size_t kNameMax = 253;
constexpr std::string_view kQueueName = "scheduling.volcano.sh/queue-name";

std::string with_hash(std::string_view prefix, std::string_view hashed) {
  constexpr std::size_t kHashLength = 10;
  std::string start(prefix.substr(0, kNameMax - kHashLength - 1));
  while (start.ends_with('.') || start.ends_with('-')) start.pop_back();
  return base::format("{}-{}", start, hash_text(hash_of(hashed), kHashLength));
}

// A label of DNS, which the name of a Job need not be.
std::string template_name_of(const Json& job) {
  std::string name = base::format("{}-pgt-0", api::name_of(job));
  return api::check_dns_label(name).empty() ? name : "job-pgt-0";
}

// The policy with its minimum: by default as many as run at once.
Json policy_of(const Json& job) {
  const Json& policy = job["spec"]["scheduling"]["schedulingPolicy"];
  if (!policy["gang"].is_object()) return Json::object({{"basic", Json::object()}});
  const Json& asked = policy["gang"]["minCount"];
  const std::int64_t minimum = asked.is_null() ? job["spec"]["parallelism"].as_int(1) : asked.as_int();
  return Json::object({{"gang", Json::object({{"minCount", std::max<std::int64_t>(minimum, 1)}})}});
}

Json template_for(const Json& job) {
  Json made = Json::object({{"name", template_name_of(job)}, {"schedulingPolicy", policy_of(job)}});
  const Json& scheduling = job["spec"]["scheduling"];
  for (const char* field : {"schedulingConstraints", "disruptionMode"})
    if (!scheduling[field].is_null()) made.set(field, scheduling[field]);
  if (const Json& priority = job["spec"]["template"]["spec"]["priorityClassName"]; !priority.as_string().empty())
    made.set("priorityClassName", priority);
  return made;
}

Json metadata_for(const Json& job, std::string name) {
  Json metadata = Json::object({{"name", std::move(name)},
                                {"namespace", api::namespace_of(job)},
                                {"ownerReferences", Json::array({owner_reference(job, "batch/v1", "Job")})}});
  if (const std::string_view queue = api::annotation_of(job, kQueueName); !queue.empty())
    metadata.edit("annotations").set(kQueueName, queue);
  return metadata;
}

const Json& minimum_in(const Json& policy) { return policy["gang"]["minCount"]; }

// The event of a write about the Job, as Kubernetes words it.
void describe(Action& action, const Json& job, std::string_view kind, std::string_view name) {
  action.stops_nothing = true;
  action.success_reason = base::format("{}Created", kind);
  action.success_text = base::format("Created {} {} for Job {}", kind, name, api::name_of(job));
  action.failure_reason = base::format("Failed{}Create", kind);
  action.failure_text = base::format("Failed to create {} for Job {}: {{}}", kind, api::name_of(job));
}

}  // namespace

bool has_own_group(const Json& job) {
  const Json& spec = job["spec"];
  return spec["scheduling"].is_object() && spec["template"]["spec"]["schedulingGroup"].is_null() &&
         api::controller_of(job).is_null();
}

std::string workload_name_of(const Json& job) { return with_hash(api::name_of(job), api::uid_of(job)); }

std::string group_name_of(const Json& job) {
  const std::string whole = base::format("{}-{}", workload_name_of(job), template_name_of(job));
  return with_hash(whole, whole);
}

Json workload_for(const Json& job) {
  return Json::object(
      {{"apiVersion", kNativeWorkloads.api_version()},
       {"kind", "Workload"},
       {"metadata", metadata_for(job, workload_name_of(job))},
       {"spec", Json::object({{"controllerRef",
                               Json::object({{"apiGroup", "batch"}, {"kind", "Job"}, {"name", api::name_of(job)}})},
                              {"podGroupTemplates", Json::array({template_for(job)})}})}});
}

Json group_for(const Json& job, const Json& workload) {
  Json spec = template_for(job);
  spec.erase("name");
  spec.set("workloadRef",
           Json::object({{"workloadName", api::name_of(workload)}, {"templateName", template_name_of(job)}}));
  Json metadata = metadata_for(job, group_name_of(job));
  metadata.edit("ownerReferences")
      .push_back(Json::object({{"apiVersion", kNativeWorkloads.api_version()},
                               {"kind", "Workload"},
                               {"name", api::name_of(workload)},
                               {"uid", api::uid_of(workload)}}));
  return Json::object({{"apiVersion", kNativePodGroups.api_version()},
                       {"kind", "PodGroup"},
                       {"metadata", std::move(metadata)},
                       {"spec", std::move(spec)}});
}

bool plan_group(const Json& job, const Json* workload, const Json* group, Plan& plan) {
  if (workload == nullptr) {
    describe(plan.create(kNativeWorkloads, workload_for(job)), job, "Workload", workload_name_of(job));
    return false;
  }
  const Json policy = policy_of(job);
  const Json& first = (*workload)["spec"]["podGroupTemplates"][std::size_t{0}];
  if (minimum_in(first["schedulingPolicy"]) != minimum_in(policy)) {
    Json changed = first;
    changed.set("schedulingPolicy", policy);
    plan.patch(kNativeWorkloads, *workload, client::PatchType::kMerge,
               Json::object({{"spec", Json::object({{"podGroupTemplates", Json::array({std::move(changed)})}})}}));
  }
  if (group == nullptr) {
    describe(plan.create(kNativePodGroups, group_for(job, *workload)), job, "PodGroup", group_name_of(job));
    return false;
  }
  if (minimum_in((*group)["spec"]["schedulingPolicy"]) != minimum_in(policy))
    plan.patch(kNativePodGroups, *group, client::PatchType::kMerge,
               Json::object({{"spec", Json::object({{"schedulingPolicy", policy}})}}));
  return true;
}

}  // namespace controllers::workloads
