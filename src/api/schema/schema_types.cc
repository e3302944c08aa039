// Is every value of the type that its schema says? Quick enough for every object of a large cluster's files.
#include "api/schema/checked_values.h"
#include "api/schema/quantity.h"
#include "api/schema/schema.h"
#include "base/format.h"
#include "base/unix_time.h"

namespace api {
namespace {

using base::Cause;
using Kind = Schema::Kind;
using Problem = std::optional<Cause>;  // its field is completed on the way up

Problem wrong(std::string message) { return Cause{"FieldValueTypeInvalid", std::move(message), ""}; }
Problem wrong(const Json& value, std::string_view what) {
  return wrong(base::format("{} is not {}", value.dump(), what));
}

Problem within(std::string_view name, Problem inner) {
  if (!inner) return inner;
  const std::string_view joint = inner->field.empty() || inner->field.front() == '[' ? "" : ".";
  inner->field = base::format("{}{}{}", name, joint, inner->field);
  return inner;
}

Problem check_number(const Schema& schema, const Json& value) {
  if (schema.kind == Kind::kNumber) return value.is_number() ? Problem() : wrong(value, "a number");
  const bool whole = value.type() != Json::Type::kDouble || value.as_double() == static_cast<double>(value.as_int());
  if (!value.is_number() || !whole) return wrong(value, "an integer");
  const double at = value.as_double();
  if (schema.format == "int32" && (at < -2147483648.0 || at > 2147483647.0)) return wrong(value, "a 32 bit integer");
  return {};
}

Problem check_text(const Schema& schema, const Json& value) {
  if (!value.is_string()) return wrong("must be a string");
  const bool is_time = schema.format == "date-time" || schema.format == "micro-time";
  if (is_time && !base::parse_rfc3339_unix(value.as_string())) return wrong(value, "a time");
  return {};
}

// Looks at a value and at what is in it. Parts that were found good are known again, but for the uppermost two levels:
// those are edited by whoever reads an object, and keeping them would make each edit a copy.
struct Checker {
  CheckedValues* good;  // null: every part is looked at
  int level = 0;

  Problem check_members(const Schema& schema, const Json& value) {
    if (!value.is_object()) return wrong("must be a map");
    for (const Json::Member& member : value.members()) {
      const Schema* of = schema.element;
      if (schema.kind == Kind::kObject) {
        const SchemaField* field = schema.field(member.name());
        if (field == nullptr || member.value.is_null()) continue;
        of = field->schema;
      }
      if (Problem problem = check(*of, member.value)) return within(member.name(), std::move(problem));
    }
    return {};
  }

  Problem check_items(const Schema& schema, const Json& value) {
    if (!value.is_array()) return wrong("must be a list");
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (Problem problem = check(*schema.element, value[i]))
        return within(base::format("[{}]", i), std::move(problem));
    }
    return {};
  }

  Problem check_parts(const Schema& schema, const Json& value) {
    const bool kept = good != nullptr && level >= 2 && (value.is_object() || value.is_array());
    if (kept) {
      const Schema* const* known = good->find(value);
      if (known != nullptr && *known == &schema) return {};
    }
    ++level;
    Problem problem = schema.kind == Kind::kList ? check_items(schema, value) : check_members(schema, value);
    --level;
    if (kept && !problem) good->keep(value, &schema);
    return problem;
  }

  Problem check(const Schema& schema, const Json& value) {
    switch (schema.kind) {
      case Kind::kAny: return {};
      case Kind::kString: return check_text(schema, value);
      case Kind::kInteger:
      case Kind::kNumber: return check_number(schema, value);
      case Kind::kBoolean: return value.is_bool() ? Problem() : wrong(value, "a boolean");
      case Kind::kIntOrString:
        return value.is_int() || value.is_string() ? Problem() : wrong(value, "an integer or a string");
      case Kind::kQuantity: return Quantity::from_json(value) ? Problem() : wrong(value, "a quantity");
      case Kind::kObject:
      case Kind::kMap:
      case Kind::kList: return check_parts(schema, value);
    }
    return {};
  }
};

}  // namespace

std::optional<Cause> find_wrong_type(const Schema& schema, const Json& object) {
  return Checker{nullptr}.check(schema, object);
}

std::optional<Cause> find_wrong_type(const Schema& schema, const Json& object, CheckedValues& good) {
  return Checker{&good}.check(schema, object);
}

}  // namespace api
