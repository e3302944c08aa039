// Which requests say what a plan decided?
#include "scheduler/effects/outbox_requests.h"

#include "api/meta/resource.h"
#include "base/format.h"
#include "client/watch/identity_parts.h"
#include "scheduler/cache/intake.h"
#include "scheduler/cache/intake_fields.h"
#include "scheduler/ledger/eviction_round.h"

namespace scheduler {
namespace {

using api::Json;

// Options of a deletion that concerns the object of this uid alone.
Json only_of(std::string_view uid) {
  return Json::object(
      {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", Json::object({{"uid", uid}})}});
}

Json condition(std::string_view type, std::string_view status, std::string_view reason, std::string_view message,
               base::Time now) {
  return Json::object({{"lastProbeTime", nullptr},
                       {"lastTransitionTime", base::format_rfc3339(now)},
                       {"message", message},
                       {"reason", reason},
                       {"status", status},
                       {"type", type}});
}

client::Request pod_status_patch(std::string_view ns, std::string_view pod, std::string_view uid, Json status) {
  // The uid keeps a namesake that came later from being written to.
  Json body = Json::object({{"metadata", Json::object({{"uid", uid}})}, {"status", std::move(status)}});
  return {.verb = client::Verb::kPatch,
          .resource = api::resources::kPods,
          .ns = std::string(ns),
          .name = std::string(pod),
          .subresource = "status",
          .body = std::move(body),
          .patch_type = client::PatchType::kStrategic,
          .only = &client::identity_parts()};
}

}  // namespace

Json object_head(std::string_view api_version, std::string_view kind, std::string_view ns, std::string_view name,
                 std::string_view uid) {
  Json metadata = Json::object({{"name", name}, {"namespace", ns}});
  if (!uid.empty()) metadata.set("uid", uid);
  return Json::object({{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}});
}

client::Request node_lock_request(const PlannedBind& plan, base::Time now) {
  client::Request out{.verb = client::Verb::kPatch, .resource = api::resources::kNodes, .name = plan.node};
  out.only = &client::identity_parts();
  out.body.edit_path({"metadata", "annotations", plan.node_lock}) = base::format_rfc3339(now);
  return out;
}

client::Request binding_request(const PlannedBind& plan) {
  Json metadata = Json::object({{"name", plan.pod}, {"namespace", plan.ns}, {"uid", plan.uid}});
  for (const auto& [key, value] : plan.annotations) metadata.edit("annotations").set(key, value);
  Json body = Json::object({{"apiVersion", "v1"},
                            {"kind", "Binding"},
                            {"metadata", std::move(metadata)},
                            {"target", Json::object({{"apiVersion", "v1"}, {"kind", "Node"}, {"name", plan.node}})}});
  return {.verb = client::Verb::kCreate,
          .resource = api::resources::kPods,
          .ns = plan.ns,
          .name = plan.pod,
          .subresource = "binding",
          .body = std::move(body)};
}

client::Request pod_condition_request(const PlannedPodCondition& plan, base::Time now) {
  Json status =
      Json::object({{"conditions", Json::array({condition("PodScheduled", "False", plan.reason, plan.message, now)})}});
  if (!plan.nominated_node.empty()) status.set("nominatedNodeName", plan.nominated_node);
  return pod_status_patch(plan.ns, plan.pod, plan.uid, std::move(status));
}

client::Request eviction_condition_request(const PlannedEviction& plan, std::string_view scheduler_name,
                                           base::Time now) {
  const std::string why = "Pod is evicted, because of " + plan.action;
  Json conditions = Json::array(
      {condition("Ready", "False", "Evict", why, now),
       condition("DisruptionTarget", "True", "PreemptionByScheduler",
                 base::format("{}: preempting to accommodate a higher priority pod", scheduler_name), now)});
  return pod_status_patch(plan.ns, plan.pod, plan.uid, Json::object({{"conditions", std::move(conditions)}}));
}

client::Request deletion_request(const PlannedEviction& plan) {
  return {.verb = client::Verb::kDelete,
          .resource = api::resources::kPods,
          .ns = plan.ns,
          .name = plan.pod,
          .body = only_of(plan.uid)};
}

client::Request gate_removal_request(const PlannedGateRemoval& plan) {
  // Gates are a list that merges by name: only this one goes, whatever was added meanwhile.
  Json gate = Json::object({{"$patch", "delete"}, {"name", plan.gate}});
  Json body = Json::object({{"metadata", Json::object({{"uid", plan.uid}})},
                            {"spec", Json::object({{"schedulingGates", Json::array({std::move(gate)})}})}});
  return {.verb = client::Verb::kPatch,
          .resource = api::resources::kPods,
          .ns = plan.ns,
          .name = plan.pod,
          .body = std::move(body),
          .patch_type = client::PatchType::kStrategic,
          .only = &fields_read(api::resources::kPods)};
}

client::Request node_shard_status_request(const PlannedShardStatus& plan) {
  const auto list = [](const std::vector<std::string>& names) {
    std::vector<Json> out(names.begin(), names.end());
    return Json::array(std::move(out));
  };
  Json status = Json::object({{"nodesInUse", list(plan.in_use)},
                              {"nodesToRemove", list(plan.to_remove)},
                              {"nodesToAdd", list(plan.to_add)},
                              {"lastUpdateTime", base::format_rfc3339(plan.at)}});
  Json body = Json::object({{"status", std::move(status)}});
  if (!plan.version.empty()) body.edit("metadata").set("resourceVersion", plan.version);
  return {.verb = client::Verb::kPatch,
          .resource = api::resources::kNodeShards,
          .name = plan.name,
          .subresource = "status",
          .body = std::move(body),
          .only = &client::identity_parts()};
}

client::Request group_status_request(const PlannedGroupStatus& plan) {
  // PodGroups have no status subresource. A merge patch leaves the spec, and unknown fields, to their owners.
  Json status = to_json(plan.status);
  for (const std::string_view field : {"running", "succeeded", "failed"}) {
    if (!status.has(field)) status.set(field, nullptr);
  }
  Json body = Json::object({{"status", std::move(status)}});
  if (!plan.uid.empty()) body.edit("metadata").set("uid", plan.uid);  // a namesake that came later is not meant
  Json annotations = Json::object();
  const auto annotate = [&](std::string_view key, const std::optional<std::string>& text) {
    if (text) annotations.set(key, text->empty() ? Json(nullptr) : Json(*text));
  };
  annotate("volcano.sh/job-allocated-hypernode", plan.allocated_domain);
  annotate(kEvictionRoundAnnotation, plan.eviction_round);
  if (!annotations.empty()) body.edit("metadata").set("annotations", std::move(annotations));
  return {.verb = client::Verb::kPatch,
          .resource = api::resources::kPodGroups,
          .ns = plan.ns,
          .name = plan.name,
          .body = std::move(body),
          .only = &fields_read(api::resources::kPodGroups)};
}

client::Request queue_status_request(const PlannedQueueStatus& plan) {
  Json allocated = api::to_json(plan.allocated);
  for (const std::string& name : plan.gone) allocated.set(name, nullptr);
  return {.verb = client::Verb::kPatch,
          .resource = api::resources::kQueues,
          .name = plan.name,
          .subresource = "status",
          .body = Json::object(
              {{"status", Json::object({{"allocated", std::move(allocated)}, {"reservation", Json::object()}})}}),
          .only = &client::identity_parts()};
}

client::Request numatopology_deletion_request(std::string_view name, std::string_view uid) {
  return {.verb = client::Verb::kDelete,
          .resource = api::resources::kNumatopologies,
          .name = std::string(name),
          .body = only_of(uid)};
}

client::Request queue_creation_request(std::string_view name, bool reclaimable) {
  Json body = Json::object({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                            {"kind", "Queue"},
                            {"metadata", Json::object({{"name", name}})},
                            {"spec", Json::object({{"reclaimable", reclaimable}, {"weight", 1}})}});
  return {.verb = client::Verb::kCreate, .resource = api::resources::kQueues, .body = std::move(body)};
}

client::Request lookup_request(const api::ResourceId& resource, std::string_view ns, std::string_view name) {
  return {.verb = client::Verb::kGet,
          .resource = resource,
          .ns = std::string(ns),
          .name = std::string(name),
          .only = &fields_read(resource)};
}

}  // namespace scheduler
