// A PodGroup is a gang: pods that start together or not at all.
#pragma once

#include "api/meta/object.h"
#include "api/scheduling/v1beta1/topology.h"

namespace api {

struct SubGroupPolicySpec {
  std::string name;
  std::optional<NetworkTopologySpec> network_topology;
  std::optional<std::int32_t> sub_group_size;
  std::optional<std::int32_t> min_sub_groups;
  Json label_selector;
  std::vector<std::string> match_label_keys;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.SubGroupPolicySpec";
  static constexpr auto fields() {
    using S = SubGroupPolicySpec;
    return rows(
        field<&S::name>("name", {.length_max = 253}, "Name of the sub-group."),
        field<&S::network_topology>("networkTopology", "Constraint of each sub-group."),
        field<&S::sub_group_size>("subGroupSize", {.default_json = "1", .minimum = 1}, "Pods in one sub-group."),
        field<&S::min_sub_groups>("minSubGroups", {.default_json = "0", .minimum = 0},
                                  "Sub-groups that must be schedulable."),
        field<&S::label_selector>("labelSelector", {.atomic = true, .core_type = "meta.v1.LabelSelector"},
                                  "The pods it is about."),
        field<&S::match_label_keys>("matchLabelKeys", "Pods are grouped by equal values of these labels."));
  }
};

struct PodGroupSpec {
  std::int32_t min_member = 0;
  std::map<std::string, std::int32_t, std::less<>> min_task_member;
  std::string queue;
  std::string priority_class_name;
  std::optional<ResourceList> min_resources;
  std::optional<NetworkTopologySpec> network_topology;
  std::vector<SubGroupPolicySpec> sub_group_policy;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.PodGroupSpec";
  static constexpr auto fields() {
    using P = PodGroupSpec;
    return rows(
        field<&P::min_member>("minMember", {.minimum = 0}, "Pods that must be schedulable together."),
        field<&P::min_task_member>("minTaskMember", "The same per task."),
        field<&P::queue>("queue", {.default_json = "\"default\"", .length_max = 253, .pattern = kDnsSubdomainPattern},
                         "The queue that pays for it."),
        field<&P::priority_class_name>("priorityClassName", {.length_max = 253}, "Its priority class."),
        field<&P::min_resources>("minResources", "Resources that minMember pods need; what enqueue admission counts."),
        field<&P::network_topology>("networkTopology", "Constraint of the whole group."),
        field<&P::sub_group_policy>("subGroupPolicy", "Groups inside the group."));
  }
};

struct PodGroupCondition {
  std::string type;
  std::string status;
  std::string transition_id;
  base::Time last_transition_time;
  std::string reason;
  std::string message;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.PodGroupCondition";
  static constexpr auto fields() {
    using C = PodGroupCondition;
    return rows(field<&C::type>("type", "Unschedulable or Scheduled."), field<&C::status>("status", "True."),
                field<&C::transition_id>("transitionID", "UID of the scheduling session."),
                field<&C::last_transition_time>("lastTransitionTime", "When it was written."),
                field<&C::reason>("reason", "One word."), field<&C::message>("message", "For a person."));
  }
};

struct PodGroupStatus {
  std::string phase;
  std::vector<PodGroupCondition> conditions;
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.PodGroupStatus";
  static constexpr auto fields() {
    using P = PodGroupStatus;
    return rows(field<&P::phase>("phase", {.enumeration = "Pending|Running|Unknown|Inqueue|Completed"},
                                 "Where the group is in its life."),
                field<&P::conditions>("conditions", "One entry per type."),
                field<&P::running>("running", {.minimum = 0}, "Pods running."),
                field<&P::succeeded>("succeeded", {.minimum = 0}, "Pods succeeded."),
                field<&P::failed>("failed", {.minimum = 0}, "Pods failed."));
  }
};

struct PodGroup {
  ObjectMeta metadata;
  PodGroupSpec spec;
  PodGroupStatus status;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.PodGroup";
  static constexpr auto fields() {
    using P = PodGroup;
    return rows(field<&P::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&P::spec>("spec", "What must start together."),
                field<&P::status>("status", {.keep_empty = true}, "Where it stands."));
  }
};

}  // namespace api
