// Field tables: the rows of a type are its wire contract.
//
//   struct QueueSpec {
//     static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.QueueSpec";
//     static constexpr auto fields() {
//       return rows(field<std::int32_t>("weight", {.default_json = "1", .minimum = 1, .maximum = 65535},
//                                       "This queue's share of its parent, relative to its siblings."));
//     }
//   };
//
// The schema (schema_of<T>) follows from the rows: CRDs, OpenAPI, defaults and validation from it. Objects stay JSON,
// and tools/tidy knows each key that code reads from these rows (docs/decisions/0028). A row is type-erased, so a kind
// costs little compile time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/schema/quantity.h"
#include "api/schema/schema.h"
#include "base/time.h"

namespace api {

// Types of fields: each has a schema below, or rows of its own. Json is a raw value of any type.
using Text = std::string;
template <class T>
using List = std::vector<T>;
template <class T>
using Map = std::map<std::string, T, std::less<>>;

// Facts of one row beside its name and type. `no_limit` marks an absent bound.
inline constexpr std::int64_t kNoLimit = INT64_MIN;
struct Rules {
  std::string_view default_json = {};  // JSON text
  bool required = false;
  std::int64_t minimum = kNoLimit;
  std::int64_t maximum = kNoLimit;
  std::int64_t length_min = kNoLimit;
  std::int64_t length_max = kNoLimit;
  std::int64_t items_min = kNoLimit;
  std::string_view pattern = {};
  std::string_view enumeration = {};   // "hard|soft"
  std::string_view list_map_key = {};  // a list of objects keyed by this member; otherwise lists are atomic
  bool atomic = false;                 // an object owned whole by one manager
  std::string_view exactly_one = {};   // "a|b": exactly one of these members of the object must be there
  std::string_view core_type =
      {};  // of a raw Json member: the short name of its Kubernetes type ("core.v1.PodTemplateSpec")
};

using SchemaMaker = const Schema& (*)();

struct FieldRow {
  std::string_view name;
  SchemaMaker schema;
  Rules rules;
  std::string_view description;
};

// Ordinary code behind the templates (fields.cc). The schemas live as long as the program.
Schema make_object_schema(std::span<const FieldRow> table, std::string_view name);
const Schema& make_list_schema(const Schema& element);
const Schema& make_map_schema(const Schema& element);

template <class T>
std::span<const FieldRow> table_of() {
  static const auto table = T::fields();
  return table;
}

template <class T>
const Schema& schema_of() {
  // Never destroyed: what it refers to is kept for the life of the program.
  static const Schema& schema = *new Schema(make_object_schema(table_of<T>(), T::kSchemaName));
  return schema;
}

namespace fields_detail {

// The schema of a field's type: its rows, unless it is one of those below.
template <class T>
struct TypeSchema {
  static const Schema& get() { return schema_of<T>(); }
};
template <>
struct TypeSchema<Text> {
  static const Schema& get() { return string_schema(); }
};
template <>
struct TypeSchema<bool> {
  static const Schema& get() { return boolean_schema(); }
};
template <>
struct TypeSchema<std::int32_t> {
  static const Schema& get() { return int32_schema(); }
};
template <>
struct TypeSchema<std::int64_t> {
  static const Schema& get() { return int64_schema(); }
};
template <>
struct TypeSchema<base::Time> {  // RFC 3339
  static const Schema& get() { return time_schema(); }
};
template <>
struct TypeSchema<base::Duration> {  // Go duration text
  static const Schema& get() { return string_schema(); }
};
template <>
struct TypeSchema<Quantity> {
  static const Schema& get() { return quantity_schema(); }
};
template <>
struct TypeSchema<Json> {
  static const Schema& get() { return any_schema(); }
};
template <class T>
struct TypeSchema<List<T>> {
  static const Schema& get() {
    static const Schema& list = make_list_schema(TypeSchema<T>::get());
    return list;
  }
};
template <class T>
struct TypeSchema<Map<T>> {
  static const Schema& get() {
    static const Schema& map = make_map_schema(TypeSchema<T>::get());
    return map;
  }
};

}  // namespace fields_detail

template <class T>
constexpr FieldRow field(std::string_view name, Rules rules, std::string_view description) {
  return {name, &fields_detail::TypeSchema<T>::get, rules, description};
}
template <class T>
constexpr FieldRow field(std::string_view name, std::string_view description) {
  return field<T>(name, Rules{}, description);
}
template <class... Row>
constexpr auto rows(Row... row) {
  return std::array<FieldRow, sizeof...(Row)>{row...};
}

}  // namespace api
