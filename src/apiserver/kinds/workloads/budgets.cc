// How an eviction finds its budget.
#include "apiserver/kinds/workloads/budgets.h"

#include <vector>

#include "api/json/problems.h"
#include "api/meta/resource.h"
#include "api/schema/field_errors.h"
#include "api/schema/selector_rules.h"
#include "api/selector.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

base::Error refusal(std::string why, int retry_after_seconds) {
  base::Error error = base::make_error(base::Code::kTooManyRequests,
                                       "Cannot evict pod as it would violate the pod's disruption budget.");
  error.causes.push_back({"DisruptionBudget", std::move(why), ""});
  error.retry_after_seconds = retry_after_seconds;
  return error;
}

bool is_ready(const Json& pod) {
  for (const Json& condition : pod["status"]["conditions"].items())
    if (condition["type"].as_string() == "Ready") return condition["status"].as_string() == "True";
  return false;
}

// A pod that serves nobody is not a disruption.
bool needs_no_budget(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return api::is_deleting(pod) || phase == "Succeeded" || phase == "Failed" || phase == "Pending";
}

std::vector<Json> budgets_of(const Context& context, const Json& pod) {
  static const api::TextField kSpace{api::resources::kPodDisruptionBudgets, {"metadata", "namespace"}};
  std::vector<Json> found;
  for (Json& budget : context.objects.list_by(kSpace, api::namespace_of(pod), false)) {
    if (!budget["spec"]["selector"].is_object()) continue;
    const auto selector = api::label_selector_from(budget["spec"]["selector"]);
    if (selector.ok() && selector->matches(pod["metadata"]["labels"])) found.push_back(std::move(budget));
  }
  return found;
}

}  // namespace

void check_budget(const Json& object, api::FieldErrors& errors) {
  const Json& spec = object["spec"];
  if (!spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null())
    errors.add({"FieldValueInvalid",
                base::format("Invalid value: {}: minAvailable and maxUnavailable cannot be both set", api::shown(spec)),
                "spec"});
  for (const char* field : {"minAvailable", "maxUnavailable"}) {
    const Json& value = spec[field];
    const std::string path = base::format("spec.{}", field);
    if (value.is_number() && value.as_int() < 0)
      errors.add({"FieldValueInvalid",
                  base::format("Invalid value: {}: must be greater than or equal to 0", api::shown(value)), path});
    std::string_view text = value.as_string();
    bool percent = text.ends_with('%') && text.size() > 1;
    for (const char c : text.substr(0, text.empty() ? 0 : text.size() - 1)) percent = percent && c >= '0' && c <= '9';
    if (value.is_string() && !percent)
      errors.add({"FieldValueInvalid",
                  base::format("Invalid value: {}: a valid percent string must be a numeric string followed by an "
                               "ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
                               api::shown(value)),
                  path});
    else if (percent && (text.size() > 4 || (text.size() == 4 && text != "100%")))
      errors.add({"FieldValueInvalid",
                  base::format("Invalid value: {}: must not be greater than 100%", api::shown(value)), path});
  }
  if (const Json& policy = spec["unhealthyPodEvictionPolicy"];
      !policy.is_null() && policy.as_string() != "AlwaysAllow" && policy.as_string() != "IfHealthyBudget")
    errors.add({"FieldValueNotSupported",
                base::format("Unsupported value: {}: supported values: \"AlwaysAllow\", \"IfHealthyBudget\"",
                             api::shown(policy)),
                "spec.unhealthyPodEvictionPolicy"});
}

base::Result<std::optional<Json>> spend_budget(const Context& context, const Json& pod) {
  if (needs_no_budget(pod)) return std::optional<Json>();
  std::vector<Json> budgets = budgets_of(context, pod);
  if (budgets.empty()) return std::optional<Json>();
  if (budgets.size() > 1)
    return base::make_error(base::Code::kInternal,
                            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
                            "support.");
  Json& budget = budgets.front();
  const Json& status = budget["status"];
  const std::int64_t healthy = status["currentHealthy"].as_int(), needed = status["desiredHealthy"].as_int();
  if (!is_ready(pod) &&
      (budget["spec"]["unhealthyPodEvictionPolicy"].as_string() == "AlwaysAllow" || (healthy >= needed && needed > 0)))
    return std::optional<Json>();
  if (status["observedGeneration"].as_int() < budget["metadata"]["generation"].as_int())
    return refusal(
        base::format("The disruption budget {} is still being processed by the server.", api::name_of(budget)), 10);
  if (status["disruptionsAllowed"].as_int() <= 0)
    return refusal(base::format("The disruption budget {} needs {} healthy pods and has {} currently",
                                api::name_of(budget), needed, healthy),
                   0);
  Json& spent = budget.edit("status");
  spent.set("disruptionsAllowed", status["disruptionsAllowed"].as_int() - 1);
  spent.edit("disruptedPods").set(api::name_of(pod), base::format_rfc3339(context.now));
  return std::optional<Json>(std::move(budget));
}

namespace {

std::vector<Json> budget_cells(const Json& budget, base::Time now) {
  const auto bound = [&](std::string_view field) {
    const Json& value = budget["spec"][field];
    return value.is_null() ? Json("N/A") : value.is_string() ? value : Json(value.dump());
  };
  return {bound("minAvailable"), bound("maxUnavailable"), Json(budget["status"]["disruptionsAllowed"].as_int()),
          age_of(budget, now)};
}
constexpr api::Column kColumnsOfBudget[] = {
    {"Min Available", ""}, {"Max Unavailable", ""}, {"Allowed Disruptions", "", "integer"}, {"Age", ""}};

}  // namespace

const KindRules kPodDisruptionBudget = {
    .kind = "PodDisruptionBudget",
    .naming = Naming::kPath,
    .check =
        [](const Json&, const Json& object, api::FieldErrors& errors) {
          api::check_label_selector(object["spec"]["selector"], "spec.selector", errors);
        },
    .check_create = check_budget,
    .check_update = [](const Json&, const Json& object, api::FieldErrors& errors) { check_budget(object, errors); },
    .table = {kColumnsOfBudget, budget_cells}};

}  // namespace apiserver
