// The schema that follows from a table.
#include "api/schema/fields.h"

#include <algorithm>
#include <memory>

#include "base/split.h"

namespace api {
namespace {

// Schemas made from rows live as long as the program; they are reachable from the static ones that refer to them.
const Schema& keep(Schema schema) { return *new Schema(std::move(schema)); }

// "A|B": the first may be empty.
std::vector<std::string> alternatives(std::string_view text) {
  if (text.empty()) return {};
  const std::vector<std::string_view> words = base::split(text, '|');
  return {words.begin(), words.end()};
}

// The member's schema with the row's rules on top.
const Schema& with_rules(const Schema& plain, const Rules& rules) {
  if (!rules.core_type.empty()) {
    if (!rules.core_type.starts_with('[')) return core_schema(rules.core_type);
    Schema list;
    list.kind = Schema::Kind::kList;
    list.element = &core_schema(rules.core_type.substr(1, rules.core_type.size() - 2));
    if (!rules.list_map_key.empty()) {
      list.list_type = Schema::ListType::kMap;
      list.list_keys = {std::string(rules.list_map_key)};
    }
    return keep(std::move(list));
  }
  Schema schema = plain;
  bool changed = false;
  const auto take = [&](auto& target, std::int64_t bound) {
    if (bound == kNoLimit) return;
    target = static_cast<std::remove_cvref_t<decltype(*target)>>(bound);
    changed = true;
  };
  // Bounds and patterns of a list apply to its items, except the number of items.
  Schema element = plain.element ? *plain.element : Schema();
  Schema& leaf = plain.kind == Schema::Kind::kList && plain.element->kind != Schema::Kind::kObject ? element : schema;
  take(leaf.minimum, rules.minimum);
  take(leaf.maximum, rules.maximum);
  take(leaf.length_min, rules.length_min);
  take(leaf.length_max, rules.length_max);
  take(schema.items_min, rules.items_min);
  if (!rules.pattern.empty()) {
    leaf.pattern = rules.pattern;
    changed = true;
  }
  if (!rules.enumeration.empty()) {
    leaf.enumeration = alternatives(rules.enumeration);
    changed = true;
  }
  if (!rules.list_map_key.empty()) {
    schema.list_type = Schema::ListType::kMap;
    schema.list_keys = {std::string(rules.list_map_key)};
    changed = true;
  }
  if (rules.atomic) {
    schema.atomic = true;
    changed = true;
  }
  if (!rules.exactly_one.empty()) {
    schema.exactly_one = alternatives(rules.exactly_one);
    changed = true;
  }
  if (!changed) return plain;
  if (&leaf == &element) schema.element = &keep(std::move(element));
  return keep(std::move(schema));
}

}  // namespace

Schema make_object_schema(std::span<const FieldRow> table, std::string_view name) {
  Schema schema;
  schema.kind = Schema::Kind::kObject;
  schema.name = name;
  for (const FieldRow& row : table) {
    SchemaField field;
    field.name = row.name;
    field.schema = &with_rules(row.schema(), row.rules);
    field.required = row.rules.required;
    field.description = row.description;
    if (!row.rules.default_json.empty()) {
      auto parsed = parse_json(row.rules.default_json);
      CHECK(parsed.ok());
      field.default_value = *std::move(parsed);
    }
    schema.fields.push_back(std::move(field));
  }
  std::ranges::sort(schema.fields, {}, &SchemaField::name);
  return schema;
}

const Schema& make_list_schema(const Schema& element) {
  Schema schema;
  schema.kind = Schema::Kind::kList;
  schema.element = &element;
  return keep(std::move(schema));
}

const Schema& make_map_schema(const Schema& element) {
  Schema schema;
  schema.kind = Schema::Kind::kMap;
  schema.element = &element;
  return keep(std::move(schema));
}

}  // namespace api
