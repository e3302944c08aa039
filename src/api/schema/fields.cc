// The walk over rows: decoding, encoding, and the schema that follows from a table.
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

namespace fields_detail {

void Codec<std::int32_t>::from(const Json& json, std::int32_t& value) {
  value = static_cast<std::int32_t>(std::clamp<std::int64_t>(json.as_int(), INT32_MIN, INT32_MAX));
}

}  // namespace fields_detail

void decode_rows(std::span<const FieldRow> table, const Json& json, void* object) {
  for (const FieldRow& row : table) {
    const Json* value = json.find(row.name);
    if (value && !value->is_null()) row.ops->decode(*value, row.member(object));
  }
}

Json encode_rows(std::span<const FieldRow> table, const void* object) {
  Json json = Json::object();
  for (const FieldRow& row : table) {
    const void* member = row.member(const_cast<void*>(object));
    if (row.rules.keep_empty || !row.ops->is_empty(member)) json.set(row.name, row.ops->encode(member));
  }
  return json;
}

Schema make_object_schema(std::span<const FieldRow> table, std::string_view name) {
  Schema schema;
  schema.kind = Schema::Kind::kObject;
  schema.name = name;
  for (const FieldRow& row : table) {
    SchemaField field;
    field.name = row.name;
    field.schema = &with_rules(row.ops->schema(), row.rules);
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

std::string uncovered_bytes(std::span<const FieldRow> table, void* object, std::size_t size) {
  struct Place {
    std::size_t begin, end, alignment;
  };
  std::vector<Place> places;
  std::size_t alignment_max = 1;
  for (const FieldRow& row : table) {
    const auto begin = static_cast<std::size_t>(static_cast<char*>(row.member(object)) - static_cast<char*>(object));
    places.push_back({begin, begin + row.ops->size, row.ops->alignment});
    alignment_max = std::max(alignment_max, row.ops->alignment);
  }
  std::ranges::sort(places, {}, &Place::begin);
  std::size_t at = 0;
  std::string gaps;
  const auto gap = [&](std::size_t begin, std::size_t alignment) {
    if (begin >= at + alignment) gaps += "bytes " + std::to_string(at) + " to " + std::to_string(begin) + "; ";
  };
  for (const Place& place : places) {
    gap(place.begin, place.alignment);
    at = place.end;
  }
  gap(size, alignment_max);
  return gaps;
}

}  // namespace api
