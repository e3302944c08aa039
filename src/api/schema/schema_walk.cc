// Pruning, defaulting and validation: three walks of a value along its schema.
#include <re2/re2.h>

#include <map>
#include <memory>
#include <set>

#include "api/json/json_bulk.h"
#include "api/json/problems.h"
#include "api/json/work.h"
#include "api/schema/quantity.h"
#include "api/schema/schema.h"
#include "base/format.h"
#include "base/trim.h"
#include "base/unix_time.h"
#include "base/utf8.h"

namespace api {
namespace {

using base::Cause;
using Kind = Schema::Kind;

constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

constexpr std::string_view kSchemaProps = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

// Kubernetes decodes these members of a definition's schema by hand, so that a strict check does not look below them:
// an unknown field there goes and is not named.
bool decoded_leniently(const Schema& schema, std::string_view member) {
  return schema.name == kSchemaProps && (member == "items" || member == "additionalProperties");
}

// A number without a fraction, of 64 bits.
bool is_whole(const Json& value) {
  if (!value.is_number()) return false;
  if (value.is_int()) return true;
  const double at = value.as_double();
  return at >= -9223372036854775808.0 && at < 9223372036854775808.0 && at == static_cast<double>(value.as_int());
}

// Kubernetes' own times have a large T and Z.
bool is_small(std::string_view time) { return time.find_first_of("tz") != std::string_view::npos; }

// The fields that a CRD keeps of metadata that is not the object's own.
bool kept_in_embedded_metadata(std::string_view name) {
  return name == "annotations" || name == "finalizers" || name == "labels" || name == "name" || name == "namespace";
}

// The place of a walk. It becomes text only where something is to be said: names may be long, and lists longer.
struct Place {
  const Place* above = nullptr;  // null: the root
  std::string_view name = {};    // of a member; empty: an item
  std::size_t index = 0;
  bool in_metadata = false;  // below the member "metadata" of the root

  Place member(std::string_view of) const {
    return {this, of, 0, in_metadata || (above && !above->above && name == "metadata")};
  }
  Place item(std::size_t at) const { return {this, {}, at, in_metadata}; }

  std::string text() const {
    constexpr std::size_t kNameMax = 256;
    if (!above) return {};
    std::string out = above->text();
    if (out.size() > kShownBytesMax) return out;
    if (name.data() == nullptr) return out + "[" + std::to_string(index) + "]";
    if (!out.empty()) out += '.';
    return out.append(base::utf8_prefix(name, kNameMax));
  }
};

struct Pruner {
  WalkOptions options;
  std::vector<std::string>* removed;

  // Unchanged parts stay shared.
  void walk(const Schema& schema, Json& value, const Place& place, int depth) {
    count_work(1);
    if (schema.kind == Kind::kObject && value.is_object()) return object(schema, value, place, depth);
    if (schema.kind == Kind::kList && value.is_array() && interesting(*schema.element)) {
      for (std::size_t i = 0; i < value.size(); ++i) child(*schema.element, value, i, place.item(i), depth);
    } else if (schema.kind == Kind::kMap && value.is_object() && interesting(*schema.element)) {
      std::vector<std::string> names;
      for (const Json::Member& member : value.members()) names.emplace_back(member.name());
      for (const std::string& name : names) child(*schema.element, value, name, place.member(name), depth);
    }
  }

 private:
  static bool interesting(const Schema& schema) {
    return schema.kind == Kind::kObject || schema.kind == Kind::kList || schema.kind == Kind::kMap;
  }

  template <class Key>
  void child(const Schema& schema, Json& parent, const Key& key, const Place& place, int depth) {
    Json copy = [&] {
      if constexpr (std::is_same_v<Key, std::size_t>)
        return parent[key];
      else
        return parent[std::string_view(key)];
    }();
    const Json before = copy;
    walk(schema, copy, place, depth + 1);
    if (!copy.same_as(before)) parent.edit(key) = std::move(copy);
  }

  void object(const Schema& schema, Json& value, const Place& place, int depth) {
    const bool embedded = options.custom_resource && schema.name == kObjectMeta && depth > 1;
    std::vector<std::string> nested;
    const auto unknown = [&](const Json::Member& member) {
      const bool type_meta =
          depth == 0 && (member.name() == "apiVersion" || member.name() == "kind" || member.name() == "metadata");
      return (!type_meta && !schema.field(member.name())) || (embedded && !kept_in_embedded_metadata(member.name()));
    };
    bool any = false;
    for (const Json::Member& member : value.members()) {
      if (unknown(member)) {
        any = true;
        if (removed && removed->size() < kProblemsMax) removed->push_back(place.member(member.name()).text());
      } else if (const SchemaField* field = schema.field(member.name());
                 field && (interesting(*field->schema) || decoded_leniently(schema, member.name()))) {
        nested.emplace_back(member.name());
      }
    }
    if (any) erase_members(value, unknown);
    for (const std::string& name : nested) {
      if (decoded_leniently(schema, name))
        Pruner{options, nullptr}.child(schema, value, name, place.member(name), depth);
      else
        child(*schema.field(name)->schema, value, name, place.member(name), depth);
    }
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

// The pattern of a definition takes no blanks, where a kind of Kubernetes trims them.
bool has_blanks_around(const Json& quantity) {
  return quantity.is_string() && base::trim(quantity.as_string(), base::kAllBlanks) != quantity.as_string();
}

struct Validator {
  WalkOptions options;
  std::vector<Cause>& causes;

  bool full() const { return causes.size() >= kProblemsMax; }
  void add(std::string_view reason, const Place& place, std::string message) {
    if (!full()) causes.push_back({std::string(reason), std::move(message), place.text()});
  }
  void wrong_type(const Place& place, const Json& value, std::string_view wanted) {
    add("FieldValueTypeInvalid", place,
        base::format("Invalid value: \"{}\": {} in body must be of type {}: \"{}\"", type_name(value), place.text(),
                     wanted, type_name(value)));
  }
  void walk(const Schema& schema, const Json& value, const Place& place, int depth) {
    count_work(1);
    if (full()) return;
    switch (schema.kind) {
      case Kind::kAny: return;
      case Kind::kString:
        if (!value.is_string()) return wrong_type(place, value, "string");
        return text(schema, value, place);
      case Kind::kInteger:
        if (!is_whole(value)) return wrong_type(place, value, "integer");
        return number(schema, value, place);
      case Kind::kNumber:
        if (!value.is_number()) return wrong_type(place, value, "number");
        return number(schema, value, place);
      case Kind::kBoolean:
        if (!value.is_bool()) wrong_type(place, value, "boolean");
        return;
      case Kind::kIntOrString:
        if (!value.is_string() && !value.is_int()) return wrong_type(place, value, "integer,string");
        // Kubernetes' own type has 32 bits; a definition's has none of its own.
        if (!options.custom_resource && value.is_int()) number(int32_schema(), value, place);
        return;
      case Kind::kQuantity:
        if (options.custom_resource && value.is_number() && !value.is_int())
          return wrong_type(place, value, "integer,string");
        if (!Quantity::from_json(value) || (options.custom_resource && has_blanks_around(value)))
          add("FieldValueInvalid", place,
              base::format("Invalid value: {}: quantities must match the regular expression "
                           "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
                           shown(value)));
        return;
      case Kind::kObject: return object(schema, value, place, depth);
      case Kind::kList: return list(schema, value, place, depth);
      case Kind::kMap:
        if (!value.is_object()) return wrong_type(place, value, "object");
        for (const Json::Member& member : value.members())
          walk(*schema.element, member.value, place.member(member.name()), depth + 1);
        return;
    }
  }

  void text(const Schema& schema, const Json& value, const Place& place) {
    const std::string_view content = value.as_string();
    if (!schema.enumeration.empty()) {
      bool found = false;
      std::string all;
      for (const std::string& choice : schema.enumeration) {
        found = found || choice == content;
        all += (all.empty() ? "\"" : ", \"") + choice + "\"";
      }
      if (!found)
        add("FieldValueNotSupported", place,
            base::format("Unsupported value: \"{}\": supported values: {}", shortened(content), all));
    }
    text_shape(schema, content, place);
    const bool is_time = schema.format == "date-time" || schema.format == "micro-time";
    if (is_time && (!base::parse_rfc3339_unix(content) || (!options.custom_resource && is_small(content))))
      add("FieldValueInvalid", place,
          base::format("Invalid value: \"{}\": {} in body must be of type date-time: \"{}\"", shortened(content),
                       place.text(), shortened(content)));
  }

  // The first fault of length and pattern is reported.
  void text_shape(const Schema& schema, std::string_view content, const Place& place) {
    const auto length = static_cast<std::int64_t>(content.size());
    if (schema.length_max && length > *schema.length_max)
      return add("FieldValueTooLong", place,
                 base::format("Too long: may not be more than {} bytes", *schema.length_max));
    if (schema.length_min && length < *schema.length_min)
      return add("FieldValueInvalid", place,
                 base::format("Invalid value: \"{}\": {} in body should be at least {} chars long", shortened(content),
                              place.text(), *schema.length_min));
    if (!schema.pattern.empty() &&
        !RE2::PartialMatch(re2::StringPiece(content.data(), content.size()), pattern_for(schema.pattern)))
      add("FieldValueInvalid", place,
          base::format("Invalid value: \"{}\": {} in body should match '{}'", shortened(content), place.text(),
                       schema.pattern));
  }

  void number(const Schema& schema, const Json& value, const Place& place) {
    const double at = value.as_double();
    if (schema.minimum && at < *schema.minimum)
      add("FieldValueInvalid", place,
          base::format("Invalid value: {}: {} in body should be greater than or equal to {}", shown(value),
                       place.text(), *schema.minimum));
    if (schema.maximum && at > *schema.maximum)
      add("FieldValueInvalid", place,
          base::format("Invalid value: {}: {} in body should be less than or equal to {}", shown(value), place.text(),
                       *schema.maximum));
    if (schema.format == "int32" && (at < -2147483648.0 || at > 2147483647.0))
      add("FieldValueInvalid", place,
          base::format("Invalid value: {}: {} in body must be of type int32: \"integer\"", shown(value), place.text()));
  }

  void object(const Schema& schema, const Json& value, const Place& place, int depth) {
    if (!value.is_object()) return wrong_type(place, value, "object");
    for (const SchemaField& field : schema.fields) {
      const Json* member = value.find(field.name);
      if (!member || member->is_null()) {
        // The server words what metadata requires.
        if (field.required && !place.in_metadata) add("FieldValueRequired", place.member(field.name), "Required value");
        continue;
      }
      walk(*field.schema, *member, place.member(field.name), depth + 1);
    }
  }

  void list(const Schema& schema, const Json& value, const Place& place, int depth) {
    if (!value.is_array()) return wrong_type(place, value, "array");
    if (schema.items_min && static_cast<std::int64_t>(value.size()) < *schema.items_min)
      add("FieldValueInvalid", place,
          base::format("Invalid value: {}: {} in body should have at least {} items", value.size(), place.text(),
                       *schema.items_min));
    std::set<std::string> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Place at = place.item(i);
      walk(*schema.element, value[i], at, depth + 1);
      // Kubernetes' own kinds have rules of their own for equal items.
      if (schema.list_type == Schema::ListType::kAtomic || !options.custom_resource || place.in_metadata) continue;
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
        add("FieldValueDuplicate", at, base::format("Duplicate value: {}", shown(value[i])));
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
  Pruner{options, removed}.walk(schema, object, Place{}, 0);
}

void apply_defaults(const Schema& schema, Json& object, WalkOptions options) { fill(schema, object, options); }

void validate(const Schema& schema, const Json& object, WalkOptions options, std::vector<Cause>& causes) {
  Validator{options, causes}.walk(schema, object, Place{}, 0);
}

}  // namespace api
