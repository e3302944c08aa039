// Compiling, and the walk: each rule sees its value as `self`, and what that was as `oldSelf`.
#include "api/cel/structural_rules.h"

#include <algorithm>
#include <array>

#include "api/cel/rule_types.h"
#include "api/cel/structural_value.h"
#include "api/json/problems.h"
#include "api/schema/structural/old_items.h"
#include "base/format.h"

namespace api::cel {
namespace {

using base::Cause;

// The limit of rules for all defaults of a schema: the server's loop may wait for them.
constexpr std::uint64_t kDefaultsCostMax = 20'000;

std::string rule_json(const StructuralRule& rule) {
  return shortened(Json::object({{"rule", rule.rule}, {"message", rule.message}}).dump());
}

// A value that is not shown is named by the word for its kind in the message of an error.
std::string_view word_of(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "boolean";
  return value.is_int() ? "integer" : "number";
}

std::uint64_t count_of(const Json& value, std::uint64_t most) {
  std::uint64_t count = 1;
  for (const Json& item : value.items()) {
    if (count > most) return count;
    count += count_of(item, most - std::min(most, count));
  }
  for (const Json::Member& member : value.members()) {
    if (count > most) return count;
    count += count_of(member.value, most - std::min(most, count));
  }
  return count;
}

// Problems after which values are not fit to be looked at.
bool blocks(const Cause& cause) {
  static constexpr std::array<std::string_view, 5> kReasons = {"FieldValueNotSupported", "FieldValueRequired",
                                                               "FieldValueTooLong", "FieldValueTooMany",
                                                               "FieldValueTypeInvalid"};
  return std::ranges::find(kReasons, cause.reason) != kReasons.end();
}

// Rules see only the names of the object's own metadata.
Json with_names_only(const Json& object) {
  if (!object.is_object()) return object;
  Json out = object;
  Json names = Json::object();
  for (const char* name : {"name", "generateName"})
    if (const Json* value = object["metadata"].find(name)) names.set(name, *value);
  out.set("metadata", std::move(names));
  return out;
}

}  // namespace

struct StructuralRules::Compiler {
  StructuralRules& book;
  Patterns& patterns;
  std::vector<Cause>& causes;

  // `uncorrelatable`: the items above that have no identity, so that what they were before is not known; null: none.
  bool read(const Structural& schema, const std::string& path, const std::string* uncorrelatable) {
    if (!schema.rules.empty()) compile(schema, path, uncorrelatable);
    bool leads = !schema.rules.empty();
    for (const Structural::Member& one : schema.members)
      leads = read(one.schema, base::format("{}.properties[{}]", path, one.name), uncorrelatable) || leads;
    if (schema.items) {
      const std::string at = path + ".items";
      const bool known = uncorrelatable != nullptr || schema.list_type == Schema::ListType::kMap;
      leads = read(*schema.items, at, known ? uncorrelatable : &at) || leads;
    }
    if (schema.additional) leads = read(*schema.additional, path + ".additionalProperties", uncorrelatable) || leads;
    if (leads) book.leads_[&schema] = true;
    return leads;
  }

  void invalid(std::string field, std::string_view value, std::string_view why) {
    if (causes.size() < kProblemsMax)
      causes.push_back(
          {"FieldValueInvalid", base::format("Invalid value: {}: {}", value, why), shortened(std::move(field))});
  }

  void compile(const Structural& schema, const std::string& path, const std::string* uncorrelatable) {
    std::size_t at = 0;
    for (const StructuralRule& text : schema.rules) {
      const std::string place = base::format("{}.x-kubernetes-validations[{}]", path, at++);
      auto compiled = Expression::compile(text.rule, {"self", "oldSelf"}, &patterns);
      if (!compiled.ok()) {
        invalid(place + ".rule", rule_json(text), "compilation failed: " + compiled.error().message);
        continue;
      }
      const RuleScope scope{schema, &schema == &book.root_, text.optional_old_self.value_or(false)};
      // One that was stored before this was refused goes on as it did.
      if (const std::string problem = type_problem(text.rule, scope, RuleResult::kBool); !problem.empty())
        invalid(place + ".rule", rule_json(text), problem);
      Rule rule{&text, *std::move(compiled), {}};
      const Expression::Uses uses = rule.expression.uses_of("oldSelf");
      rule.compares = uses.otherwise || !uses.fields.empty();
      if (rule.compares && uncorrelatable != nullptr)
        invalid(place + ".rule", shortened(Json(text.rule).dump()),
                "oldSelf cannot be used on the uncorrelatable portion of the schema within " + *uncorrelatable);
      if (text.optional_old_self && !rule.compares)
        invalid(place + ".optionalOldSelf", rule_json(text), "may not be set if oldSelf is not used in rule");
      if (!text.message_expression.empty()) compile_message(text, place, scope, rule);
      book.rules_[&schema].push_back(std::move(rule));
    }
  }

  void compile_message(const StructuralRule& text, const std::string& place, const RuleScope& scope, Rule& rule) {
    const std::string field = place + ".messageExpression";
    auto message = Expression::compile(text.message_expression, {"self", "oldSelf"}, &patterns);
    if (!message.ok())
      return invalid(field, rule_json(text), "messageExpression compilation failed: " + message.error().message);
    if (const std::string problem = type_problem(text.message_expression, scope, RuleResult::kString); !problem.empty())
      invalid(field, rule_json(text), problem);
    rule.message.push_back(*std::move(message));
  }

  void judge_defaults(const Structural& schema, const std::string& path, std::uint64_t& left);
};

struct StructuralRules::Walk {
  const StructuralRules& book;
  std::vector<Cause>& causes;
  std::uint64_t left;
  bool exhausted = false;

  void run(const Structural& schema, const Json& value, const Json* before, const std::string& path) {
    if (!book.leads_.contains(&schema) || value.is_null() || exhausted || causes.size() >= kProblemsMax) return;
    if (const auto found = book.rules_.find(&schema); found != book.rules_.end())
      judge(schema, found->second, value, before, path);
    if (value.is_object()) {
      for (const Json::Member& one : value.members()) {
        const Structural* of = schema.member(one.name());
        const bool named = of != nullptr;
        if (!named) of = schema.additional.get();
        if (of == nullptr || !book.leads_.contains(of)) continue;
        std::string at = named ? path.empty() ? std::string(one.name()) : base::format("{}.{}", path, one.name())
                               : base::format("{}[{}]", path, one.name());
        run(*of, one.value, old_member(before, one.name()), at);
      }
    } else if (schema.items && book.leads_.contains(schema.items.get())) {
      const OldItems old(schema, before);
      for (std::size_t i = 0; i < value.size(); ++i)
        run(*schema.items, value[i], old.of(value[i]), base::format("{}[{}]", path, i));
    }
  }

  bool pay(std::uint64_t cost) {
    exhausted = exhausted || cost > left;
    left -= std::min(left, cost);
    return !exhausted;
  }

  Value read(const Structural& schema, const Json& value) {
    return pay(count_of(value, left)) ? value_of(schema, value) : Value();
  }

  void judge(const Structural& schema, const std::vector<Rule>& rules, const Json& value, const Json* before,
             const std::string& path) {
    const Value self = read(schema, value);
    Value old;
    bool old_is_read = false;
    for (const Rule& rule : rules) {
      const bool optional = rule.text->optional_old_self.value_or(false);
      if (rule.compares && before == nullptr && !optional) continue;
      if (rule.compares && before != nullptr && !std::exchange(old_is_read, true)) old = read(schema, *before);
      if (exhausted) return;
      const Value shown_old = !optional ? old : before != nullptr ? some(old) : Value(Optional{});
      const Expression::Bindings bindings{{"self", self}, {"oldSelf", shown_old}};
      std::uint64_t spent = 0;
      const Value out = rule.expression.evaluate(bindings, std::min(left, kCostMax), &spent);
      if (!pay(spent)) return;
      const bool* holds = out.get<bool>();
      if (holds != nullptr && *holds) continue;
      // A value that was so before may stay.
      if (!rule.compares && before != nullptr && *before == value) continue;
      add_problem(rule, bindings, out, value, path);
    }
  }

  void add_problem(const Rule& rule, const Expression::Bindings& bindings, const Value& out, const Json& value,
                   const std::string& path) {
    const StructuralRule& text = *rule.text;
    std::string at = path;
    if (!text.field_path.empty())
      at += path.empty() && text.field_path[0] == '.' ? text.field_path.substr(1) : text.field_path;
    if (at.empty()) at = "<nil>";
    if (out.is_error() || out.get<bool>() == nullptr) {
      const std::string why = out.is_error() ? out.error()->message : std::string("no such overload");
      causes.push_back({"FieldValueInvalid",
                        base::format("Invalid value: \"{}\": {} evaluating rule: {}", word_of(value), why,
                                     text.message.empty() ? text.rule : text.message),
                        std::move(at)});
      return;
    }
    std::string message = text.message.empty() ? base::format("failed rule: {}", text.rule) : text.message;
    if (!rule.message.empty()) {
      std::uint64_t spent = 0;
      const Value evaluated = rule.message.front().evaluate(bindings, std::min(left, kCostMax), &spent);
      if (!pay(spent)) return;
      // A text of no characters, of several lines or of more than 5 KiB is none, as for Kubernetes.
      constexpr std::size_t kMessageMax = 5 * 1024;
      const std::string* message_text = evaluated.get<std::string>();
      if (message_text != nullptr && message_text->size() <= kMessageMax &&
          message_text->find_first_of("\r\n") == std::string::npos &&
          message_text->find_first_not_of(' ') != std::string::npos)
        message = *message_text;
    }
    causes.push_back(cause_of(text, value, std::move(message), std::move(at)));
  }

  static Cause cause_of(const StructuralRule& text, const Json& value, std::string message, std::string at) {
    const bool shows = !value.is_object() && !value.is_array() && text.field_path.empty();
    const std::string shown = shows ? shortened(value.dump()) : std::string();
    if (text.reason == "FieldValueForbidden") return {text.reason, "Forbidden: " + message, std::move(at)};
    if (text.reason == "FieldValueRequired") return {text.reason, "Required value: " + message, std::move(at)};
    if (text.reason == "FieldValueDuplicate")
      return {text.reason, shows ? "Duplicate value: " + shown : "Duplicate value", std::move(at)};
    return {"FieldValueInvalid",
            shows ? base::format("Invalid value: {}: {}", shown, message) : base::format("Invalid value: {}", message),
            std::move(at)};
  }
};

// A default that costs more than `left` is not judged here, but in each object that has it.
void StructuralRules::Compiler::judge_defaults(const Structural& schema, const std::string& path, std::uint64_t& left) {
  if (!book.leads_.contains(&schema) || left == 0 || causes.size() >= kProblemsMax) return;
  if (schema.has_default) {
    Walk walk{book, causes, left};
    walk.run(schema, schema.default_value, nullptr, path + ".default");
    left = walk.left;
  }
  for (const Structural::Member& one : schema.members)
    judge_defaults(one.schema, base::format("{}.properties[{}]", path, one.name), left);
  if (schema.items) judge_defaults(*schema.items, path + ".items", left);
  if (schema.additional) judge_defaults(*schema.additional, path + ".additionalProperties", left);
}

StructuralRules::StructuralRules(const Structural& root, const std::string& path, Patterns& patterns,
                                 std::vector<Cause>& causes)
    : root_(root) {
  const std::size_t before = causes.size();
  Compiler compiler{*this, patterns, causes};
  compiler.read(root, path, nullptr);
  std::uint64_t left = kDefaultsCostMax;
  if (causes.size() == before && !path.empty()) compiler.judge_defaults(root, path, left);
}

bool StructuralRules::check(const Json& object, const Json& before, std::uint64_t cost_max,
                            std::vector<Cause>& causes) const {
  if (empty() || causes.size() >= kProblemsMax) return true;
  if (std::ranges::any_of(causes, blocks)) {
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: null: some validation rules were not checked because the object was invalid; "
                      "correct the existing errors to complete validation",
                      "<nil>"});
    return true;
  }
  Walk walk{*this, causes, cost_max};
  const Json old = with_names_only(before);
  walk.run(root_, with_names_only(object), before.is_null() ? nullptr : &old, "");
  if (!walk.exhausted) return true;
  if (causes.size() < kProblemsMax)
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: validation failed due to running out of cost budget, no further validation rules "
                      "will be run",
                      "<nil>"});
  return false;
}

}  // namespace api::cel
