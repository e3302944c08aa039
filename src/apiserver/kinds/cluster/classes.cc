// PriorityClasses and RuntimeClasses.
#include <array>
#include <set>
#include <string>
#include <vector>

#include "api/json/json_bulk.h"
#include "api/meta/resource.h"
#include "api/pods/pod_spec.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

using api::FieldErrors;

void default_priority_class_object(Json& object) {
  set_if_absent(object, "preemptionPolicy", "PreemptLowerPriority");
  set_if_absent(object, "value", 0);
}

void check_priority_class(const Json&, const Json& object, api::FieldErrors& errors) {
  const std::string_view name = api::name_of(object);
  constexpr std::array<std::string_view, 2> kPolicies = {"PreemptLowerPriority", "Never"};
  if (name.starts_with("system-") && name != "system-node-critical" && name != "system-cluster-critical")
    errors.forbidden("metadata.name",
                     base::format("priority class names with 'system-' prefix are reserved for system use only. error: "
                                  "{} is not a known system priority class",
                                  name));
  else if (object["value"].as_int() > 1'000'000'000 && !name.starts_with("system-"))
    errors.forbidden("value", "maximum allowed value of a user defined priority is 1000000000");
  if (const std::string policy = object["preemptionPolicy"].str(); !policy.empty())
    errors.one_of("preemptionPolicy", policy, kPolicies);
}

void check_priority_class_update(const Json& old_object, const Json& object, FieldErrors& errors) {
  if (!(old_object["value"] == object["value"])) errors.forbidden("value", "may not be changed in an update.");
}

// Tolerations that differ in their seconds alone are equal.
void check_equal_tolerations(const Json& tolerations, const std::string& path, api::FieldErrors& errors) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    Json toleration = tolerations[i];
    if (toleration.is_object()) toleration.erase("tolerationSeconds");
    if (!seen.insert(api::identity_of(toleration)).second) errors.duplicate(api::at(path, i), tolerations[i]);
  }
}

void check_runtime_class(const Json&, const Json& object, api::FieldErrors& errors) {
  errors.invalid("handler", object["handler"].str(), api::check_dns_label(object["handler"].as_string()));
  api::check_overhead(object["overhead"]["podFixed"], "overhead.podFixed", errors);
  api::check_labels(object["scheduling"]["nodeSelector"], "scheduling.nodeSelector", errors);
  api::check_tolerations(object["scheduling"]["tolerations"], "scheduling.tolerations", errors);
  check_equal_tolerations(object["scheduling"]["tolerations"], "scheduling.tolerations", errors);
}

constexpr FixedField kFixedOfPriorityClass[] = {{"preemptionPolicy", "field is immutable"}};
constexpr FixedField kFixedOfRuntimeClass[] = {{"handler", "field is immutable"}};

std::vector<Json> priority_class_cells(const Json& one, base::Time now) {
  return {one["value"], Json(one["globalDefault"].as_bool()), age_of(one, now), one["preemptionPolicy"]};
}
constexpr api::Column kColumnsOfPriorityClass[] = {
    {"Value", "", "integer"}, {"Global-Default", "", "boolean"}, {"Age", ""}, {"PreemptionPolicy", ""}};

std::vector<Json> runtime_class_cells(const Json& runtime_class, base::Time now) {
  return {runtime_class["handler"], age_of(runtime_class, now)};
}
constexpr api::Column kColumnsOfRuntimeClass[] = {{"Handler", ""}, {"Age", ""}};

}  // namespace

const KindRules kPriorityClass = {.kind = "PriorityClass",
                                  .defaults = default_priority_class_object,
                                  .check = check_priority_class,
                                  .check_update = check_priority_class_update,
                                  .fixed = kFixedOfPriorityClass,
                                  .table = {kColumnsOfPriorityClass, priority_class_cells}};

const KindRules kRuntimeClass = {.kind = "RuntimeClass",
                                 .check = check_runtime_class,
                                 .fixed = kFixedOfRuntimeClass,
                                 .table = {kColumnsOfRuntimeClass, runtime_class_cells}};

}  // namespace apiserver
