// Schemas: what the wire form of a type is. Pruning, defaulting, validation, strategic merge, server-side apply,
// OpenAPI, CRDs and `explain` all walk the same graph. It is built once at start from two sources, the field tables of
// our own types (api/schema/fields.h) and the compact tables of Kubernetes' types (api/core/), and never changes
// afterwards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace api {

struct Schema;

struct SchemaField {
  std::string name;
  const Schema* schema = nullptr;
  bool required = false;
  int number = 0;  // of the protobuf field; 0: none
  // The numbers of the messages around it that JSON writes in place, the outermost first; 0: none.
  std::array<std::int16_t, 2> outer_numbers = {};
  bool omits_zero = false;  // JSON leaves out an empty text, a 0 and a false, which protobuf has
  Json default_value = {};  // null: none
  std::string description = {};
};

struct Schema {
  enum class Kind : std::uint8_t {
    kObject,
    kMap,
    kList,
    kString,
    kInteger,
    kNumber,
    kBoolean,
    kIntOrString,
    kQuantity,
    kAny
  };
  enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

  Kind kind = Kind::kAny;
  std::string name = {};                 // of a definition: "io.k8s.api.core.v1.Container"; empty: written in place
  std::string format = {};               // "int32", "int64", "double", "date-time", "byte"
  std::vector<SchemaField> fields = {};  // kObject, sorted by name
  const Schema* element = nullptr;       // kList, kMap
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_keys = {};  // ListType::kMap
  bool atomic = false;                      // an object or map that one manager owns whole
  // Strategic merge: lists with a merge key (or of scalars, with an empty key) merge; others are replaced.
  bool patch_merge = false;
  std::string patch_merge_key = {};
  bool patch_retain_keys = false;
  // Validation.
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  std::optional<std::int64_t> length_min = {};
  std::optional<std::int64_t> length_max = {};
  std::optional<std::int64_t> items_min = {};
  std::string pattern = {};
  std::vector<std::string> enumeration = {};
  std::vector<std::string> exactly_one = {};  // kObject: exactly one of these members must be there
  std::string description = {};

  const SchemaField* field(std::string_view name) const;  // null when unknown
};

// The two rules behind Schema::exactly_one, as CRDs state them in CEL; api/cel/schema_rules.h judges by them.
struct SchemaRule {
  std::string rule;
  std::string message;
};
std::vector<SchemaRule> rules_of(const Schema& schema);

// Kubernetes' own definitions, by their short names ("core.v1.Pod", "meta.v1.ObjectMeta"). CHECKs that the name exists.
const Schema& core_schema(std::string_view short_name);
std::vector<const Schema*> all_core_schemas();
// The basic shapes.
const Schema& string_schema();
const Schema& int32_schema();
const Schema& int64_schema();
const Schema& boolean_schema();
const Schema& time_schema();
const Schema& micro_time_schema();
const Schema& quantity_schema();
const Schema& int_or_string_schema();
const Schema& any_schema();
const Schema& double_schema();
const Schema& bytes_schema();

// How an object of a kind is walked.
struct WalkOptions {
  // A custom resource: metadata below the root is "embedded" and keeps only what a CRD keeps of it, nulls are dropped
  // where a default stands, and values must have exactly the schema's type.
  bool custom_resource = false;
};

// Removes the fields the schema does not know. Appends the path of each to `removed` if given.
void prune(const Schema& schema, Json& object, WalkOptions options, std::vector<std::string>* removed);
// Fills absent members that have a default.
void apply_defaults(const Schema& schema, Json& object, WalkOptions options);
// The first value that is not of its schema's type, whatever else may be wrong; unknown members and nulls are skipped.
std::optional<base::Cause> find_wrong_type(const Schema& schema, const Json& object);
// Types, required members, enums, patterns, ranges, list keys. All problems, each with its path. Rules that are
// expressions come behind these (api/cel/schema_rules.h).
void validate(const Schema& schema, const Json& object, WalkOptions options, std::vector<base::Cause>& causes);

}  // namespace api
