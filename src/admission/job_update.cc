// What may change in a Job (webhooks.md 5.6): sizes, priority class, and the claim names that the controller fills in.
#include <set>

#include "admission/rules.h"
#include "api/quantity.h"
#include "base/format.h"

namespace admission {

namespace {

bool is_nothing(const Json& value) {
  switch (value.type()) {
    case Json::Type::kNull: return true;
    case Json::Type::kBool: return !value.as_bool();
    case Json::Type::kString: return value.as_string().empty();
    case Json::Type::kArray: return value.empty();
    case Json::Type::kObject: {
      for (const Json::Member& member : value.members())
        if (!is_nothing(member.value)) return false;
      return true;
    }
    default: return value.as_double() == 0;
  }
}

// Fields that tell an absent value from 0 or false.
constexpr std::string_view kPointers[] = {"ttlSecondsAfterFinished",
                                          "runningEstimate",
                                          "minSuccess",
                                          "highestTierAllowed",
                                          "exitCode",
                                          "timeout",
                                          "subGroupSize",
                                          "terminationGracePeriodSeconds",
                                          "activeDeadlineSeconds",
                                          "automountServiceAccountToken",
                                          "enableServiceLinks",
                                          "shareProcessNamespace",
                                          "setHostnameAsFQDN",
                                          "hostUsers",
                                          "priority",
                                          "preemptionPolicy",
                                          "tolerationSeconds",
                                          "runAsUser",
                                          "runAsGroup",
                                          "runAsNonRoot",
                                          "fsGroup",
                                          "privileged",
                                          "readOnlyRootFilesystem",
                                          "allowPrivilegeEscalation",
                                          "optional",
                                          "defaultMode",
                                          "mode",
                                          "expirationSeconds",
                                          "storageClassName",
                                          "runtimeClassName"};

bool holds_quantities(std::string_view key) {
  return key == "requests" || key == "limits" || key == "overhead" || key == "capacity" || key == "sizeLimit" ||
         key == "divisor" || key == "capability" || key == "deserved" || key == "guarantee";
}

}  // namespace

bool semantically_equal(const Json& a, const Json& b, bool quantity) {
  if (is_nothing(a) && is_nothing(b)) return true;
  if (a.is_object() && b.is_object()) {
    for (const std::string_view key : kPointers)
      if (a[key].is_null() != b[key].is_null()) return false;
    const auto within = [quantity](std::string_view key) { return quantity || holds_quantities(key); };
    for (const Json::Member& member : a.members())
      if (!semantically_equal(member.value, b[member.name()], within(member.name()))) return false;
    for (const Json::Member& member : b.members())
      if (!a.has(member.name()) && !is_nothing(member.value)) return false;
    return true;
  }
  if (a.is_array() && b.is_array()) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!semantically_equal(a[i], b[i], quantity)) return false;
    return true;
  }
  if (quantity) {
    const auto left = api::Quantity::from_json(a);
    const auto right = api::Quantity::from_json(b);
    if (left && right) return *left == *right;
  }
  return a == b;
}

namespace {

// The spec with everything that may change taken out.
Json frozen_part(const Json& spec) {
  if (!spec.is_object()) return spec;
  Json frozen = spec;
  frozen.erase("minAvailable");
  frozen.erase("priorityClassName");
  if (frozen["tasks"].is_array()) {
    Json& tasks = frozen.edit("tasks");
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].is_object()) continue;
      tasks.edit(i).erase("replicas");
      tasks.edit(i).erase("minAvailable");
    }
  }
  if (frozen["volumes"].is_array()) {
    Json& volumes = frozen.edit("volumes");
    for (std::size_t i = 0; i < volumes.size(); ++i)
      if (volumes[i]["volumeClaim"].is_object()) volumes.edit(i).erase("volumeClaimName");
  }
  return frozen;
}

}  // namespace

std::string check_job_update(const Json& old_job, const Json& job) {
  const Json& spec = job["spec"];
  std::int64_t total = 0;
  for (const Json& task : spec["tasks"].items()) {
    const std::string_view name = task["name"].as_string();
    const std::int64_t replicas = task["replicas"].as_int();
    if (replicas < 0) return base::format("'replicas' must be >= 0 in task: {}", name);
    if (task["minAvailable"].is_number()) {
      const std::int64_t minimum = task["minAvailable"].as_int();
      if (minimum < 0) return base::format("'minAvailable' must be >= 0 in task: {}", name);
      if (minimum > replicas) return base::format("'minAvailable' must be <= 'replicas' in task: {}", name);
    }
    if (std::string problem = check_partition(task, job["metadata"]["name"].as_string()); !problem.empty())
      return problem;
    total += replicas;
  }
  const std::int64_t minimum = spec["minAvailable"].as_int();
  if (minimum > total) return "job 'minAvailable' must not be greater than total replicas";
  if (minimum < 0) return "job 'minAvailable' must be >= 0";
  if (has_both_tiers(spec["networkTopology"]))
    return "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously";
  if (old_job["spec"]["tasks"].size() != spec["tasks"].size()) return "job updates may not add or remove tasks";
  if (!semantically_equal(frozen_part(old_job["spec"]), frozen_part(spec)))
    return "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and "
           "`PriorityClassName`";
  return {};
}

}  // namespace admission
