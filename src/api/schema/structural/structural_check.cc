// Is a custom resource what its schema says? All problems, in the words of Kubernetes.
#include <algorithm>
#include <cmath>
#include <set>

#include "api/json/json_bulk.h"
#include "api/json/problems.h"
#include "api/json/work.h"
#include "api/schema/structural/old_items.h"
#include "api/schema/structural/structural.h"
#include "api/schema/text_formats.h"
#include "base/format.h"

namespace api {
namespace {

using base::Cause;
using Type = Structural::Type;
using Limits = Structural::Limits;

std::string_view word(Type type) {
  switch (type) {
    case Type::kAny: return "";
    case Type::kObject: return "object";
    case Type::kArray: return "array";
    case Type::kString: return "string";
    case Type::kInteger: return "integer";
    case Type::kNumber: return "number";
    case Type::kBoolean: return "boolean";
  }
  return "";
}

// Decimals are not binary fractions: what is whole but for a few roundings is whole.
bool is_multiple(double value, double of) {
  constexpr double kRoundings = 1e-14;
  const double times = of < 1 ? value * (1 / of) : value / of;
  const double whole = std::round(times);
  return std::fabs(times - whole) <= kRoundings * std::fabs(whole);
}

bool is_whole(const Json& value) {
  return value.is_number() &&
         (value.type() != Json::Type::kDouble || value.as_double() == std::floor(value.as_double()));
}

// A number beyond 2^53 that was no 64-bit integer when it was read has lost digits: it is not an integer.
bool is_integer(const Json& value) {
  constexpr double kExactMax = 9007199254740991.0;
  return value.type() == Json::Type::kInt || (is_whole(value) && std::fabs(value.as_double()) <= kExactMax);
}

bool is_of(Type type, const Json& value) {
  switch (type) {
    case Type::kAny: return true;
    case Type::kObject: return value.is_object();
    case Type::kArray: return value.is_array();
    case Type::kString: return value.is_string();
    case Type::kInteger: return is_integer(value);
    case Type::kNumber: return value.is_number();
    case Type::kBoolean: return value.is_bool();
  }
  return true;
}

std::string_view type_of(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "boolean";
  if (value.is_null()) return "null";
  return is_integer(value) ? "integer" : "number";
}

std::int64_t characters(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

std::string below(const std::string& path, std::string_view name) {
  if (path.size() > kShownBytesMax) return path;
  return path.empty() ? shortened(name, 256) : path + "." + shortened(name, 256);
}

std::string item_of(const std::string& path, std::size_t index) {
  return path.size() > kShownBytesMax ? path : path + "[" + std::to_string(index) + "]";
}

class Checker {
 public:
  // `keys`: sets and lists with keys hold nothing twice.
  explicit Checker(std::vector<Cause>& causes, bool keys = true) : causes_(causes), keys_(keys) {}

  // A value that is as it was `before` (null: nothing was) is let be: a schema that became stricter must not keep its
  // objects from being changed.
  void walk(const Structural& schema, const Json& value, const Json* before, const std::string& path,
            bool is_root = false) {
    count_work(1);
    if (full() || (value.is_null() && schema.nullable) || (before != nullptr && *before == value)) return;
    if (schema.int_or_string ? !is_integer(value) && !value.is_string() : !is_of(schema.type, value)) {
      const std::string_view wanted = schema.int_or_string ? "integer,string" : word(schema.type);
      return add("FieldValueTypeInvalid", path,
                 base::format("Invalid value: \"{}\": {} in body must be of type {}: \"{}\"", type_of(value), path,
                              wanted, type_of(value)));
    }
    if (schema.limits) limits(*schema.limits, value, path);
    if (value.is_object()) object(schema, value, before, path, is_root);
    if (value.is_array()) list(schema, value, before, path);
  }

 private:
  bool full() const { return causes_.size() >= kProblemsMax; }
  void add(std::string_view reason, const std::string& path, std::string message) {
    if (!full()) causes_.push_back({std::string(reason), std::move(message), path});
  }
  void invalid(const std::string& path, const Json& value, std::string_view what) {
    add("FieldValueInvalid", path, base::format("Invalid value: {}: {} in body {}", shown(value), path, what));
  }

  void object(const Structural& schema, const Json& value, const Json* before, const std::string& path, bool is_root) {
    const bool whole = is_root || schema.embedded;
    for (const Json::Member& one : value.members()) {
      if (full()) return;
      if (is_root && (one.name() == "apiVersion" || one.name() == "kind" || one.name() == "metadata")) continue;
      const Structural* of = schema.member(one.name());
      if (of == nullptr) of = schema.additional.get();
      if (of != nullptr) walk(*of, one.value, old_member(before, one.name()), below(path, one.name()));
    }
    if (whole && !is_root) embedded(value, path);
  }

  // An object inside another says what it is.
  void embedded(const Json& value, const std::string& path) {
    for (const char* name : {"apiVersion", "kind"}) {
      const Json& part = value[name];
      if (part.is_null() || part.as_string().empty())
        add("FieldValueRequired", below(path, name), "Required value: must not be empty");
    }
    const Json& metadata = value["metadata"];
    if (!metadata.is_null() && !metadata.is_object())
      add("FieldValueTypeInvalid", below(path, "metadata"),
          base::format("Invalid value: \"{}\": {} in body must be of type object: \"{}\"", type_of(metadata),
                       below(path, "metadata"), type_of(metadata)));
  }

  void list(const Structural& schema, const Json& value, const Json* before, const std::string& path) {
    const OldItems old(schema, before);
    if (schema.items)
      for (std::size_t i = 0; i < value.size() && !full(); ++i)
        walk(*schema.items, value[i], old.of(value[i]), item_of(path, i));
    if (!keys_ || schema.list_type == Schema::ListType::kAtomic) return;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < value.size() && !full(); ++i) {
      const Json key = schema.list_type == Schema::ListType::kSet ? value[i] : key_of_item(schema, value[i]);
      if (!seen.insert(identity_of(key)).second)
        add("FieldValueDuplicate", item_of(path, i), base::format("Duplicate value: {}", shown(key)));
    }
  }

  void limits(const Limits& of, const Json& value, const std::string& path) {
    if (!of.enumeration.empty() && std::ranges::find(of.enumeration, value) == of.enumeration.end()) {
      std::string all;
      for (const Json& choice : of.enumeration) all += (all.empty() ? "" : ", ") + shown(choice);
      add("FieldValueNotSupported", path,
          base::format("Unsupported value: {}: supported values: {}", shown(value), shortened(all)));
    }
    if (value.is_string()) text(of, value, path);
    if (value.is_number()) number(of, value, path);
    if (value.is_array()) length_of_list(of, value, path);
    if (value.is_object()) members(of, value, path);
    junctors(of, value, path);
  }

  // The first fault of length and pattern is reported.
  void text(const Limits& of, const Json& value, const std::string& path) {
    const std::string_view content = value.as_string();
    const auto length = characters(content);
    if (of.length_max && length > *of.length_max) {
      add("FieldValueTooLong", path, base::format("Too long: may not be more than {} bytes", *of.length_max));
    } else if (of.length_min && length < *of.length_min) {
      invalid(path, value, base::format("should be at least {} chars long", *of.length_min));
    } else if (of.pattern && !of.pattern->matches(content)) {
      invalid(path, value, base::format("should match '{}'", of.pattern_text));
    }
    if (!of.format.empty() && !has_text_format(of.format, content))
      add("FieldValueTypeInvalid", path,
          base::format("Invalid value: {}: {} in body must be of type {}: {}", shown(value), path, of.format,
                       shown(value)));
  }

  void number(const Limits& of, const Json& value, const std::string& path) {
    const double at = value.as_double();
    if (of.multiple_of && *of.multiple_of > 0) {
      if (!is_multiple(at, *of.multiple_of))
        invalid(path, value, base::format("should be a multiple of {}", *of.multiple_of));
    }
    if (of.maximum && (of.below_maximum ? at >= *of.maximum : at > *of.maximum))
      invalid(path, value,
              base::format("should be less than {}{}", of.below_maximum ? "" : "or equal to ", *of.maximum));
    if (of.minimum && (of.above_minimum ? at <= *of.minimum : at < *of.minimum))
      invalid(path, value,
              base::format("should be greater than {}{}", of.above_minimum ? "" : "or equal to ", *of.minimum));
    if (of.format == "int32" && is_whole(value) && (at < -2147483648.0 || at > 2147483647.0))
      invalid(path, value, "must be of type int32: \"integer\"");
  }

  void length_of_list(const Limits& of, const Json& value, const std::string& path) {
    const auto size = static_cast<std::int64_t>(value.size());
    if (of.items_max && size > *of.items_max)
      add("FieldValueTooMany", path, base::format("Too many: {}: must have at most {} items", size, *of.items_max));
    if (of.items_min && size < *of.items_min)
      add("FieldValueInvalid", path,
          base::format("Invalid value: {}: {} in body should have at least {} items", size, path, *of.items_min));
  }

  void members(const Limits& of, const Json& value, const std::string& path) {
    const auto size = static_cast<std::int64_t>(value.size());
    if (of.members_max && size > *of.members_max)
      add("FieldValueTooMany", path, base::format("Too many: {}: must have at most {} items", size, *of.members_max));
    if (of.members_min && size < *of.members_min)
      add("FieldValueInvalid", path,
          base::format("Invalid value: {}: {} in body should have at least {} properties", size, path,
                       *of.members_min));
    for (const std::string& name : of.required)
      if (!value.has(name)) add("FieldValueRequired", below(path, name), "Required value");
  }

  std::vector<Cause> problems_of(const Structural& schema, const Json& value, const std::string& path) {
    std::vector<Cause> found;
    if (!full()) Checker(found).walk(schema, value, nullptr, path, path.empty());
    return found;
  }

  // How many schemas fit; of the first one the problems. Each is asked once, or nested ones would be asked without end.
  std::size_t fitting(const std::vector<Structural>& all, const Json& value, const std::string& path,
                      std::vector<Cause>& of_first) {
    std::size_t fits = 0;
    for (const Structural& one : all) {
      std::vector<Cause> found = problems_of(one, value, path);
      fits += found.empty();
      if (&one == &all.front()) of_first = std::move(found);
    }
    return fits;
  }

  // The schemas that fit out of several; the first one's problems are told if none does.
  void junctors(const Limits& of, const Json& value, const std::string& path) {
    const auto refuse = [&](std::string_view what) {
      add("FieldValueInvalid", "<nil>", base::format("Invalid value: \"\": \"{}\" {}", path, what));
    };
    const auto add_causes = [&](std::vector<Cause>& found) {
      for (Cause& one : found)
        if (!full()) causes_.push_back(std::move(one));
    };
    std::vector<Cause> of_first;
    if (!of.any_of.empty() && fitting(of.any_of, value, path, of_first) == 0) {
      refuse("must validate at least one schema (anyOf)");
      add_causes(of_first);
    }
    if (!of.one_of.empty()) {
      const std::size_t fits = fitting(of.one_of, value, path, of_first);
      if (fits == 0) {
        refuse("must validate one and only one schema (oneOf). Found none valid");
        add_causes(of_first);
      } else if (fits > 1) {
        refuse(base::format("must validate one and only one schema (oneOf). Found {} valid alternatives", fits));
      }
    }
    if (!of.all_of.empty()) {
      const std::size_t before = causes_.size();
      std::size_t fits = 0;
      for (const Structural& one : of.all_of) {
        const std::size_t known = causes_.size();
        walk(one, value, nullptr, path, path.empty());
        fits += causes_.size() == known;
      }
      if (causes_.size() > before)
        refuse(base::format("must validate all the schemas (allOf){}", fits == 0 ? ". None validated" : ""));
    }
    if (of.none_of && problems_of(*of.none_of, value, path).empty()) refuse("must not validate the schema (not)");
  }

  std::vector<Cause>& causes_;
  const bool keys_;
};

// The object's own metadata.
void check_metadata_types(const Json& object, std::vector<Cause>& causes) {
  static const Schema kHolder{
      .kind = Schema::Kind::kObject,
      .fields = {SchemaField{.name = "metadata", .schema = &core_schema("meta.v1.ObjectMeta")}}};
  validate(kHolder, object, {.custom_resource = true}, causes);
}

}  // namespace

void validate(const Structural& root, const Json& object, const Json& before, std::vector<Cause>& causes) {
  check_metadata_types(object, causes);
  std::vector<Cause> found;
  Checker(found).walk(root, object, nullptr, "", true);
  // To compare takes long; few objects give a reason to.
  if (!found.empty() && !before.is_null()) {
    found.clear();
    Checker(found).walk(root, object, &before, "", true);
  }
  for (Cause& one : found)
    if (causes.size() < kProblemsMax) causes.push_back(std::move(one));
}

void validate_value(const Structural& schema, const Json& value, const std::string& path, std::vector<Cause>& causes) {
  Checker(causes, false).walk(schema, value, nullptr, path);
}

}  // namespace api
