// A walk along the schema; each rule is compiled once, and sees its value as `self`.
#include "api/cel/schema_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include "api/cel/expression.h"
#include "api/json/problems.h"
#include "base/format.h"

namespace api::cel {
namespace {

struct CompiledRule {
  Expression expression;
  std::string message;
};

// The limit of all rules of one object together.
constexpr std::uint64_t kObjectCostMax = 2 * kCostMax;

// Schemas live as long as the program. A rule of ours that does not compile is a bug.
class RuleBook {
 public:
  explicit RuleBook(const Schema& root) { read(root); }

  bool empty() const { return rules_.empty(); }
  bool leads_to_rules(const Schema& schema) const { return ways_.count(&schema) > 0; }
  const std::vector<CompiledRule>* of(const Schema& schema) const {
    const auto found = rules_.find(&schema);
    return found == rules_.end() ? nullptr : &found->second;
  }

 private:
  bool read(const Schema& schema) {
    if (!seen_.insert(&schema).second) return ways_.count(&schema) > 0;
    bool leads = false;
    for (const SchemaRule& rule : rules_of(schema)) {
      auto compiled = Expression::compile(rule.rule, {"self"});
      CHECK(compiled.ok());
      rules_[&schema].push_back({*std::move(compiled), rule.message});
      leads = true;
    }
    for (const SchemaField& field : schema.fields) leads = read(*field.schema) || leads;
    if (schema.element != nullptr) leads = read(*schema.element) || leads;
    if (leads) ways_.insert(&schema);
    return leads;
  }

  std::set<const Schema*> seen_, ways_;
  std::map<const Schema*, std::vector<CompiledRule>> rules_;
};

const RuleBook& book_of(const Schema& root) {
  thread_local std::map<const Schema*, std::unique_ptr<RuleBook>> books;
  auto& book = books[&root];
  if (!book) book = std::make_unique<RuleBook>(root);
  return *book;
}

struct Walk {
  const RuleBook& book;
  std::vector<base::Cause>& causes;
  std::uint64_t left = kObjectCostMax;

  void run(const Schema& schema, const Json& value, const std::string& path) {
    if (!book.leads_to_rules(schema) || value.is_null() || causes.size() >= kProblemsMax) return;
    if (const auto* rules = book.of(schema))
      for (const CompiledRule& rule : *rules) judge(rule, value, path);
    if (schema.kind == Schema::Kind::kObject) {
      for (const SchemaField& field : schema.fields)
        if (const Json* member = value.find(field.name))
          run(*field.schema, *member, path.empty() ? field.name : base::format("{}.{}", path, field.name));
    } else if (schema.kind == Schema::Kind::kList) {
      for (std::size_t i = 0; i < value.items().size(); ++i)
        run(*schema.element, value[i], base::format("{}[{}]", path, i));
    } else if (schema.kind == Schema::Kind::kMap) {
      for (const Json::Member& member : value.members())
        run(*schema.element, member.value, base::format("{}[{}]", path, member.name()));
    }
  }

  // Objects and lists are not shown.
  void judge(const CompiledRule& rule, const Json& value, const std::string& path) {
    std::uint64_t spent = 0;
    const Value out = rule.expression.evaluate({{"self", Value::from_json(value)}}, std::min(left, kCostMax), &spent);
    left -= std::min(spent, left);
    const bool* holds = out.get<bool>();
    if (holds != nullptr && *holds) return;
    const std::string why =
        out.is_error() ? base::format("rule evaluation error: {}: {}", rule.expression.text(), out.error()->message)
                       : rule.message;
    causes.push_back({"FieldValueInvalid", base::format("Invalid value: {}", why), path});
  }
};

bool blocks(const base::Cause& cause) {
  static constexpr std::array<std::string_view, 5> kReasons = {"FieldValueNotSupported", "FieldValueRequired",
                                                               "FieldValueTooLong", "FieldValueTooMany",
                                                               "FieldValueTypeInvalid"};
  return std::find(kReasons.begin(), kReasons.end(), cause.reason) != kReasons.end();
}

}  // namespace

void check_rules(const Schema& schema, const Json& object, std::vector<base::Cause>& causes) {
  const RuleBook& book = book_of(schema);
  if (book.empty() || causes.size() >= kProblemsMax) return;
  if (std::any_of(causes.begin(), causes.end(), blocks)) {
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: null: some validation rules were not checked because the object was invalid; "
                      "correct the existing errors to complete validation",
                      "<nil>"});
    return;
  }
  Walk{book, causes}.run(schema, object, "");
}

}  // namespace api::cel
