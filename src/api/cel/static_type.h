// The types of expressions before they are evaluated, as cel-go's checker names and compares them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/cel/value.h"
#include "api/schema/structural/structural.h"

namespace api::cel {

enum class TypeKind : std::uint8_t {
  kUnknown,  // this checker does not know it: it fits everywhere
  kDyn,      // only the value says it: it fits everywhere but as the result of a rule
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kNull,
  kDuration,
  kTimestamp,
  kType,      // the value is a type: `item`
  kList,      // of `item`
  kMap,       // from `key` to `item`
  kOptional,  // of `item`
  kObject,    // of `schema`
  kMetadata,  // of an object: its names
  kNamed,     // "kubernetes.Quantity"
  kVariable,  // of a signature: whatever it is first, it is everywhere
};

struct StaticType {
  TypeKind kind = TypeKind::kUnknown;
  const Structural* schema = nullptr;
  bool is_whole = false;       // an object that has apiVersion, kind and metadata
  std::string_view name = {};  // of a constant
  std::shared_ptr<const StaticType> key = {}, item = {};
  int depth = 0;  // of the types in it

  bool is(TypeKind other) const { return kind == other; }
  bool is_open() const { return kind == TypeKind::kUnknown || kind == TypeKind::kDyn; }
};

// A type in which others are nested more deeply than any schema needs is kUnknown: maps from maps to maps take twice as
// long to compare with each level.
inline constexpr int kTypeDepthMax = 10;
StaticType list_of(StaticType item);
StaticType map_of(StaticType key, StaticType item);
StaticType optional_of(StaticType item);
StaticType type_of_type(StaticType item);
// The type of a constant such as `int`, which is a type itself.
StaticType type_of_constant(TypeName constant);

// The type that values of a schema have; `is_root`: of a whole object. kNull of a place that the server does not show
// to expressions, since its schema has no type.
StaticType type_of(const Structural& schema, bool is_root);

// Whether values of one type may stand where the other is wanted, and be compared with it. Types are values of one
// type, whatever they are types of; only in the literal of a list or map they must be the same (as cel-go has it).
bool fits(const StaticType& a, const StaticType& b);

// As messages have it: "list(string)".
std::string text_of(const StaticType& type);

}  // namespace api::cel
