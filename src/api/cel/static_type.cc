// The types of expressions before they are evaluated, as cel-go's checker names and compares them.
#include "api/cel/static_type.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace api::cel {

namespace {

std::shared_ptr<const StaticType> shared(StaticType type) {
  return std::make_shared<const StaticType>(std::move(type));
}

}  // namespace

StaticType list_of(StaticType item) {
  const int depth = item.depth + 1;
  if (depth > kTypeDepthMax) return {};
  return {.kind = TypeKind::kList, .item = shared(std::move(item)), .depth = depth};
}

StaticType map_of(StaticType key, StaticType item) {
  const int depth = std::max(key.depth, item.depth) + 1;
  if (depth > kTypeDepthMax) return {};
  return {.kind = TypeKind::kMap, .key = shared(std::move(key)), .item = shared(std::move(item)), .depth = depth};
}

StaticType optional_of(StaticType item) {
  const int depth = item.depth + 1;
  if (depth > kTypeDepthMax) return {};
  return {.kind = TypeKind::kOptional, .item = shared(std::move(item)), .depth = depth};
}

StaticType type_of_type(StaticType item) {
  const int depth = item.depth + 1;
  if (depth > kTypeDepthMax) return {};
  return {.kind = TypeKind::kType, .item = shared(std::move(item)), .depth = depth};
}

StaticType type_of_constant(TypeName constant) {
  static constexpr std::pair<std::string_view, TypeKind> kKinds[] = {
      {"bool", TypeKind::kBool},
      {"int", TypeKind::kInt},
      {"uint", TypeKind::kUint},
      {"double", TypeKind::kDouble},
      {"string", TypeKind::kString},
      {"bytes", TypeKind::kBytes},
      {"null_type", TypeKind::kNull},
      {"type", TypeKind::kType},
      {"google.protobuf.Duration", TypeKind::kDuration},
      {"google.protobuf.Timestamp", TypeKind::kTimestamp}};
  for (const auto& [name, kind] : kKinds)
    if (name == constant.name) return type_of_type({.kind = kind});
  const StaticType dyn{.kind = TypeKind::kDyn};
  if (constant.name == "list") return type_of_type(list_of(dyn));
  if (constant.name == "map") return type_of_type(map_of(dyn, dyn));
  return {.kind = TypeKind::kType};
}

namespace {

StaticType type_of_text(const Structural& schema) {
  const std::string_view format = schema.limits ? std::string_view(schema.limits->format) : std::string_view();
  if (format == "byte") return {.kind = TypeKind::kBytes};
  if (format == "duration") return {.kind = TypeKind::kDuration};
  if (format == "date" || format == "date-time") return {.kind = TypeKind::kTimestamp};
  return {.kind = TypeKind::kString};
}

StaticType type_of_object(const Structural& schema, bool is_root) {
  const StaticType hidden{.kind = TypeKind::kNull};
  if (schema.additional) {
    StaticType item = type_of(*schema.additional, false);
    return item.is(TypeKind::kNull) ? hidden : map_of({.kind = TypeKind::kString}, std::move(item));
  }
  if (schema.any_member) return hidden;
  return {.kind = TypeKind::kObject, .schema = &schema, .is_whole = is_root || schema.embedded};
}

}  // namespace

StaticType type_of(const Structural& schema, bool is_root) {
  if (schema.int_or_string) return {.kind = TypeKind::kDyn};
  switch (schema.type) {
    case Structural::Type::kObject: return type_of_object(schema, is_root);
    case Structural::Type::kArray: {
      StaticType item = schema.items ? type_of(*schema.items, false) : StaticType{.kind = TypeKind::kNull};
      return item.is(TypeKind::kNull) ? item : list_of(std::move(item));
    }
    case Structural::Type::kString: return type_of_text(schema);
    case Structural::Type::kInteger: return {.kind = TypeKind::kInt};
    case Structural::Type::kNumber: return {.kind = TypeKind::kDouble};
    case Structural::Type::kBoolean: return {.kind = TypeKind::kBool};
    default: return {.kind = TypeKind::kNull};
  }
}

namespace {

// Types whose values may be null.
bool is_message(const StaticType& type) {
  return type.is(TypeKind::kObject) || type.is(TypeKind::kMetadata) || type.is(TypeKind::kDuration) ||
         type.is(TypeKind::kTimestamp) || type.is(TypeKind::kNamed);
}

bool parts_fit(const std::shared_ptr<const StaticType>& a, const std::shared_ptr<const StaticType>& b) {
  return a == b || a == nullptr || b == nullptr || fits(*a, *b);
}

}  // namespace

bool fits(const StaticType& a, const StaticType& b) {
  if (a.is_open() || b.is_open()) return true;
  if (a.is(TypeKind::kNull) || b.is(TypeKind::kNull)) return a.kind == b.kind || is_message(a) || is_message(b);
  if (a.is(TypeKind::kType) && b.is(TypeKind::kType)) return true;
  return a.kind == b.kind && a.schema == b.schema && a.name == b.name && parts_fit(a.key, b.key) &&
         parts_fit(a.item, b.item);
}

std::string text_of(const StaticType& type) {
  switch (type.kind) {
    case TypeKind::kBool: return "bool";
    case TypeKind::kInt: return "int";
    case TypeKind::kUint: return "uint";
    case TypeKind::kDouble: return "double";
    case TypeKind::kString: return "string";
    case TypeKind::kBytes: return "bytes";
    case TypeKind::kNull: return "null";
    case TypeKind::kDuration: return "google.protobuf.Duration";
    case TypeKind::kTimestamp: return "google.protobuf.Timestamp";
    case TypeKind::kType: return type.item ? base::format("type({})", text_of(*type.item)) : "type";
    case TypeKind::kList: return base::format("list({})", text_of(*type.item));
    case TypeKind::kMap: return base::format("map({}, {})", text_of(*type.key), text_of(*type.item));
    case TypeKind::kOptional: return base::format("optional_type({})", text_of(*type.item));
    case TypeKind::kObject: return "object";
    case TypeKind::kMetadata: return "metadata";
    case TypeKind::kNamed: return std::string(type.name);
    default: return "dyn";
  }
}

}  // namespace api::cel
