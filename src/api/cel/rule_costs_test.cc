// Costs of rules, with the figures that the Kubernetes API server has for the same schemas.
#include "api/cel/rule_costs.h"

#include <gtest/gtest.h>

#include "api/json/json.h"
#include "base/format.h"

namespace api::cel {
namespace {

Structural schema_of(const std::string& text) {
  std::vector<base::Cause> causes;
  const Json whole = *parse_json(base::format(R"({{"type":"object","properties":{{"spec":{}}}}})", text));
  Structural root = read_structural(whole, "s", causes);
  EXPECT_TRUE(causes.empty()) << text << ": " << (causes.empty() ? "" : causes[0].field + " " + causes[0].message);
  return std::move(root.members.at(0).schema);
}

TEST(RuleCosts, grow_with_what_the_schema_allows) {
  const struct {
    const char *schema, *rule;
    std::uint64_t cost;
  } rows[] = {
      {R"({"type":"integer"})", "self > 3", 2},
      {R"({"type":"boolean"})", "self || !self", 3},
      {R"({"type":"string"})", "self.contains('test')", 314574},
      {R"({"type":"string","maxLength":10})", "self.contains('test')", 5},
      {R"({"type":"string","enum":["a","bcd"]})", "self == 'a'", 2},
      {R"({"type":"string"})", "self.startsWith('test')", 2},
      {R"({"type":"string"})", "self.matches('^[a-z]+$')", 629147},
      {R"({"type":"array","items":{"type":"number"}})", "self.all(x, true)", 4718591},
      {R"({"type":"array","items":{"type":"string"}})", "self.all(x, true)", 3145727},
      {R"({"type":"array","items":{"type":"boolean"}})", "self.all(x, true)", 1887437},
      {R"({"type":"array","items":{"type":"object"}})", "self.all(x, true)", 3145727},
      {R"({"type":"array","items":{"type":"array","items":{"type":"string"}}})", "self.all(x, true)", 3145727},
      {R"({"type":"object","additionalProperties":{"type":"number"}})", "self.all(x, true)", 1348169},
      {R"({"type":"object","additionalProperties":{"type":"string"}})", "self.all(x, true)", 1179647},
      {R"({"type":"array","maxItems":4,"items":{"type":"number"}})", "self.all(x, true)", 14},
      {R"({"type":"array","maxItems":10,"items":{"type":"array","maxItems":10,"items":{"type":"integer"}}})",
       "self.all(x, x.all(y, y > 0))", 552},
      {R"({"type":"object","required":["name"],"properties":{"name":{"type":"string"}}})", "self.name.size() < 5", 4},
      {R"({"type":"object","properties":{"name":{"type":"string"}}})", "has(self.name)", 1},
      {R"({"type":"object","properties":{"a":{"type":"array","maxItems":3,"items":{"type":"integer"}}}})",
       "1 in self.a", 5},
      {R"({"type":"integer"})", "self in [1, 2, 3]", 14},
      {R"({"type":"integer"})", "self > 0 ? self < 9 : self > 1 && self < 3", 6},
      {R"({"type":"array","maxItems":10,"items":{"type":"integer"}})", "self.exists_one(x, x == 1)", 32},
      {R"({"type":"array","maxItems":10,"items":{"type":"integer"}})", "self.exists(x, x == 1)", 62},
      {R"({"type":"array","maxItems":10,"items":{"type":"string","maxLength":5}})", "self.join('abcde') == ''", 26},
      // A conversion costs the same however long its text is, and keys of maps have no length.
      {R"({"type":"string"})", "duration(self) >= duration('1ms')", 4},
      {R"({"type":"string"})", "int(self) > 1", 3},
      {R"({"type":"string"})", "timestamp(self) > timestamp('2020-01-01T00:00:00Z')", 4},
      {R"({"type":"string"})", "isURL(self)", 2},
      {R"({"type":"object","maxProperties":3,"additionalProperties":{"type":"integer"}})", "self.all(k, k == 'a')", 14},
      {R"({"type":"object","maxProperties":3,"properties":{"namespace":{"type":"string","maxLength":10}}})",
       "self.namespace == 'test'", 3},
      {R"({"type":"integer"})", "no expression (", 0},
  };
  for (const auto& row : rows)
    EXPECT_EQ(estimated_cost(row.rule, schema_of(row.schema)), row.cost) << row.schema << " " << row.rule;
}

// "FIELD: MESSAGE" of each cause, without the advice.
std::string problems_of(const std::string& schema) {
  std::vector<base::Cause> causes;
  const Structural root = read_structural(*parse_json(schema), "s", causes);
  EXPECT_TRUE(causes.empty()) << schema;
  check_rule_costs(root, "s", causes);
  std::string out;
  for (const base::Cause& one : causes) out += one.field + ": " + one.message.substr(0, one.message.find(" (")) + "\n";
  return out;
}

std::string with_rule(const std::string& rule, const std::string& more) {
  return base::format(R"({{"x-kubernetes-validations":[{{"rule":"{}"}}],{}}})", rule, more);
}

TEST(RuleCosts, above_the_limit_are_refused) {
  const std::string numbers = R"("type":"array","items":{"type":"integer"})";
  const auto object = [](const std::string& spec) {
    return base::format(R"({{"type":"object","properties":{{"spec":{}}}}})", spec);
  };
  const std::string at = "s.properties[spec]";
  EXPECT_EQ(problems_of(object(with_rule("self.all(x, x > 0)", R"("maxItems":1000,)" + numbers))), "");
  // 1,572,863 items: three steps each, and two for each comparison.
  EXPECT_EQ(problems_of(object(with_rule("self.all(x, x > 0 && x < 9)", numbers))),
            at + ".x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of "
                 "1.101004x\n");
  EXPECT_EQ(problems_of(object(with_rule("self.all(x, self.exists(y, y == x))", numbers))),
            at + ".x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more "
                 "than 100x\n"
                 "s.properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost "
                 "total exceeding cost limit for entire OpenAPIv3 schema\n"
                 "s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds "
                 "budget by factor of more than 100x\n");
  EXPECT_EQ(problems_of(object(with_rule("self.all(x, self.exists(y, y == x))", R"("maxItems":100,)" + numbers))), "");
  // A cheap rule at a place that may be there a million times.
  EXPECT_EQ(problems_of(
                object(R"({"type":"array","items":)" +
                       with_rule("self.contains('aaaaaaaaaaaaaaaaaaaa')", R"("type":"string","maxLength":100)") + "}")),
            at + ".items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of "
                 "8.5x\n");
  EXPECT_EQ(problems_of(
                object(R"({"type":"array","maxItems":100,"items":)" +
                       with_rule("self.contains('aaaaaaaaaaaaaaaaaaaa')", R"("type":"string","maxLength":100)") + "}")),
            "");
}

TEST(RuleCosts, of_messages_count_too) {
  const std::string schema =
      R"({"type":"object","properties":{"a":{"type":"string","x-kubernetes-validations":[{"rule":"true",)"
      R"("messageExpression":"self.contains(self) ? 'a' : 'b'"}]}}})";
  EXPECT_EQ(
      problems_of(schema).substr(0, problems_of(schema).find('\n')),
      "s.properties[a].x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost "
      "exceeds budget by factor of more than 100x");
}

TEST(RuleCosts, of_what_is_hostile_are_found_at_once) {
  // Deep nesting, many members, many rules: linear in what was sent.
  std::string deep = "self";
  for (int i = 0; i < 40; ++i) deep = "[" + deep + "].map(x, x).all(y, y == y)";
  std::vector<base::Cause> causes;
  std::string members;
  for (int i = 0; i < 2000; ++i)
    members += base::format(R"({}"m{}":{{"type":"string","x-kubernetes-validations":[{{"rule":"self.size() > {}"}}]}})",
                            i == 0 ? "" : ",", i, i);
  const std::string schema = R"({"type":"object","properties":{)" + members + "}}";
  const Structural root = read_structural(*parse_json(schema), "s", causes);
  check_rule_costs(root, "s", causes);
  EXPECT_TRUE(causes.empty());
  EXPECT_GT(estimated_cost(deep, root), 40u * 12);
}

}  // namespace
}  // namespace api::cel
