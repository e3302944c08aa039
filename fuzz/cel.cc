// Expressions: whatever the text, reading and evaluating it ends, and gives the same value again.
#include "api/cel/expression.h"
#include "api/cel/rule_costs.h"
#include "api/cel/rule_types.h"
#include "targets.h"

namespace fuzz {
namespace {

constexpr char kSchema[] = R"({"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"},
  "list": {"type": "array", "items": {"type": "string"}},
  "map": {"type": "object", "additionalProperties": {"type": "boolean"}}}})";

// The judgements of a rule when a definition is written end, too, whatever it says.
void judge_rule(std::string_view input) {
  static const api::Structural schema = [] {
    std::vector<base::Cause> causes;
    return api::read_structural(*api::parse_json(kSchema), "", causes);
  }();
  (void)api::cel::estimated_cost(input, schema);
  for (const auto wanted : {api::cel::RuleResult::kBool, api::cel::RuleResult::kString})
    promise(api::cel::type_problem(input, {schema}, wanted).size() < 100 * (input.size() + 100),
            "a problem of types is told in few words", input);
}

}  // namespace

void cel(std::string_view input) {
  judge_rule(input);
  const auto expression = api::cel::Expression::compile(input, {"device", "self"});
  if (!expression.ok()) return promise(!expression.error().message.empty(), "an error says something");
  const api::Json object = api::Json::object({{"name", "web"},
                                              {"n", 3},
                                              {"list", api::Json::array({1, 2.5, "x", nullptr})},
                                              {"map", api::Json::object({{"a", true}})}});
  const api::cel::Expression::Bindings bindings = {{"device", api::cel::Value::from_json(object)},
                                                   {"self", api::cel::Value::from_json(object)}};
  const api::cel::Value once = expression->evaluate(bindings, 50'000), twice = expression->evaluate(bindings, 50'000);
  promise(once.is_error() == twice.is_error(), "the same expression has the same outcome");
  if (once.is_error())
    return promise(once.error()->message == twice.error()->message, "and the same error", once.error()->message);
  (void)api::cel::to_string(once);
}

}  // namespace fuzz
