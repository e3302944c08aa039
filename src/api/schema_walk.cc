// Pruning, defaulting and validation: three walks of a value along its schema.
#include <re2/re2.h>

#include <map>
#include <memory>
#include <set>

#include "api/quantity.h"
#include "api/schema.h"
#include "base/format.h"
#include "base/time.h"

namespace api {
namespace {

using base::Cause;
using Kind = Schema::Kind;

constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

// What a CRD keeps of metadata that is not the object's own.
bool kept_in_embedded_metadata(std::string_view name) {
  return name == "annotations" || name == "finalizers" || name == "labels" || name == "name" || name == "namespace";
}

std::string join(const std::string& path, std::string_view name) {
  if (path.empty()) return std::string(name);
  return path + "." + std::string(name);
}

struct Pruner {
  WalkOptions options;
  std::vector<std::string>* removed;

  // Returns whether `value` changed, so that unchanged parts stay shared.
  void walk(const Schema& schema, Json& value, const std::string& path, int depth) {
    if (schema.kind == Kind::kObject && value.is_object()) return object(schema, value, path, depth);
    if (schema.kind == Kind::kList && value.is_array() && interesting(*schema.element)) {
      for (std::size_t i = 0; i < value.size(); ++i)
        child(*schema.element, value, i, path + "[" + std::to_string(i) + "]", depth);
    } else if (schema.kind == Kind::kMap && value.is_object() && interesting(*schema.element)) {
      std::vector<std::string> names;
      for (const Json::Member& member : value.members()) names.emplace_back(member.name());
      for (const std::string& name : names) child(*schema.element, value, name, join(path, name), depth);
    }
  }

 private:
  static bool interesting(const Schema& schema) {
    return schema.kind == Kind::kObject || schema.kind == Kind::kList || schema.kind == Kind::kMap;
  }

  template <class Key>
  void child(const Schema& schema, Json& parent, const Key& key, const std::string& path, int depth) {
    Json copy = [&] {
      if constexpr (std::is_same_v<Key, std::size_t>)
        return parent[key];
      else
        return parent[std::string_view(key)];
    }();
    const Json before = copy;
    walk(schema, copy, path, depth + 1);
    if (!copy.same_as(before)) parent.edit(key) = std::move(copy);
  }

  void object(const Schema& schema, Json& value, const std::string& path, int depth) {
    const bool embedded = options.custom_resource && schema.name == kObjectMeta && depth > 1;
    std::vector<std::string> unknown;
    std::vector<std::string> nested;
    for (const Json::Member& member : value.members()) {
      const bool type_meta =
          depth == 0 && (member.name() == "apiVersion" || member.name() == "kind" || member.name() == "metadata");
      const SchemaField* field = schema.field(member.name());
      if ((!field && !type_meta) || (embedded && !kept_in_embedded_metadata(member.name())))
        unknown.emplace_back(member.name());
      else if (field && interesting(*field->schema))
        nested.emplace_back(member.name());
    }
    for (const std::string& name : unknown) {
      value.erase(name);
      if (removed) removed->push_back(join(path, name));
    }
    for (const std::string& name : nested) child(*schema.field(name)->schema, value, name, join(path, name), depth);
  }
};

void fill(const Schema& schema, Json& value, WalkOptions options) {
  if (schema.kind == Kind::kObject && value.is_object()) {
    for (const SchemaField& field : schema.fields) {
      const Json* present = value.find(field.name);
      if (options.custom_resource && present && present->is_null()) {
        // A CRD's null is dropped where the field is not nullable; a default then applies.
        value.erase(field.name);
        present = nullptr;
      }
      if (!present || present->is_null()) {
        if (!field.default_value.is_null()) value.set(field.name, field.default_value);
        continue;
      }
      Json copy = *present;
      fill(*field.schema, copy, options);
      if (!copy.same_as(*value.find(field.name))) value.set(field.name, std::move(copy));
    }
  } else if (schema.kind == Kind::kList && value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      Json copy = value[i];
      fill(*schema.element, copy, options);
      if (!copy.same_as(value[i])) value.edit(i) = std::move(copy);
    }
  } else if (schema.kind == Kind::kMap && value.is_object() && schema.element->kind == Kind::kObject) {
    std::vector<std::string> names;
    for (const Json::Member& member : value.members()) names.emplace_back(member.name());
    for (const std::string& name : names) fill(*schema.element, value.edit(name), options);
  }
}

// Patterns are compiled once a thread; the set of schemas is fixed.
const RE2& pattern_for(const std::string& text) {
  thread_local std::map<std::string, std::unique_ptr<RE2>> compiled;
  auto& slot = compiled[text];
  if (!slot) slot = std::make_unique<RE2>(text, RE2::Quiet);
  return *slot;
}

std::string_view type_name(const Json& value) {
  switch (value.type()) {
    case Json::Type::kNull: return "null";
    case Json::Type::kBool: return "boolean";
    case Json::Type::kInt:
    case Json::Type::kUint: return "integer";
    case Json::Type::kDouble: return "number";
    case Json::Type::kString: return "string";
    case Json::Type::kArray: return "array";
    case Json::Type::kObject: return "object";
  }
  return "null";
}

struct Validator {
  WalkOptions options;
  std::vector<Cause>& causes;

  void add(std::string_view reason, const std::string& path, std::string message) {
    causes.push_back({std::string(reason), std::move(message), path});
  }
  void wrong_type(const std::string& path, const Json& value, std::string_view wanted) {
    add("FieldValueTypeInvalid", path,
        base::format("Invalid value: \"{}\": {} in body must be of type {}: \"{}\"", type_name(value), path, wanted,
                     type_name(value)));
  }

  void walk(const Schema& schema, const Json& value, const std::string& path, int depth) {
    switch (schema.kind) {
      case Kind::kAny: return;
      case Kind::kString:
        if (!value.is_string()) return wrong_type(path, value, "string");
        return text(schema, value, path);
      case Kind::kInteger:
        if (!value.is_number() ||
            (value.type() == Json::Type::kDouble && value.as_double() != static_cast<double>(value.as_int())))
          return wrong_type(path, value, "integer");
        return number(schema, value, path);
      case Kind::kNumber:
        if (!value.is_number()) return wrong_type(path, value, "number");
        return number(schema, value, path);
      case Kind::kBoolean:
        if (!value.is_bool()) wrong_type(path, value, "boolean");
        return;
      case Kind::kIntOrString:
        if (!value.is_string() && !value.is_int()) wrong_type(path, value, "integer,string");
        return;
      case Kind::kQuantity:
        if (!Quantity::from_json(value))
          add("FieldValueInvalid", path,
              base::format("Invalid value: {}: quantities must match the regular expression "
                           "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
                           value.dump()));
        return;
      case Kind::kObject: return object(schema, value, path, depth);
      case Kind::kList: return list(schema, value, path, depth);
      case Kind::kMap:
        if (!value.is_object()) return wrong_type(path, value, "object");
        for (const Json::Member& member : value.members())
          walk(*schema.element, member.value, join(path, member.name()), depth + 1);
        return;
    }
  }

  void text(const Schema& schema, const Json& value, const std::string& path) {
    const std::string_view content = value.as_string();
    if (!schema.enumeration.empty()) {
      bool found = false;
      std::string all;
      for (const std::string& choice : schema.enumeration) {
        found = found || choice == content;
        all += (all.empty() ? "\"" : ", \"") + choice + "\"";
      }
      if (!found)
        add("FieldValueNotSupported", path,
            base::format("Unsupported value: \"{}\": supported values: {}", content, all));
    }
    const auto length = static_cast<std::int64_t>(content.size());
    if (schema.length_max && length > *schema.length_max)
      add("FieldValueTooLong", path, base::format("Too long: may not be more than {} bytes", *schema.length_max));
    if (schema.length_min && length < *schema.length_min)
      add("FieldValueInvalid", path,
          base::format("Invalid value: \"{}\": {} in body should be at least {} chars long", content, path,
                       *schema.length_min));
    if (!schema.pattern.empty() &&
        !RE2::PartialMatch(re2::StringPiece(content.data(), content.size()), pattern_for(schema.pattern)))
      add("FieldValueInvalid", path,
          base::format("Invalid value: \"{}\": {} in body should match '{}'", content, path, schema.pattern));
    if (schema.format == "date-time" && !base::parse_rfc3339(content))
      add("FieldValueInvalid", path,
          base::format("Invalid value: \"{}\": {} in body must be of type date-time: \"{}\"", content, path, content));
  }

  void number(const Schema& schema, const Json& value, const std::string& path) {
    const double at = value.as_double();
    if (schema.minimum && at < *schema.minimum)
      add("FieldValueInvalid", path,
          base::format("Invalid value: {}: {} in body should be greater than or equal to {}", value.dump(), path,
                       *schema.minimum));
    if (schema.maximum && at > *schema.maximum)
      add("FieldValueInvalid", path,
          base::format("Invalid value: {}: {} in body should be less than or equal to {}", value.dump(), path,
                       *schema.maximum));
    if (schema.format == "int32" && (at < -2147483648.0 || at > 2147483647.0))
      add("FieldValueInvalid", path,
          base::format("Invalid value: {}: {} in body must be of type int32: \"integer\"", value.dump(), path));
  }

  void object(const Schema& schema, const Json& value, const std::string& path, int depth) {
    if (!value.is_object()) return wrong_type(path, value, "object");
    for (const SchemaField& field : schema.fields) {
      const Json* member = value.find(field.name);
      if (!member || member->is_null()) {
        // The server words what metadata requires.
        if (field.required && !path.starts_with("metadata."))
          add("FieldValueRequired", join(path, field.name), "Required value");
        continue;
      }
      walk(*field.schema, *member, join(path, field.name), depth + 1);
    }
    if (!schema.exactly_one.empty()) exactly_one(schema, value, path);
  }

  void exactly_one(const Schema& schema, const Json& value, const std::string& path) {
    std::size_t present = 0;
    for (const std::string& name : schema.exactly_one) {
      const Json* member = value.find(name);
      present += member != nullptr && !member->is_null();
    }
    if (present == 1) return;
    add("FieldValueInvalid", path,
        base::format("Invalid value: \"object\": {}", rules_of(schema)[present == 0 ? 0 : 1].message));
  }

  void list(const Schema& schema, const Json& value, const std::string& path, int depth) {
    if (!value.is_array()) return wrong_type(path, value, "array");
    if (schema.items_min && static_cast<std::int64_t>(value.size()) < *schema.items_min)
      add("FieldValueInvalid", path,
          base::format("Invalid value: {}: {} in body should have at least {} items", value.size(), path,
                       *schema.items_min));
    std::set<std::string> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string item_path = path + "[" + std::to_string(i) + "]";
      walk(*schema.element, value[i], item_path, depth + 1);
      // Kubernetes' own kinds have rules of their own for equal items.
      if (schema.list_type == Schema::ListType::kAtomic || !options.custom_resource || path.starts_with("metadata."))
        continue;
      std::string key;
      if (schema.list_type == Schema::ListType::kSet) {
        key = value[i].dump();
      } else {
        for (const std::string& name : schema.list_keys) {
          const Json* part = value[i].find(name);
          const SchemaField* field = schema.element->field(name);
          key += (part ? *part : field ? field->default_value : Json()).dump() + ",";
        }
      }
      if (!seen.insert(key).second)
        add("FieldValueDuplicate", item_path, base::format("Duplicate value: {}", value[i].dump()));
    }
  }
};

}  // namespace

std::vector<SchemaRule> rules_of(const Schema& schema) {
  if (schema.exactly_one.empty()) return {};
  std::string any, count, one, only;
  for (std::size_t i = 0; i < schema.exactly_one.size(); ++i) {
    std::string word = schema.exactly_one[i];
    const bool first = i == 0, last = i + 1 == schema.exactly_one.size();
    any += base::format("{}has(self.{})", first ? "" : " || ", word);
    count += base::format("{}(has(self.{}) ? 1 : 0)", first ? "" : " + ", word);
    word[0] = static_cast<char>(word[0] - 'a' + 'A');
    one += (first ? "" : " or ") + word;
    only += (first ? "" : last ? ", or " : ", ") + word;
  }
  return {{any, base::format("Either {} must be specified", one)},
          {count + " <= 1", base::format("Only one of {} can be specified", only)}};
}

void prune(const Schema& schema, Json& object, WalkOptions options, std::vector<std::string>* removed) {
  Pruner{options, removed}.walk(schema, object, "", 0);
}

void apply_defaults(const Schema& schema, Json& object, WalkOptions options) { fill(schema, object, options); }

void validate(const Schema& schema, const Json& object, WalkOptions options, std::vector<Cause>& causes) {
  Validator{options, causes}.walk(schema, object, "", 0);
}

}  // namespace api
