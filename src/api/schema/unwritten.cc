// A walk by the schema, which knows the fields that are told apart from none (SchemaField::omits_zero).
#include "api/schema/unwritten.h"

#include <string>
#include <utility>
#include <vector>

#include "api/json/json_bulk.h"

namespace api {

namespace {

using Kind = Schema::Kind;

bool is_zero(const Json& value) {
  return (value.is_string() && value.as_string().empty()) || (value.is_bool() && !value.as_bool()) ||
         (value.is_number() && value.as_double() == 0);
}

bool is_list_or_map(const Schema& schema, const Json& value) {
  return (schema.kind == Kind::kList && value.is_array()) || (schema.kind == Kind::kMap && value.is_object());
}

bool is_unwritten(const SchemaField& field, const Json& value, Empties empties) {
  if (field.omits_zero && is_zero(value)) return true;
  if (empties == Empties::kKept || !value.empty()) return false;
  // Metadata inside an object is always written, were it empty: its writer cannot leave it out.
  return is_list_or_map(*field.schema, value) ||
         (value.is_object() && field.schema->name == "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
}

// Whether anything inside it can need a change.
bool has_parts(const Schema& schema, const Json& value) {
  return (schema.kind == Kind::kObject && value.is_object()) || is_list_or_map(schema, value);
}

void drop_in_object(const Schema& schema, Json& value, Empties empties) {
  std::vector<std::pair<std::string, Json>> changed;
  bool some_go = false;
  for (const Json::Member& member : std::as_const(value).members()) {
    const SchemaField* field = schema.field(member.name());
    if (!field) continue;
    if (!has_parts(*field->schema, member.value)) {
      some_go = some_go || is_unwritten(*field, member.value, empties);
      continue;
    }
    Json copy = member.value;
    drop_unwritten(*field->schema, copy, empties);
    some_go = some_go || is_unwritten(*field, copy, empties);
    if (!copy.same_as(member.value)) changed.emplace_back(std::string(member.name()), std::move(copy));
  }
  for (auto& [name, copy] : changed) value.set(name, std::move(copy));
  if (!some_go) return;
  erase_members(value, [&](const Json::Member& member) {
    const SchemaField* field = schema.field(member.name());
    return field && is_unwritten(*field, member.value, empties);
  });
}

void drop_in_list(const Schema& element, Json& value, Empties empties) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    const Json& item = std::as_const(value)[i];
    if (!has_parts(element, item)) continue;
    Json copy = item;
    drop_unwritten(element, copy, empties);
    if (!copy.same_as(item)) value.edit(i) = std::move(copy);
  }
}

void drop_in_map(const Schema& element, Json& value, Empties empties) {
  std::vector<std::pair<std::string, Json>> changed;
  for (const Json::Member& member : std::as_const(value).members()) {
    if (element.kind == Kind::kString && member.value.is_null()) changed.emplace_back(std::string(member.name()), "");
    if (!has_parts(element, member.value)) continue;
    Json copy = member.value;
    drop_unwritten(element, copy, empties);
    if (!copy.same_as(member.value)) changed.emplace_back(std::string(member.name()), std::move(copy));
  }
  for (auto& [name, copy] : changed) value.set(name, std::move(copy));
}

}  // namespace

void drop_unwritten(const Schema& schema, Json& value, Empties empties) {
  if (schema.kind == Kind::kObject && value.is_object())
    drop_in_object(schema, value, empties);
  else if (schema.kind == Kind::kList && value.is_array())
    drop_in_list(*schema.element, value, empties);
  else if (schema.kind == Kind::kMap && value.is_object())
    drop_in_map(*schema.element, value, empties);
}

bool same_as_written(const Schema& schema, const Json& one, const Json& other) {
  if (one == other) return true;
  Json copies[2] = {one, other};
  for (Json& copy : copies) drop_unwritten(schema, copy, Empties::kDropped);
  return copies[0] == copies[1];
}

bool same_member_as_written(const Schema& schema, std::string_view name, const Json& one, const Json& other) {
  const auto holder = [&](const Json& value) {
    Json object = Json::object();
    if (const Json* member = value.find(name)) object.set(name, *member);
    return object;
  };
  return one[name] == other[name] || same_as_written(schema, holder(one), holder(other));
}

}  // namespace api
