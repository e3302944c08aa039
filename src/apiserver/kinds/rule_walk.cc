// The walk over the rows of kinds: defaults, first states, rules, and fields that keep their values.
#include <algorithm>
#include <iterator>
#include <string>

#include "api/schema/unwritten.h"
#include "apiserver/kinds/kind_rules.h"
#include "apiserver/kinds/pods/ephemeral_containers.h"
#include "apiserver/kinds/pods/pod_resize.h"
#include "apiserver/kinds/ratcheting.h"
#include "apiserver/kinds/strategy.h"

namespace apiserver {

using api::Json;
using Causes = std::vector<base::Cause>;

namespace {

void move_into(Causes& causes, api::FieldErrors& errors) {
  std::ranges::move(errors.take(), std::back_inserter(causes));
}

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
bool is_same_as_written(const api::KindInfo& kind, Json old_object, Json object, std::string_view path) {
  for (Json* one : {&old_object, &object}) api::drop_unwritten(*kind.schema, *one, api::Empties::kDropped);
  return value_at(old_object, path) == value_at(object, path);
}

void check_fixed_fields(const api::KindInfo& kind, std::span<const FixedField> fixed, const Json& old_object,
                        const Json& object, api::FieldErrors& errors) {
  for (const FixedField& row : fixed) {
    const Json& before = value_at(old_object, row.path);
    const Json& after = value_at(object, row.path);
    if (before == after || (before.empty() && after.empty() && !before.is_string() && !after.is_string())) continue;
    if (row.may_be_given && (before.is_null() || before.str().empty()) && before.size() == 0) continue;
    if (is_same_as_written(kind, old_object, object, row.path)) continue;
    if (row.is_forbidden)
      errors.forbidden(std::string(row.path), row.why);
    else
      errors.invalid(std::string(row.path), after, row.why);
  }
}

}  // namespace

void apply_core_defaults(const api::KindInfo& kind, Json& object) {
  if (const KindRules& rules = rules_of(kind); rules.defaults != nullptr) rules.defaults(object);
}

base::Status prepare_core_create(const Context& context, const api::KindInfo& kind, Json& object, Causes& causes) {
  for (const char* part : {"spec", "status"})  // what is not an object is left for validation to name
    if (!object[part].is_null() && !object[part].is_object()) return {};
  const KindRules& rules = rules_of(kind);
  if (rules.prepare == nullptr) return {};
  api::FieldErrors errors;
  TRY_VOID(rules.prepare(context, object, errors));
  move_into(causes, errors);
  return {};
}

void prepare_core_update(const Context& context, const api::KindInfo& kind, std::string_view subresource,
                         const Json& old_object, Json& object, Causes& causes) {
  const KindRules& rules = rules_of(kind);
  if (rules.prepare_update == nullptr) return;
  api::FieldErrors errors;
  rules.prepare_update(context, subresource, old_object, object, errors);
  move_into(causes, errors);
}

void check_core_create(const api::KindInfo& kind, const Json& object, Causes& causes) {
  const KindRules& rules = rules_of(kind);
  api::FieldErrors errors;
  if (rules.check_create != nullptr) rules.check_create(object, errors);
  if (rules.check != nullptr) rules.check(Json(), object, errors);
  move_into(causes, errors);
}

void check_core_update(const api::KindInfo& kind, std::string_view subresource, const Json& old_object,
                       const Json& object, Causes& causes) {
  api::FieldErrors errors;
  const KindRules& rules = rules_of(kind);
  if (subresource == "ephemeralcontainers") {
    check_ephemeral_containers(old_object, object, errors);
  } else if (subresource == "resize") {
    check_resize(old_object, object, errors);
  } else if (subresource.empty() || rules.judges_subresources) {
    if (rules.check != nullptr) errors.add(new_problems(rules.check, old_object, object));
    check_fixed_fields(kind, rules.fixed, old_object, object, errors);
    if (rules.check_update != nullptr) rules.check_update(old_object, object, errors);
  }
  move_into(causes, errors);
}

}  // namespace apiserver
