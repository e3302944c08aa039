// PodGroup content, controllers.md 3.9.
#include "controllers/job/podgroup.h"

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "controllers/job/min_resources.h"

namespace controllers::job {

using api::Json;

namespace {

Json min_task_member(const Job& job) {
  Json members = Json::object();
  for (const Task& task : job.tasks) {
    std::int64_t minimum = task.replicas;
    if (task.min_available)
      minimum = *task.min_available;
    else if (task.partition && task.partition->min * task.partition->size != 0)
      minimum = task.partition->min * task.partition->size;
    members.set(task.name, minimum);
  }
  return members;
}

Json topology(const Json& given) {
  Json out = Json::object();
  if (const Json* mode = given.find("mode")) out.set("mode", *mode);
  if (!given["highestTierAllowed"].is_null())
    out.set("highestTierAllowed", given["highestTierAllowed"]);
  else if (!given["highestTierName"].as_string().empty())
    out.set("highestTierName", given["highestTierName"]);
  return out;
}

Json sub_groups(const Job& job) {
  Json groups = Json::array();
  for (const Task& task : job.tasks) {
    if (!task.partition) continue;
    Json group = Json::object(
        {{"name", task.name},
         {"subGroupSize", task.partition->size},
         {"minSubGroups", task.partition->min},
         {"labelSelector", Json::object({{"matchLabels", Json::object({{"volcano.sh/task-spec", task.name}})}})},
         {"matchLabelKeys", Json::array({"volcano.sh/partition-id"})}});
    if (task.partition->network_topology.is_object())
      group.set("networkTopology", topology(task.partition->network_topology));
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

Json group_for(const Job& job, const PriorityOf& priority_of) {
  Json metadata = Json::object({{"name", job.group_name()}, {"namespace", job.ns}});
  for (const char* kept : {"annotations", "labels"})
    if (const Json& values = job.object["metadata"][kept]; !values.empty()) metadata.set(kept, values);
  metadata.set("ownerReferences", Json::array({api::controller_reference(job.object)}));
  Json spec = Json::object({{"minMember", job.min_available},
                            {"minTaskMember", min_task_member(job)},
                            {"queue", job.queue},
                            {"minResources", api::to_json(min_resources(job, priority_of))}});
  if (!job.priority_class.empty()) spec.set("priorityClassName", job.priority_class);
  if (job.network_topology.is_object()) spec.set("networkTopology", topology(job.network_topology));
  if (Json groups = sub_groups(job); !groups.empty()) spec.set("subGroupPolicy", std::move(groups));
  return Json::object({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                       {"kind", "PodGroup"},
                       {"metadata", std::move(metadata)},
                       {"spec", std::move(spec)},
                       {"status", Json::object()}});
}

std::optional<Json> group_patch(const Job& job, const Json& group, const PriorityOf& priority_of) {
  const Json& spec = group["spec"];
  Json patch = Json::array();
  const auto put = [&patch](std::string path, Json value) {
    patch.push_back(Json::object({{"op", "add"}, {"path", std::move(path)}, {"value", std::move(value)}}));
  };
  if (spec["priorityClassName"].as_string() != job.priority_class) put("/spec/priorityClassName", job.priority_class);
  if (spec["minMember"].as_int() != job.min_available) put("/spec/minMember", job.min_available);
  const auto wanted = min_resources(job, priority_of);
  if (api::resource_list_from(spec["minResources"]) != wanted) put("/spec/minResources", api::to_json(wanted));
  const Json members = min_task_member(job);
  for (const Json::Member& member : members.members())
    if (spec["minTaskMember"][member.name()] != member.value) {
      put("/spec/minTaskMember", members);
      break;
    }
  Json groups = sub_groups(job);
  const Json& have = spec["subGroupPolicy"];
  if (!(groups.empty() && have.empty()) && groups != have) put("/spec/subGroupPolicy", std::move(groups));
  if (patch.empty()) return std::nullopt;
  return patch;
}

}  // namespace controllers::job
