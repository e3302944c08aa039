// Field tables: a struct and, under it, the rows that are its wire contract.
//
//   struct QueueSpec {
//     std::int32_t weight = 0;
//     static constexpr auto fields() {
//       using Q = QueueSpec;
//       return api::rows(api::field<&Q::weight>("weight", {.default_json = "1", .minimum = 1, .maximum = 65535},
//                                               "This queue's share of its parent, relative to its siblings."));
//     }
//   };
//
// The codec (decode<T>, encode) and the schema (schema_of<T>) follow from the rows. A row is type-erased, so ordinary
// code in fields.cc walks the table and a kind costs little compile time. Absent, null and the member's initial value
// decode to the same; encode leaves out what equals the type's empty value, unless the row says `keep_empty`.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/schema/quantity.h"
#include "api/schema/schema.h"
#include "base/result.h"
#include "base/time.h"

namespace api {

// Facts of one row beside its name and member. `no_limit` marks an absent bound.
inline constexpr std::int64_t kNoLimit = INT64_MIN;
struct Rules {
  std::string_view default_json = {};  // JSON text
  bool required = false;
  bool keep_empty = false;  // written even when empty
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

// The operations of a member's C++ type that the walker needs.
struct TypeOps {
  void (*decode)(const Json& json, void* member);
  Json (*encode)(const void* member);  // null where the member is empty
  bool (*is_empty)(const void* member);
  const Schema& (*schema)();
  std::size_t size;
  std::size_t alignment;
};

struct FieldRow {
  std::string_view name;
  void* (*member)(void* object);
  const TypeOps* ops;
  Rules rules;
  std::string_view description;
};

namespace fields_detail {

template <auto Member>
struct MemberTraits;
template <class Object, class Value, Value Object::*Member>
struct MemberTraits<Member> {
  using object_type = Object;
  using value_type = Value;
  static void* get(void* object) { return &(static_cast<Object*>(object)->*Member); }
};

template <class T>
concept Tabled = requires {
  T::fields();
};

template <class T>
struct Codec;  // specialised below; a member of another type does not compile

}  // namespace fields_detail

namespace fields_detail {
template <class T>
struct Ops;
}  // namespace fields_detail

template <auto Member>
constexpr FieldRow field(std::string_view name, Rules rules, std::string_view description) {
  using Traits = fields_detail::MemberTraits<Member>;
  return {name, &Traits::get, &fields_detail::Ops<typename Traits::value_type>::kOps, rules, description};
}
template <auto Member>
constexpr FieldRow field(std::string_view name, std::string_view description) {
  return field<Member>(name, Rules{}, description);
}
template <class... Row>
constexpr auto rows(Row... row) {
  return std::array<FieldRow, sizeof...(Row)>{row...};
}

template <class T>
std::span<const FieldRow> table_of() {
  static const auto table = T::fields();
  return table;
}

// Ordinary code behind the templates (fields.cc).
void decode_rows(std::span<const FieldRow> table, const Json& json, void* object);
Json encode_rows(std::span<const FieldRow> table, const void* object);
Schema make_object_schema(std::span<const FieldRow> table, std::string_view name);
const Schema& make_list_schema(const Schema& element);
const Schema& make_map_schema(const Schema& element);
// Names the bytes of T that no row covers, given each row's place; empty when the table is complete.
std::string uncovered_bytes(std::span<const FieldRow> table, void* object, std::size_t size);

template <class T>
const Schema& schema_of() {
  // Never destroyed: what it refers to is kept for the life of the program.
  static const Schema& schema = *new Schema(make_object_schema(table_of<T>(), T::kSchemaName));
  return schema;
}
template <class T>
T decode(const Json& json) {
  T object{};
  decode_rows(table_of<T>(), json, &object);
  return object;
}
template <class T>
Json encode(const T& object) {
  return encode_rows(table_of<T>(), &object);
}

namespace fields_detail {

// Each Codec has: from(json, value), to(value), empty(value), schema().
template <>
struct Codec<std::string> {
  static void from(const Json& json, std::string& value) { value = json.as_string(); }
  static Json to(const std::string& value) { return Json(value); }
  static bool empty(const std::string& value) { return value.empty(); }
  static const Schema& schema() { return string_schema(); }
};
template <>
struct Codec<bool> {
  static void from(const Json& json, bool& value) { value = json.as_bool(); }
  static Json to(bool value) { return Json(value); }
  static bool empty(bool value) { return !value; }
  static const Schema& schema() { return boolean_schema(); }
};
template <>
struct Codec<std::int32_t> {
  static void from(const Json& json, std::int32_t& value);  // saturates
  static Json to(std::int32_t value) { return Json(value); }
  static bool empty(std::int32_t value) { return value == 0; }
  static const Schema& schema() { return int32_schema(); }
};
template <>
struct Codec<std::int64_t> {
  static void from(const Json& json, std::int64_t& value) { value = json.as_int(); }
  static Json to(std::int64_t value) { return Json(value); }
  static bool empty(std::int64_t value) { return value == 0; }
  static const Schema& schema() { return int64_schema(); }
};
template <>
struct Codec<base::Time> {  // RFC 3339; unset and unreadable are zero
  static void from(const Json& json, base::Time& value) {
    value = base::parse_rfc3339(json.as_string()).value_or(base::Time{});
  }
  static Json to(base::Time value) { return Json(base::format_rfc3339(value)); }
  static bool empty(base::Time value) { return !value.is_set(); }
  static const Schema& schema() { return time_schema(); }
};
template <>
struct Codec<base::Duration> {  // Go duration text
  static void from(const Json& json, base::Duration& value) {
    value = base::parse_go_duration(json.as_string()).value_or(base::Duration{});
  }
  static Json to(base::Duration value) { return Json(base::format_go_duration(value)); }
  static bool empty(base::Duration value) { return value.ns == 0; }
  static const Schema& schema() { return string_schema(); }
};
template <>
struct Codec<Quantity> {
  static void from(const Json& json, Quantity& value) { value = Quantity::from_json(json).value_or(Quantity()); }
  static Json to(const Quantity& value) { return value.to_json(); }
  static bool empty(const Quantity& value) { return value.is_zero(); }
  static const Schema& schema() { return quantity_schema(); }
};
template <>
struct Codec<Json> {  // raw: kept as it is
  static void from(const Json& json, Json& value) { value = json; }
  static Json to(const Json& value) { return value; }
  static bool empty(const Json& value) { return value.is_null(); }
  static const Schema& schema() { return any_schema(); }
};
template <class T>
struct Codec<std::optional<T>> {
  static void from(const Json& json, std::optional<T>& value) {
    if (json.is_null()) return value.reset();
    Codec<T>::from(json, value.emplace());
  }
  static Json to(const std::optional<T>& value) { return value ? Codec<T>::to(*value) : Json(); }
  static bool empty(const std::optional<T>& value) { return !value.has_value(); }
  static const Schema& schema() { return Codec<T>::schema(); }
};
template <class T>
struct Codec<std::vector<T>> {
  static void from(const Json& json, std::vector<T>& value) {
    value.clear();
    for (const Json& item : json.items()) Codec<T>::from(item, value.emplace_back());
  }
  static Json to(const std::vector<T>& value) {
    Json list = Json::array();
    for (const T& item : value) list.push_back(Codec<T>::to(item));
    return list;
  }
  static bool empty(const std::vector<T>& value) { return value.empty(); }
  static const Schema& schema() {
    static const Schema& list = make_list_schema(Codec<T>::schema());
    return list;
  }
};
template <class T>
struct Codec<std::map<std::string, T, std::less<>>> {
  using Map = std::map<std::string, T, std::less<>>;
  static void from(const Json& json, Map& value) {
    value.clear();
    for (const Json::Member& member : json.members()) Codec<T>::from(member.value, value[std::string(member.name())]);
  }
  static Json to(const Map& value) {
    Json object = Json::object();
    for (const auto& [key, item] : value) object.set(key, Codec<T>::to(item));
    return object;
  }
  static bool empty(const Map& value) { return value.empty(); }
  static const Schema& schema() {
    static const Schema& map = make_map_schema(Codec<T>::schema());
    return map;
  }
};
template <Tabled T>
struct Codec<T> {
  static void from(const Json& json, T& value) { decode_rows(table_of<T>(), json, &value); }
  static Json to(const T& value) { return encode_rows(table_of<T>(), &value); }
  static bool empty(const T& value) { return to(value).empty(); }
  static const Schema& schema() { return schema_of<T>(); }
};

template <class T>
struct Ops {
  static void decode(const Json& json, void* member) { Codec<T>::from(json, *static_cast<T*>(member)); }
  static Json encode(const void* member) { return Codec<T>::to(*static_cast<const T*>(member)); }
  static bool is_empty(const void* member) { return Codec<T>::empty(*static_cast<const T*>(member)); }
  static constexpr TypeOps kOps{&decode, &encode, &is_empty, &Codec<T>::schema, sizeof(T), alignof(T)};
};

}  // namespace fields_detail

}  // namespace api
