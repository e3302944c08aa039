// Reading a schema, and what makes one structural: a type at every place, and nothing in anyOf and its like but limits.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include "api/json/problems.h"
#include "api/schema/pattern_problem.h"
#include "api/schema/structural/structural.h"
#include "base/format.h"

namespace api {
namespace {

using base::Cause;
using Type = Structural::Type;
using Limits = Structural::Limits;

constexpr std::array<std::pair<std::string_view, Type>, 6> kTypes = {{{"array", Type::kArray},
                                                                      {"boolean", Type::kBoolean},
                                                                      {"integer", Type::kInteger},
                                                                      {"number", Type::kNumber},
                                                                      {"object", Type::kObject},
                                                                      {"string", Type::kString}}};

std::string_view word(Type type) {
  for (const auto& [name, one] : kTypes)
    if (one == type) return name;
  return "";
}

// The limit of compiled expressions in a schema: hostile ones take a second for each ten thousand.
constexpr std::size_t kPatternStepsMax = 200'000;

// The place of a schema, which decides about its members.
enum class Where : std::uint8_t { kRoot, kMember, kItems, kAdditional, kJunctor };

class Reader {
 public:
  explicit Reader(std::vector<Cause>& causes) : causes_(causes) {}

  Structural read(const Json& json, const std::string& path, Where where) {
    Structural out;
    if (!json.is_object()) {
      add("FieldValueTypeInvalid", path, "Invalid value: must be a schema object");
      return out;
    }
    refuse_unsupported(json, path);
    out.nullable = json["nullable"].as_bool();
    out.int_or_string = json["x-kubernetes-int-or-string"].as_bool();
    out.preserves_unknown = json["x-kubernetes-preserve-unknown-fields"].as_bool();
    out.embedded = json["x-kubernetes-embedded-resource"].as_bool();
    if (out.nullable && where == Where::kRoot) forbid(path, "nullable", "nullable cannot be true at the root");
    read_type(json, path, where, out);
    read_children(json, path, where, out);
    read_lists(json, path, out);
    read_rules(json, path, out);
    read_limits(json, path, out);
    // Further in a stock server does not look.
    if (where == Where::kRoot && out.limits) check_completeness(*out.limits, &out, path, path);
    if (where == Where::kJunctor)
      refuse_in_junctor(json, path);
    else
      read_default(json, path, where, out);
    return out;
  }

 private:
  void add(std::string_view reason, std::string field, std::string message) {
    if (causes_.size() < kProblemsMax) causes_.push_back({std::string(reason), std::move(message), shortened(field)});
  }
  void forbid(const std::string& path, std::string_view name, std::string_view why) {
    add("FieldValueForbidden", base::format("{}.{}", path, name), base::format("Forbidden: {}", why));
  }
  void require(const std::string& path, std::string_view name, std::string_view why) {
    add("FieldValueRequired", base::format("{}.{}", path, name), base::format("Required value: {}", why));
  }
  void invalid(const std::string& path, std::string_view name, const Json& value, std::string_view why) {
    add("FieldValueInvalid", base::format("{}.{}", path, name),
        base::format("Invalid value: {}: {}", shortened(value.dump()), why));
  }

  void refuse_unsupported(const Json& json, const std::string& path) {
    for (const auto& [name, shown] : {std::pair{"$ref", "$ref"},
                                      {"definitions", "definitions"},
                                      {"dependencies", "dependencies"},
                                      {"id", "id"},
                                      {"patternProperties", "patternProperties"},
                                      {"additionalItems", "additionalItems"}})
      if (const Json* flag = json.find(name); flag != nullptr && !flag->is_null() && *flag != Json(""))
        forbid(path, shown, base::format("{} is not supported", shown));
    if (json["uniqueItems"].as_bool())
      forbid(path, "uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    if (const Json* flag = json.find("x-kubernetes-preserve-unknown-fields"); flag != nullptr && *flag == Json(false))
      invalid(path, "x-kubernetes-preserve-unknown-fields", *flag, "must be true or undefined");
  }

  void read_type(const Json& json, const std::string& path, Where where, Structural& out) {
    const std::string_view name = json["type"].as_string();
    const auto found = std::ranges::find(kTypes, name, &std::pair<std::string_view, Type>::first);
    if (found != kTypes.end()) {
      out.type = found->second;
    } else if (!name.empty()) {
      std::string all;
      for (const auto& [word, type] : kTypes) all += base::format("{}\"{}\"", all.empty() ? "" : ", ", word);
      add("FieldValueNotSupported", path + ".type",
          base::format("Unsupported value: {:?}: supported values: {}", shortened(name), all));
      return;
    }
    if (where == Where::kJunctor) return;
    if (where == Where::kRoot && !name.empty() && out.type != Type::kObject)
      return invalid(path, "type", json["type"], "must be object at the root");
    // A type that is named counts more.
    if (out.int_or_string && !name.empty()) out.int_or_string = false;
    if (out.int_or_string) return;
    if (out.embedded) {
      if (name.empty())
        require(path, "type", "must be object if x-kubernetes-embedded-resource is true");
      else if (out.type != Type::kObject)
        invalid(path, "type", json["type"], "must be object if x-kubernetes-embedded-resource is true");
      if (!json["additionalProperties"].is_null())
        forbid(path, "additionalProperties", "must not be used if x-kubernetes-embedded-resource is set");
      if (!out.preserves_unknown && json["properties"].empty())
        require(path, "properties",
                "must not be empty if x-kubernetes-embedded-resource is true without "
                "x-kubernetes-preserve-unknown-fields");
    }
    if (!name.empty() || out.embedded || (out.preserves_unknown && where != Where::kRoot)) return;
    require(path, "type",
            where == Where::kRoot    ? "must not be empty at the root"
            : where == Where::kItems ? "must not be empty for specified array items"
                                     : "must not be empty for specified object fields");
  }

  void read_children(const Json& json, const std::string& path, Where where, Structural& out) {
    const Where inside = where == Where::kJunctor ? Where::kJunctor : Where::kMember;
    for (const Json::Member& one : json["properties"].members()) {
      const std::string at = base::format("{}.properties[{}]", path, one.name());
      if (where == Where::kRoot && one.name() == "metadata") check_metadata(one.value, at);
      out.members.push_back({std::string(one.name()), read(one.value, at, inside)});
    }
    std::ranges::sort(out.members, {}, &Structural::Member::name);
    if (const Json& items = json["items"]; !items.is_null())
      out.items = std::make_unique<Structural>(
          read(items, path + ".items", where == Where::kJunctor ? Where::kJunctor : Where::kItems));
    else if (out.type == Type::kArray && where != Where::kJunctor)
      require(path, "items", "must be specified");
    const Json& additional = json["additionalProperties"];
    if (additional.is_null()) return;
    if (!json["properties"].empty())
      forbid(path, "additionalProperties", "additionalProperties and properties are mutual exclusive");
    if (additional.is_bool()) {
      out.any_member = additional.as_bool();
    } else {
      ++maps_around_;
      out.additional = std::make_unique<Structural>(read(
          additional, path + ".additionalProperties", where == Where::kJunctor ? Where::kJunctor : Where::kAdditional));
      --maps_around_;
    }
  }

  // The server knows metadata; only names can be limited further.
  void check_metadata(const Json& metadata, const std::string& path) {
    const bool plain = std::ranges::all_of(metadata.members(), [](const Json::Member& one) {
      return one.name() == "type" || one.name() == "description" || one.name() == "properties";
    });
    const bool names_only = std::ranges::all_of(metadata["properties"].members(), [](const Json::Member& one) {
      return one.name() == "name" || one.name() == "generateName";
    });
    if (!plain || !names_only)
      add("FieldValueForbidden", path,
          "Forbidden: must not specify anything other than name and generateName, but metadata is implicitly "
          "specified");
  }

  void read_lists(const Json& json, const std::string& path, Structural& out) {
    const Json& kind = json["x-kubernetes-list-type"];
    const std::string_view name = kind.as_string();
    for (const Json& key : json["x-kubernetes-list-map-keys"].items()) out.list_keys.push_back(key.str());
    if (!kind.is_null() && out.type != Type::kArray)
      invalid(path, "type", json["type"], "must be array if x-kubernetes-list-type is specified");
    if (name == "map") {
      out.list_type = Schema::ListType::kMap;
      check_list_map(path, out);
    } else if (name == "set") {
      out.list_type = Schema::ListType::kSet;
      check_list_set(path, out);
    } else if (!kind.is_null() && name != "atomic") {
      add("FieldValueNotSupported", path + ".x-kubernetes-list-type",
          base::format("Unsupported value: {}: supported values: \"atomic\", \"map\", \"set\"",
                       shortened(kind.dump())));
    }
    if (name != "map" && !out.list_keys.empty())
      require(path, "x-kubernetes-list-type", "must be map if x-kubernetes-list-map-keys is non-empty");
    const Json& map = json["x-kubernetes-map-type"];
    out.atomic = map.as_string() == "atomic";
    if (!map.is_null() && out.type != Type::kObject)
      invalid(path, "type", json["type"], "must be object if x-kubernetes-map-type is specified");
    if (!map.is_null() && !out.atomic && map.as_string() != "granular")
      add("FieldValueNotSupported", path + ".x-kubernetes-map-type",
          base::format("Unsupported value: {}: supported values: \"atomic\", \"granular\"", shortened(map.dump())));
  }

  void check_list_map(const std::string& path, Structural& out) {
    if (out.list_keys.empty())
      require(path, "x-kubernetes-list-map-keys", "must not be empty if x-kubernetes-list-type is map");
    if (!out.items || out.items->type != Type::kObject) {
      out.list_type = Schema::ListType::kAtomic;
      if (out.items)
        invalid(path, "items.type", Json(word(out.items->type)),
                "must be object if parent array's x-kubernetes-list-type is map");
      return;
    }
    if (!std::ranges::all_of(out.list_keys, [&](const std::string& key) { return out.items->member(key) != nullptr; }))
      add("FieldValueInvalid", path + ".x-kubernetes-list-map-keys",
          "Invalid value: entries must all be names of item properties");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < out.list_keys.size(); ++i) {
      const std::string& key = out.list_keys[i];
      const std::string at = base::format("x-kubernetes-list-map-keys[{}]", i);
      if (!seen.insert(key).second)
        add("FieldValueDuplicate", path + "." + at, base::format("Duplicate value: {:?}", key));
      const Structural* member = out.items->member(key);
      if (member == nullptr) continue;
      if (member->type == Type::kObject || member->type == Type::kArray)
        invalid(path, base::format("items.properties[{}].type", key), Json(word(member->type)),
                "must be a scalar type if parent array's x-kubernetes-list-type is map");
      if (member->nullable)
        forbid(path, base::format("items.properties[{}].nullable", key),
               "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
      const auto* limits = out.items->limits.get();
      const bool needed = limits && std::ranges::find(limits->required, key) != limits->required.end();
      if (!needed && !member->has_default)
        require(path, base::format("items.properties[{}].default", key),
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property");
    }
  }

  void check_list_set(const std::string& path, const Structural& out) {
    if (!out.items) return require(path, "items", "must have a schema if x-kubernetes-list-type is set");
    const bool loose_map = out.items->type == Type::kObject && !out.items->atomic;
    const bool loose_list = out.items->type == Type::kArray && out.items->list_type != Schema::ListType::kAtomic;
    if (loose_map)
      invalid(path, "items.x-kubernetes-map-type", Json(),
              "must be atomic as item of a list with x-kubernetes-list-type=set");
    if (loose_list)
      invalid(path, "items.x-kubernetes-list-type", Json(),
              "must be atomic as item of a list with x-kubernetes-list-type=set");
    if (out.items->nullable) forbid(path, "items.nullable", "cannot be nullable when x-kubernetes-list-type is set");
  }

  void read_rules(const Json& json, const std::string& path, Structural& out) {
    static constexpr std::array<std::string_view, 4> kReasons = {"FieldValueDuplicate", "FieldValueForbidden",
                                                                 "FieldValueInvalid", "FieldValueRequired"};
    std::size_t at = 0;
    for (const Json& one : json["x-kubernetes-validations"].items()) {
      const std::string place = base::format("{}.x-kubernetes-validations[{}]", path, at++);
      StructuralRule rule{.rule = one["rule"].str(),
                          .message = one["message"].str(),
                          .message_expression = one["messageExpression"].str(),
                          .reason = one["reason"].str(),
                          .field_path = one["fieldPath"].str()};
      if (one["optionalOldSelf"].is_bool()) rule.optional_old_self = one["optionalOldSelf"].as_bool();
      if (rule.rule.find_first_not_of(" \t\r\n") == std::string::npos) {
        require(place, "rule", "rule is not specified");
        continue;
      }
      if (rule.message.find_first_of("\r\n") != std::string::npos)
        invalid(place, "message", one["message"], "must not contain line breaks");
      else if (!rule.message.empty() && rule.message.find_first_not_of(" \t") == std::string::npos)
        invalid(place, "message", one["message"], "message must be non-empty if specified");
      else if (rule.message.empty() && rule.rule.find_first_of("\r\n") != std::string::npos &&
               rule.message_expression.empty())
        require(place, "message", "message must be specified if rule contains line breaks");
      if (!rule.reason.empty() && std::ranges::find(kReasons, rule.reason) == kReasons.end())
        add("FieldValueNotSupported", place + ".reason",
            base::format("Unsupported value: {:?}: supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", "
                         "\"FieldValueInvalid\", \"FieldValueRequired\"",
                         shortened(rule.reason)));
      if (!rule.field_path.empty() && !leads_somewhere(out, rule.field_path))
        invalid(place, "fieldPath", one["fieldPath"], "must be a valid path");
      out.rules.push_back(std::move(rule));
    }
  }

  // ".spec.name" or "['a.b']", through members and maps.
  static bool leads_somewhere(const Structural& from, std::string_view path) {
    const Structural* at = &from;
    while (!path.empty()) {
      std::string_view name;
      if (path.starts_with("['")) {
        const std::size_t end = path.find("']");
        if (end == std::string_view::npos) return false;
        name = path.substr(2, end - 2);
        path.remove_prefix(end + 2);
      } else if (path[0] == '.') {
        path.remove_prefix(1);
        name = path.substr(0, path.find_first_of(".["));
        path.remove_prefix(name.size());
      } else {
        return false;
      }
      const Structural* next = at->member(name);
      if (next == nullptr) next = at->additional.get();
      if (name.empty() || next == nullptr) return false;
      at = next;
    }
    return true;
  }

  void read_limits(const Json& json, const std::string& path, Structural& out) {
    const auto limits = [&out]() -> Limits& {
      if (!out.limits) out.limits = std::make_unique<Limits>();
      return *out.limits;
    };
    const auto number = [&](const char* name, std::optional<double> Limits::*into) {
      if (const Json& flag = json[name]; flag.is_number()) limits().*into = flag.as_double();
    };
    const auto count = [&](const char* name, std::optional<std::int64_t> Limits::*into) {
      if (const Json& flag = json[name]; flag.is_number()) limits().*into = flag.as_int();
    };
    number("minimum", &Limits::minimum);
    number("maximum", &Limits::maximum);
    number("multipleOf", &Limits::multiple_of);
    count("minLength", &Limits::length_min);
    count("maxLength", &Limits::length_max);
    count("minItems", &Limits::items_min);
    count("maxItems", &Limits::items_max);
    count("minProperties", &Limits::members_min);
    count("maxProperties", &Limits::members_max);
    if (json["exclusiveMinimum"].as_bool()) limits().above_minimum = true;
    if (json["exclusiveMaximum"].as_bool()) limits().below_maximum = true;
    if (const std::string_view format = json["format"].as_string(); !format.empty()) limits().format = format;
    for (const Json& value : json["enum"].items()) limits().enumeration.push_back(value);
    for (const Json& name : json["required"].items()) limits().required.push_back(name.str());
    read_pattern(json, path, out);
    read_junctors(json, path, out);
  }

  void read_pattern(const Json& json, const std::string& path, Structural& out) {
    const Json& pattern = json["pattern"];
    if (pattern.as_string().empty()) return;
    const auto [known, is_new] = patterns_.try_emplace(pattern.str());
    if (is_new) known->second = compiled(pattern.as_string());
    if (const std::string& problem = known->second.problem; !problem.empty())
      return invalid(path, "pattern", pattern,
                     base::format("must be a valid regular expression, but isn't: error parsing regexp: {}", problem));
    if (!known->second.pattern)
      return invalid(path, "pattern", pattern, "the expressions of the schema are too large together");
    if (!out.limits) out.limits = std::make_unique<Limits>();
    out.limits->pattern_text = pattern.as_string();
    out.limits->pattern = known->second.pattern;
  }

  // Wherever it stands in the schema, it is compiled once.
  struct Compiled {
    std::shared_ptr<const Pattern> pattern = {};  // null: refused
    std::string problem = {};
  };
  Compiled compiled(std::string_view text) {
    if (pattern_steps_ > kPatternStepsMax) return {};
    std::size_t size = 0;
    std::string problem = pattern_problem(text, &size);
    // To find that one is too large takes as long as the others may take together.
    if (problem.starts_with("expression too large")) size = kPatternStepsMax + 1;
    pattern_steps_ += size;
    if (!problem.empty() || pattern_steps_ > kPatternStepsMax) return {nullptr, std::move(problem)};
    return {std::make_shared<const Pattern>(text), {}};
  }

  static bool are_two_types(const Json& list) {
    return list.size() == 2 && list[0] == Json::object({{"type", "integer"}}) &&
           list[1] == Json::object({{"type", "string"}});
  }

  void read_junctors(const Json& json, const std::string& path, Structural& out) {
    for (const auto& [name, into] :
         {std::pair{"allOf", &Limits::all_of}, {"anyOf", &Limits::any_of}, {"oneOf", &Limits::one_of}}) {
      std::size_t at = 0;
      for (const Json& one : json[name].items()) {
        const bool is_first = at == 0;
        const std::string place = base::format("{}.{}[{}]", path, name, at++);
        // A place for a number or a text may have its two types written out, in anyOf or in the first part of allOf.
        if (out.int_or_string && into == &Limits::any_of && are_two_types(json[name])) continue;
        Json limit = one;
        if (out.int_or_string && is_first && into == &Limits::all_of && are_two_types(one["anyOf"]))
          limit.erase("anyOf");
        Structural schema = read(limit, place, Where::kJunctor);
        if (!out.limits) out.limits = std::make_unique<Limits>();
        (out.limits.get()->*into).push_back(std::move(schema));
      }
    }
    if (const Json& none = json["not"]; !none.is_null()) {
      if (!out.limits) out.limits = std::make_unique<Limits>();
      out.limits->none_of = std::make_unique<Structural>(read(none, path + ".not", Where::kJunctor));
    }
  }

  // A place that allOf and its like limit, at whatever depth, must be in the structure around them.
  void check_completeness(const Limits& limits, const Structural* structure, const std::string& at,
                          const std::string& reported_at) {
    for (const auto& [name, list] :
         {std::pair{"allOf", &limits.all_of}, {"anyOf", &limits.any_of}, {"oneOf", &limits.one_of}}) {
      for (std::size_t i = 0; i < list->size(); ++i)
        check_limited((*list)[i], structure, at, base::format("{}.{}[{}]", reported_at, name, i));
    }
    if (limits.none_of) check_limited(*limits.none_of, structure, at, reported_at + ".not");
  }

  void check_limited(const Structural& limited, const Structural* structure, const std::string& at,
                     const std::string& reported_at) {
    if (structure == nullptr)
      return add("FieldValueRequired", at, base::format("Required value: because it is defined in {}", reported_at));
    if (limited.limits) check_completeness(*limited.limits, structure, at, reported_at);
    for (const Structural::Member& one : limited.members) {
      const std::string place = base::format("properties[{}]", one.name);
      const Structural* member = structure->member(one.name);
      if (member == nullptr) member = structure->additional.get();
      if (member != nullptr || !structure->any_member)
        check_limited(one.schema, member, at + "." + place, reported_at + "." + place);
    }
    if (limited.items) check_limited(*limited.items, structure->items.get(), at + ".items", reported_at + ".items");
  }

  void refuse_in_junctor(const Json& json, const std::string& path) {
    for (const char* name : {"description", "title", "type", "x-kubernetes-list-type", "x-kubernetes-map-type"})
      if (!json[name].as_string().empty()) forbid(path, name, "must be empty to be structural");
    for (const char* name : {"default", "additionalProperties", "x-kubernetes-list-map-keys"})
      if (!json[name].is_null()) forbid(path, name, "must be undefined to be structural");
    for (const char* name : {"nullable", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
                             "x-kubernetes-int-or-string"})
      if (json[name].as_bool()) forbid(path, name, "must be false to be structural");
    if (!json["x-kubernetes-validations"].empty())
      forbid(path, "x-kubernetes-validations", "must be empty to be structural");
  }

  void read_default(const Json& json, const std::string& path, Where where, Structural& out) {
    const Json* value = json.find("default");
    if (value == nullptr || (value->is_null() && !out.nullable)) return;
    if (where == Where::kRoot) return forbid(path, "default", "must not be set at the root");
    // A stock server takes every default of values of maps; the wrong ones are refused with the objects.
    if (maps_around_ > 0) {
      out.default_value = *value;
      out.has_default = true;
      return;
    }
    Json pruned = Json::object({{"value", *value}});
    Structural holder;
    holder.type = Type::kObject;
    // The holder borrows the schema for the length of this look.
    holder.members.push_back({"value", std::move(out)});
    std::vector<std::string> removed;
    prune(holder, pruned, &removed);
    apply_defaults(holder, pruned);
    out = std::move(holder.members.front().schema);
    if (!removed.empty()) invalid(path, "default", *value, "must not have unknown fields");
    std::vector<Cause> problems;
    validate_value(out, pruned["value"], path + ".default", problems);
    for (Cause& one : problems) add(one.reason, std::move(one.field), std::move(one.message));
    if (!problems.empty()) return;
    out.default_value = pruned["value"];
    out.has_default = true;
  }

  std::vector<Cause>& causes_;
  std::map<std::string, Compiled> patterns_;
  std::size_t pattern_steps_ = 0;
  std::size_t maps_around_ = 0;  // the schema that is read is that of values of so many maps, one in the other
};

}  // namespace

Structural read_structural(const Json& schema, const std::string& path, std::vector<base::Cause>& causes) {
  return Reader(causes).read(schema, path, Where::kRoot);
}

}  // namespace api
