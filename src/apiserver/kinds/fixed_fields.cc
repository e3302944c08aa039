// A table: kind, field, and what is said of a change.
#include "apiserver/kinds/fixed_fields.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "api/schema/field_errors.h"
#include "api/schema/unwritten.h"
#include "apiserver/kinds/storage/storage_rules.h"

namespace apiserver {

using api::Json;

namespace {

constexpr std::string_view kImmutable = "field is immutable";

struct Fixed {
  std::string_view kind, field, why;
  bool forbidden = false;     // how it is refused; else "Invalid value"
  bool may_be_given = false;  // once, where there was nothing
};
constexpr Fixed kFixed[] = {
    {"RoleBinding", "roleRef", "cannot change roleRef"},
    {"ClusterRoleBinding", "roleRef", "cannot change roleRef"},
    {"StorageClass", "parameters", "updates to parameters are forbidden.", true},
    {"StorageClass", "provisioner", "updates to provisioner are forbidden.", true},
    {"StorageClass", "reclaimPolicy", "updates to reclaimPolicy are forbidden.", true},
    {"StorageClass", "volumeBindingMode", kImmutable},
    {"RuntimeClass", "handler", kImmutable},
    {"IngressClass", "spec.controller", kImmutable},
    {"PersistentVolume", "spec.volumeMode", kImmutable},
    {"PriorityClass", "preemptionPolicy", kImmutable},
    {"ResourceClaim", "spec", kImmutable},
    {"ResourceClaimTemplate", "spec", kImmutable},
    {"ResourceSlice", "spec.driver", kImmutable},
    {"ResourceSlice", "spec.nodeName", kImmutable},
    {"ResourceSlice", "spec.pool.name", kImmutable},
    {"Node", "spec.providerID", "node updates may not change providerID except from \"\" to valid", true, true},
    {"Node", "spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid", true, true},
};

const Json& value_at(const Json& object, std::string_view path) {
  const Json* value = &object;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    value = &(*value)[path.substr(0, dot)];
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return *value;
}

// Whether the fields are the same to a client that leaves out what Go leaves out.
bool same_as_written(const api::KindInfo& kind, Json old_object, Json object, std::string_view path) {
  for (Json* one : {&old_object, &object}) api::drop_unwritten(*kind.schema, *one, api::Empties::kDropped);
  return value_at(old_object, path) == value_at(object, path);
}

}  // namespace

void check_fixed_fields(const api::KindInfo& kind, const Json& old_object, const Json& object,
                        std::vector<base::Cause>& causes) {
  api::FieldErrors errors;
  if (kind.kind == "PersistentVolume" && !kind.custom && old_object["spec"].is_object() && object["spec"].is_object())
    check_volume_change(old_object, object, errors);
  for (const Fixed& row : kFixed) {
    if (row.kind != kind.kind || kind.custom) continue;
    const Json& before = value_at(old_object, row.field);
    const Json& after = value_at(object, row.field);
    if (before == after || (before.empty() && after.empty() && !before.is_string() && !after.is_string())) continue;
    if (row.may_be_given && (before.is_null() || before.str().empty()) && before.size() == 0) continue;
    if (same_as_written(kind, old_object, object, row.field)) continue;
    if (row.forbidden)
      errors.forbidden(std::string(row.field), row.why);
    else
      errors.invalid(std::string(row.field), after, row.why);
  }
  std::ranges::move(errors.take(), std::back_inserter(causes));
}

}  // namespace apiserver
