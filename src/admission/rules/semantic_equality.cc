// Whether two values say the same, as Kubernetes compares objects.
//
// The schema says how a value is compared: a member that an object leaves out equals an empty one, a map or a list
// that is left out equals an empty one, but a map with a key is never empty, whatever the key holds.
#include <algorithm>

#include "admission/rules/rules.h"
#include "api/schema/quantity.h"
#include "api/schema/schema.h"
#include "base/time.h"

namespace admission {

namespace {

using api::Schema;

// Plain members that tell an absent value from 0, false or empty text.
constexpr std::string_view kOptional[] = {"ttlSecondsAfterFinished",
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
                                          "minDomains",
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
                                          "sizeLimit",
                                          "storageClassName",
                                          "runtimeClassName"};

// Objects that are always there, so that an absent one equals an empty one; the others tell the two apart, as
// `emptyDir: {}` shows.
constexpr std::string_view kAlwaysThere[] = {"spec",       "metadata", "template", "resources", "podAffinityTerm",
                                             "preference", "guarantee"};

constexpr std::string_view kDurations[] = {"timeout", "runningEstimate"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// For values that are not objects, lists or maps.
bool is_zero(const Json& value) {
  switch (value.type()) {
    case Json::Type::kNull: return true;
    case Json::Type::kBool: return !value.as_bool();
    case Json::Type::kString: return value.as_string().empty();
    case Json::Type::kArray:
    case Json::Type::kObject: return false;
    default: return value.as_double() == 0;
  }
}

bool may_be(const Json& value, Json::Type type) { return value.is_null() || value.type() == type; }

bool maps_equal(const Schema& element, const Json& a, const Json& b) {
  if (a.size() != b.size()) return false;
  for (const Json::Member& member : a.members())
    if (!b.has(member.name()) || !semantically_equal(element, member.value, b[member.name()])) return false;
  return true;
}

bool lists_equal(const Schema& element, const Json& a, const Json& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!semantically_equal(element, a[i], b[i])) return false;
  return true;
}

bool quantities_equal(const Json& a, const Json& b) {
  const auto amount = [](const Json& value) {
    return value.is_null() ? std::optional(api::Quantity()) : api::Quantity::from_json(value);
  };
  const auto left = amount(a);
  const auto right = amount(b);
  return left && right ? *left == *right : a == b;
}

bool durations_equal(const Json& a, const Json& b) {
  const auto left = base::parse_go_duration(a.as_string());
  const auto right = base::parse_go_duration(b.as_string());
  return left && right ? *left == *right : a == b;
}

bool members_equal(const api::SchemaField& field, const Json& a, const Json& b) {
  if (a.is_null() != b.is_null()) {
    if (field.schema->kind == Schema::Kind::kObject ? !is_one_of(field.name, kAlwaysThere)
                                                    : is_one_of(field.name, kOptional))
      return false;
  }
  if (is_one_of(field.name, kDurations)) return durations_equal(a, b);
  return semantically_equal(*field.schema, a, b);
}

}  // namespace

bool semantically_equal(const Schema& schema, const Json& a, const Json& b) {
  using enum Schema::Kind;
  using Type = Json::Type;
  switch (schema.kind) {
    case kObject:
      if (!may_be(a, Type::kObject) || !may_be(b, Type::kObject)) return a == b;
      return std::all_of(schema.fields.begin(), schema.fields.end(), [&](const api::SchemaField& field) {
        return members_equal(field, a[field.name], b[field.name]);
      });
    case kMap:
      if (!may_be(a, Type::kObject) || !may_be(b, Type::kObject) || !schema.element) return a == b;
      return maps_equal(*schema.element, a, b);
    case kList:
      if (!may_be(a, Type::kArray) || !may_be(b, Type::kArray) || !schema.element) return a == b;
      return lists_equal(*schema.element, a, b);
    case kQuantity: return quantities_equal(a, b);
    default: return a == b || (is_zero(a) && is_zero(b));
  }
}

}  // namespace admission
