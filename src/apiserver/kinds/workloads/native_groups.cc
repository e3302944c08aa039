// Workloads and PodGroups of scheduling.k8s.io: policies, names, and what does not change.
#include <algorithm>
#include <array>

#include "api/schema/names.h"
#include "apiserver/kinds/pods/pod_priority.h"
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/workloads/group_policies.h"
#include "base/format.h"

namespace apiserver {

using api::at;
using api::FieldErrors;
using api::in;
using api::Json;

namespace {

constexpr std::size_t kTemplatesMax = 8;

}  // namespace

void check_scheduling_policy(const Json& policy, const std::string& path, FieldErrors& errors) {
  const Json& gang = policy["gang"];
  if (policy["basic"].is_null() == gang.is_null())
    return policy["basic"].is_null() ? errors.required(path, "must specify one of: `basic`, `gang`")
                                     : errors.invalid(path, policy, "must specify exactly one of: `basic`, `gang`");
  if (gang["minCount"].is_number() && gang["minCount"].as_int() < 1)
    errors.invalid(in(path, "gang.minCount"), gang["minCount"], "must be greater than or equal to 1");
}

void check_fixed_policy(const Json& before, const Json& after, const std::string& path, FieldErrors& errors) {
  if (before["gang"].is_null() != after["gang"].is_null())
    errors.invalid(path, after, "the policy is immutable after creation; only gang.minCount may be updated");
}

void check_disruption_mode(const Json& mode, const std::string& path, FieldErrors& errors) {
  if (mode.is_object() && mode["single"].is_null() == mode["all"].is_null())
    errors.invalid(path, mode, "must specify exactly one of: `single`, `all`");
}

void check_scheduling_constraints(const Json& constraints, const std::string& path, FieldErrors& errors) {
  const Json& topology = constraints["topology"];
  if (topology.size() > 1) return errors.too_many(in(path, "topology"), topology.size(), 1);
  for (const Json& one : topology.items())
    errors.invalid(in(at(in(path, "topology"), 0), "key"), one["key"],
                   api::check_qualified_name(one["key"].as_string()));
}

namespace {

constexpr std::int64_t kPriorityMax = 1'000'000'000;  // that people may give

// The fields that a PodGroup and a template of one share.
void check_group(const Json& group, const std::string& path, FieldErrors& errors) {
  check_scheduling_policy(group["schedulingPolicy"], in(path, "schedulingPolicy"), errors);
  check_disruption_mode(group["disruptionMode"], in(path, "disruptionMode"), errors);
  if (const std::string name = group["priorityClassName"].str(); !name.empty())
    errors.invalid(in(path, "priorityClassName"), name, api::check_dns_subdomain(name));
  if (group["priority"].is_number() && group["priority"].as_int() > kPriorityMax)
    errors.invalid(in(path, "priority"), group["priority"],
                   base::format("must be less than or equal to {}", kPriorityMax));
  check_scheduling_constraints(group["schedulingConstraints"], in(path, "schedulingConstraints"), errors);
  if (group["resourceClaims"].size() > 0)
    errors.forbidden(in(path, "resourceClaims"), "claims of groups are not made here");
}

void check_workload(const Json& object, FieldErrors& errors) {
  const Json& templates = object["spec"]["podGroupTemplates"];
  if (!object["spec"]["compositePodGroupTemplates"].empty())
    errors.forbidden("spec.compositePodGroupTemplates", "groups of groups are not scheduled here");
  if (templates.size() > kTemplatesMax)
    return errors.too_many("spec.podGroupTemplates", templates.size(), kTemplatesMax);
  for (std::size_t i = 0; i < templates.size(); ++i) {
    const std::string path = at("spec.podGroupTemplates", i);
    errors.invalid(in(path, "name"), templates[i]["name"], api::check_dns_label(templates[i]["name"].as_string()));
    check_group(templates[i], path, errors);
  }
  const auto same_priority = [&](const Json& one) {
    return one["priorityClassName"].str() == templates[std::size_t{0}]["priorityClassName"].str() &&
           one["priority"] == templates[std::size_t{0}]["priority"];
  };
  if (!std::all_of(templates.items().begin(), templates.items().end(), same_priority))
    errors.invalid("spec", Json(), "detected multiple priority configurations");
}

void check_native_group(const Json& object, FieldErrors& errors) {
  const Json& spec = object["spec"];
  check_group(spec, "spec", errors);
  if (!spec["parentCompositePodGroupName"].is_null())
    errors.forbidden("spec.parentCompositePodGroupName", "groups of groups are not scheduled here");
}

void check_native_group_update(const Json& before, const Json& object, FieldErrors& errors) {
  check_fixed_policy(before["spec"]["schedulingPolicy"], object["spec"]["schedulingPolicy"], "spec.schedulingPolicy",
                     errors);
}

Json without_minimum(Json group) {
  if (group["schedulingPolicy"]["gang"].is_object()) group.edit("schedulingPolicy").edit("gang").erase("minCount");
  return group;
}

void check_workload_update(const Json& before, const Json& object, FieldErrors& errors) {
  const Json& old_templates = before["spec"]["podGroupTemplates"];
  const Json& templates = object["spec"]["podGroupTemplates"];
  bool same = old_templates.size() == templates.size();
  for (std::size_t i = 0; same && i < templates.size(); ++i)
    same = without_minimum(old_templates[i]) == without_minimum(templates[i]);
  if (!same) errors.invalid("spec.podGroupTemplates", templates, "field is immutable, but for gang.minCount");
}

constexpr FixedField kFixedOfWorkload[] = {{"spec.controllerRef", "field is immutable", false, true}};
constexpr FixedField kFixedOfGroup[] = {
    {"spec.workloadRef", "field is immutable"},    {"spec.schedulingConstraints", "field is immutable"},
    {"spec.disruptionMode", "field is immutable"}, {"spec.priorityClassName", "field is immutable"},
    {"spec.priority", "field is immutable"},       {"spec.preemptionPolicy", "field is immutable"}};

}  // namespace

const KindRules kNativePodGroup = {
    .kind = "PodGroup",
    .prepare = [](const Context& context, Json& object,
                  FieldErrors&) { return set_group_priority(context.objects, object); },
    .check = [](const Json&, const Json& object, FieldErrors& errors) { check_native_group(object, errors); },
    .check_update = check_native_group_update,
    .fixed = kFixedOfGroup};

const KindRules kNativeWorkload = {
    .kind = "Workload",
    .check = [](const Json&, const Json& object, FieldErrors& errors) { check_workload(object, errors); },
    .check_update = check_workload_update,
    .fixed = kFixedOfWorkload};

}  // namespace apiserver
