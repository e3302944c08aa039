// A PodGroup is a gang: pods that start together or not at all.
#pragma once

#include "api/meta/owner_reference.h"
#include "api/scheduling/v1beta1/topology.h"

namespace api {

struct SubGroupPolicySpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.SubGroupPolicySpec";
  static constexpr auto fields() {
    return rows(
        field<Text>("name", {.length_max = 253}, "Name of the sub-group."),
        field<NetworkTopologySpec>("networkTopology", "Constraint of each sub-group."),
        field<std::int32_t>("subGroupSize", {.default_json = "1", .minimum = 1}, "Pods in one sub-group."),
        field<std::int32_t>("minSubGroups", {.default_json = "0", .minimum = 0},
                            "Sub-groups that must be schedulable."),
        field<Json>("labelSelector", {.atomic = true, .core_type = "meta.v1.LabelSelector"}, "The pods it is about."),
        field<List<Text>>("matchLabelKeys", "Pods are grouped by equal values of these labels."));
  }
};

struct PodGroupSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.PodGroupSpec";
  static constexpr auto fields() {
    return rows(
        field<std::int32_t>("minMember", {.minimum = 0}, "Pods that must be schedulable together."),
        field<Map<std::int32_t>>("minTaskMember", "The same per task."),
        field<Text>("queue", {.default_json = "\"default\"", .length_max = 253, .pattern = kDnsSubdomainPattern},
                    "The queue that pays for it."),
        field<Text>("priorityClassName", {.length_max = 253}, "Its priority class."),
        field<ResourceList>("minResources", "Resources that minMember pods need; what enqueue admission counts."),
        field<NetworkTopologySpec>("networkTopology", "Constraint of the whole group."),
        field<List<SubGroupPolicySpec>>("subGroupPolicy", "Groups inside the group."));
  }
};

struct PodGroupCondition {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.PodGroupCondition";
  static constexpr auto fields() {
    return rows(field<Text>("type", "Unschedulable or Scheduled."), field<Text>("status", "True."),
                field<Text>("transitionID", "UID of the scheduling session."),
                field<base::Time>("lastTransitionTime", "When it was written."), field<Text>("reason", "One word."),
                field<Text>("message", "For a person."));
  }
};

struct PodGroupStatus {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.PodGroupStatus";
  static constexpr auto fields() {
    return rows(field<Text>("phase", {.enumeration = "Pending|Running|Unknown|Inqueue|Completed"},
                            "Where the group is in its life."),
                field<List<PodGroupCondition>>("conditions", "One entry per type."),
                field<std::int32_t>("running", {.minimum = 0}, "Pods running."),
                field<std::int32_t>("succeeded", {.minimum = 0}, "Pods succeeded."),
                field<std::int32_t>("failed", {.minimum = 0}, "Pods failed."));
  }
};

struct PodGroup {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.PodGroup";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<PodGroupSpec>("spec", "What must start together."),
                field<PodGroupStatus>("status", "Where it stands."));
  }
};

}  // namespace api
