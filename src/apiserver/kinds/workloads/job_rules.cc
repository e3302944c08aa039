// Rules of failure: by exit codes of a container, or by conditions of the pod.
#include "apiserver/kinds/workloads/job_rules.h"

#include <algorithm>
#include <array>

#include "api/meta/resource.h"
#include "api/schema/names.h"
#include "apiserver/kinds/workloads/group_policies.h"
#include "base/format.h"

namespace apiserver {

using api::at;
using api::FieldErrors;
using api::in;
using api::Json;

namespace {

constexpr std::size_t kRulesMax = 20, kCodesMax = 255, kConditionsMax = 20;

bool has_container(const Json& pod, std::string_view name) {
  for (const char* list : {"containers", "initContainers"})
    for (const Json& one : pod[list].items())
      if (one["name"].as_string() == name) return true;
  return false;
}

void check_codes(const Json& codes, const Json& pod, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kOperators = {"In", "NotIn"};
  const std::string op = codes["operator"].str();
  if (op.empty())
    errors.required(in(path, "operator"), R"(valid values: ["In" "NotIn"])");
  else
    errors.one_of(in(path, "operator"), op, kOperators);
  if (const Json& name = codes["containerName"]; name.is_string() && !has_container(pod, name.as_string()))
    errors.invalid(in(path, "containerName"), name,
                   "must be one of the container or initContainer names in the pod template");
  const Json& values = codes["values"];
  const std::string where = in(path, "values");
  if (values.empty())
    errors.invalid(where, values.is_null() ? Json::array() : values, "at least one value is required");
  if (values.size() > kCodesMax) return errors.too_many(where, values.size(), kCodesMax);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (op == "In" && values[i].as_int() == 0)
      errors.invalid(at(where, i), values[i], "must not be 0 for the In operator");
    for (std::size_t k = 0; k < i; ++k)
      if (values[k] == values[i]) {
        errors.duplicate(at(where, i), values[i]);
        break;
      }
  }
  const auto all = values.items();
  if (!std::ranges::is_sorted(all, {}, [](const Json& value) { return value.as_int(); }))
    errors.invalid(where, values, "must be ordered");
}

void check_conditions(const Json& conditions, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kStatuses = {"False", "True", "Unknown"};
  if (conditions.size() > kConditionsMax) return errors.too_many(path, conditions.size(), kConditionsMax);
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::string type = conditions[i]["type"].str(), status = conditions[i]["status"].str();
    errors.invalid(in(at(path, i), "type"), type, api::check_qualified_name(type));
    if (status.empty())
      errors.required(in(at(path, i), "status"), R"(valid values: ["False" "True" "Unknown"])");
    else
      errors.one_of(in(at(path, i), "status"), status, kStatuses);
  }
}

}  // namespace

void check_failure_policy(const Json& spec, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 4> kActions = {"Count", "FailIndex", "FailJob", "Ignore"};
  const Json& pod = spec["template"]["spec"];
  const Json& rules = spec["podFailurePolicy"]["rules"];
  const std::string all = in(in(path, "podFailurePolicy"), "rules");
  if (pod["restartPolicy"].as_string() != "Never")
    errors.invalid(in(path, "template.spec.restartPolicy"), pod["restartPolicy"],
                   "only \"Never\" is supported when podFailurePolicy is specified");
  if (rules.size() > kRulesMax) return errors.too_many(all, rules.size(), kRulesMax);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Json& rule = rules[i];
    const std::string where = at(all, i), action = rule["action"].str();
    if (action.empty())
      errors.required(in(where, "action"), R"(valid values: ["Count" "FailIndex" "FailJob" "Ignore"])");
    else
      errors.one_of(in(where, "action"), action, kActions);
    if (action == "FailIndex" && spec["backoffLimitPerIndex"].is_null())
      errors.invalid(in(where, "action"), action, "requires the backoffLimitPerIndex to be set");
    const bool codes = rule["onExitCodes"].is_object(), conditions = !rule["onPodConditions"].empty();
    if (codes && conditions)
      errors.invalid(where, rule, "specifying both OnExitCodes and OnPodConditions is not supported");
    if (!codes && !conditions)
      errors.invalid(where, rule, "specifying one of OnExitCodes and OnPodConditions is required");
    if (codes) check_codes(rule["onExitCodes"], pod, in(where, "onExitCodes"), errors);
    check_conditions(rule["onPodConditions"], in(where, "onPodConditions"), errors);
  }
}

void check_job_scheduling(const Json& spec, const std::string& path, FieldErrors& errors) {
  const Json& scheduling = spec["scheduling"];
  if (!scheduling.is_object()) return;
  const std::string where = in(path, "scheduling");
  const Json& policy = scheduling["schedulingPolicy"];
  if (!policy.is_null()) check_scheduling_policy(policy, in(where, "schedulingPolicy"), errors);
  const std::int64_t parallelism = spec["parallelism"].as_int(1);
  if (const Json& minimum = policy["gang"]["minCount"]; minimum.is_number() && minimum.as_int() > parallelism)
    errors.invalid(in(where, "schedulingPolicy.gang.minCount"), minimum,
                   base::format("must not be greater than parallelism ({})", parallelism));
  const Json& mode = scheduling["disruptionMode"];
  check_disruption_mode(mode, in(where, "disruptionMode"), errors);
  if (mode["all"].is_object() && !policy["gang"].is_object())
    errors.invalid(in(where, "disruptionMode"), mode,
                   "the disruptionMode `all` is not supported with the Basic scheduling policy");
  check_scheduling_constraints(scheduling["schedulingConstraints"], in(where, "schedulingConstraints"), errors);
  if (scheduling["resourceClaims"].size() > 0)
    errors.forbidden(in(where, "resourceClaims"), "claims of groups are not made here");
}

void check_job_scheduling_update(const Json& before, const Json& after, FieldErrors& errors) {
  constexpr std::string_view kFixed = "field is immutable";
  const Json& was = before["scheduling"];
  const Json& is = after["scheduling"];
  if (was.is_null() != is.is_null()) return errors.invalid("spec.scheduling", is, kFixed);
  for (const char* field : {"schedulingConstraints", "disruptionMode", "resourceClaims"})
    if (!(was[field] == is[field])) errors.invalid(in("spec.scheduling", field), is[field], kFixed);
  const std::string path = "spec.scheduling.schedulingPolicy";
  if (was["schedulingPolicy"].is_null() != is["schedulingPolicy"].is_null())
    errors.invalid(path, is["schedulingPolicy"], kFixed);
  else
    check_fixed_policy(was["schedulingPolicy"], is["schedulingPolicy"], path, errors);
}

void check_last_hostname(const Json& job, FieldErrors& errors) {
  const std::int64_t last = std::max<std::int64_t>(1, job["spec"]["completions"].as_int(1)) - 1;
  const std::string hostname = base::format("{}-{}", api::name_of(job), last);
  if (hostname.size() > 63)
    errors.invalid("metadata.name", hostname,
                   "will not able to create pod with invalid DNS label: must be no more than 63 characters");
}

}  // namespace apiserver
