// Judging the change of a pod field by field; what else differs is forbidden.
#include "apiserver/kinds/pods/pod_update.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "api/json/json_bulk.h"
#include "api/json/problems.h"
#include "api/pods/pod_spec.h"
#include "api/schema/field_errors.h"
#include "api/schema/unwritten.h"
#include "apiserver/kinds/cause_limit.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;

namespace {

void check_deadline(const Json& before, const Json& after, api::FieldErrors& errors) {
  const char* const path = "spec.activeDeadlineSeconds";
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (after.is_null()) {
    if (!before.is_null()) errors.invalid(path, after, "must not update from a positive integer to nil value");
  } else if (after.as_int() < 0 || after.as_int() > kMax) {
    errors.invalid(path, after, base::format("must be between 0 and {}, inclusive", kMax));
  } else if (!before.is_null() && after.as_int() > before.as_int()) {
    errors.invalid(path, after, "must be less than or equal to previous value");
  }
}

void check_tolerations_update(const Json& before, const Json& after, api::FieldErrors& errors) {
  const auto but_seconds = [](Json toleration) {
    toleration.erase("tolerationSeconds");
    return api::identity_of(toleration);
  };
  std::set<std::string> tolerations;
  for (const Json& toleration : after.items()) tolerations.insert(but_seconds(toleration));
  for (const Json& toleration : before.items())
    if (!tolerations.contains(but_seconds(toleration))) {
      errors.add({"FieldValueForbidden",
                  "Forbidden: existing toleration can not be modified except its tolerationSeconds",
                  "spec.tolerations"});
      break;
    }
  if (before == after) return;
  api::check_tolerations(after, "spec.tolerations", errors);
}

void check_gates_update(const Json& before, const Json& after, api::FieldErrors& errors) {
  std::set<std::string> gates;
  for (const Json& gate : before.items()) gates.insert(api::identity_of(gate));
  for (const Json& gate : after.items())
    if (!gates.contains(api::identity_of(gate)) && !errors.is_full())
      errors.add(
          {"FieldValueForbidden",
           base::format("Forbidden: only deletion is allowed, but found new scheduling gate '{}'", gate["name"].str()),
           "spec.schedulingGates"});
}

// The old ones come first, and a term that selects nothing goes on selecting nothing.
bool has_only_additions(const Json& before, const Json& after) {
  if (before["matchExpressions"].empty() && before["matchFields"].empty())
    return after["matchExpressions"].empty() && after["matchFields"].empty();
  return std::ranges::all_of(
      std::initializer_list<const char*>{"matchExpressions", "matchFields"}, [&](const char* list) {
        const auto old_ones = before[list].items(), new_ones = after[list].items();
        return new_ones.size() >= old_ones.size() && std::equal(old_ones.begin(), old_ones.end(), new_ones.begin());
      });
}

// The nodes where a pod with gates may run become fewer. The judged parts are put back in
// `after`.
void check_narrowing(const Json& before, Json& after, api::FieldErrors& errors) {
  for (const Json::Member& one : before["nodeSelector"].members())
    if (after["nodeSelector"][one.name()] != one.value) {
      errors.invalid("spec.nodeSelector", after["nodeSelector"],
                     "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
      break;
    }
  const std::string path =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const auto terms_of = [](const Json& spec) -> const Json& {
    return spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  };
  const Json& old_terms = terms_of(before);
  const Json& new_terms = terms_of(after);
  if (!old_terms.empty() && old_terms.size() != new_terms.size()) {
    errors.invalid(path, new_terms, "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
  } else {
    for (std::size_t i = 0; i < old_terms.size() && !errors.is_full(); ++i)
      if (!has_only_additions(old_terms[i], new_terms[i]))
        errors.invalid(base::format("{}[{}]", path, i), new_terms[i],
                       "only additions are allowed (no mutations or deletions)");
  }
  const auto put_back = [](const Json& old_parent, Json& parent, const char* key) {
    if (const Json* old = old_parent.find(key))
      parent.set(key, *old);
    else
      parent.erase(key);
  };
  put_back(before, after, "nodeSelector");
  if (!after.has("affinity") && !before.has("affinity")) return;
  if (!after.has("affinity")) after.set("affinity", Json::object());
  put_back(before["affinity"], after.edit("affinity"), "nodeAffinity");
  if (after["affinity"].empty() && !before.has("affinity")) after.erase("affinity");
}

// The fields that may change, whatever they were.
void drop_free_fields(Json& spec) {
  for (const char* list : {"containers", "initContainers"})
    for (std::size_t i = 0; i < spec[list].size(); ++i) spec.edit(list).edit(i).erase("image");
  for (const char* key : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) spec.erase(key);
}

}  // namespace

void check_pod_update(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  Json before = old_object["spec"];
  Json after = object["spec"];
  for (Json* spec : {&before, &after})
    api::drop_unwritten(api::core_schema("core.v1.PodSpec"), *spec, api::Empties::kDropped);
  for (const char* list : {"containers", "initContainers"}) {
    for (std::size_t i = 0; i < after[list].size(); ++i)
      if (after[list][i]["image"].as_string().empty())
        errors.add({"FieldValueRequired", "Required value", base::format("spec.{}[{}].image", list, i)});
    api::check_image_blanks(after[list], base::format("spec.{}", list), errors);
  }
  check_deadline(old_object["spec"]["activeDeadlineSeconds"], object["spec"]["activeDeadlineSeconds"], errors);
  check_tolerations_update(before["tolerations"], after["tolerations"], errors);
  check_gates_update(before["schedulingGates"], after["schedulingGates"], errors);
  if (before["terminationGracePeriodSeconds"].as_int() < 0 && after["terminationGracePeriodSeconds"].as_int() == 1)
    after.set("terminationGracePeriodSeconds", before["terminationGracePeriodSeconds"]);
  if (!before["schedulingGates"].empty()) check_narrowing(before, after, errors);
  for (Json* spec : {&before, &after}) drop_free_fields(*spec);
  if (!(before == after))
    errors.add(
        {"FieldValueForbidden",
         "Forbidden: pod updates may not change fields other than "
         "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec."
         "tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
         "be set to 1 if it was previously negative)",
         "spec"});
}

}  // namespace apiserver
