// Structural schemas: what custom resources of a stranger may hold, as a CustomResourceDefinition says it (a schema of
// OpenAPI v3 in which every value has one place that gives its type).
//
// Our own kinds have api::Schema, which is smaller and knows how lists merge; to_schema() gives a stranger's kind that
// form, for patches and field ownership.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/schema/pattern.h"
#include "api/schema/schema.h"
#include "base/result.h"

namespace api {

// A rule of x-kubernetes-validations, as it is written.
struct StructuralRule {
  std::string rule;
  std::string message;
  std::string message_expression;
  std::string reason = {};  // empty: FieldValueInvalid
  std::string field_path = {};
  std::optional<bool> optional_old_self = {};
};

// One place of a schema. Owns what is below it; immutable once read, and then any thread's.
struct Structural {
  enum class Type : std::uint8_t { kAny, kObject, kArray, kString, kInteger, kNumber, kBoolean };
  struct Member;

  // The limits of values beside their structure.
  struct Limits {
    std::string format = {};
    std::optional<double> minimum = {}, maximum = {}, multiple_of = {};
    bool above_minimum = false, below_maximum = false;  // exclusive
    std::optional<std::int64_t> length_min = {}, length_max = {};
    std::optional<std::int64_t> items_min = {}, items_max = {};
    std::optional<std::int64_t> members_min = {}, members_max = {};
    std::string pattern_text = {};
    std::shared_ptr<const Pattern> pattern = {};  // null: none
    std::vector<Json> enumeration = {};
    std::vector<std::string> required = {};
    std::vector<Structural> all_of = {}, any_of = {}, one_of = {};
    std::unique_ptr<Structural> none_of = {};  // "not"
  };

  Type type = Type::kAny;
  bool nullable = false;
  bool int_or_string = false;
  bool preserves_unknown = false;
  bool embedded = false;    // a whole object with apiVersion, kind and metadata
  bool atomic = false;      // an object or map that one manager owns whole
  bool any_member = false;  // additionalProperties: true
  Schema::ListType list_type = Schema::ListType::kAtomic;
  std::vector<std::string> list_keys = {};
  std::vector<Member> members;  // sorted by name
  std::unique_ptr<Structural> items = {};
  std::unique_ptr<Structural> additional = {};  // of the members that have no place of their own
  Json default_value = {};
  bool has_default = false;
  std::unique_ptr<Limits> limits = {};  // null: none
  std::vector<StructuralRule> rules = {};

  const Structural* member(std::string_view name) const;  // null when unknown
};

struct Structural::Member {
  std::string name;
  Structural schema;
};

// Reads an openAPIV3Schema and says what a Kubernetes server would refuse of it; `path` is where it stands
// ("spec.versions[0].schema.openAPIV3Schema"). Parts that it cannot read are left out, so that the result can be walked
// whatever was found.
Structural read_structural(const Json& schema, const std::string& path, std::vector<base::Cause>& causes);

// The walks of a custom resource; `root` is the schema of a whole object, whose metadata is Kubernetes' own business.

// Takes out what the schema does not name. Appends the path of each to `removed` if given.
void prune(const Structural& root, Json& object, std::vector<std::string>* removed);
// Takes out nulls where none may be, and fills absent members that have a default.
void apply_defaults(const Structural& root, Json& object);
// Types, required members, limits, keys of lists: all problems in the words of Kubernetes, each with its path, but for
// those of values that are as they were `before` (null: a new object). Rules that are expressions come behind these
// (api/cel/structural_rules.h).
void validate(const Structural& root, const Json& object, const Json& before, std::vector<base::Cause>& causes);
// The same of one value that is not a whole object, such as a default, but for keys of lists.
void validate_value(const Structural& schema, const Json& value, const std::string& path,
                    std::vector<base::Cause>& causes);

// The other form of a schema, and what it is made of.
struct SchemaCopy {
  std::deque<Schema> parts;
  const Schema* root = nullptr;
};
SchemaCopy to_schema(const Structural& root);

}  // namespace api
