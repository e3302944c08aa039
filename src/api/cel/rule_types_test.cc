// Rules whose types do not fit their schema are refused in cel-go's words. tests/stock/differential/rules.txt has some
// hundreds more, with the verdicts of a stock server.
#include "api/cel/rule_types.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace api::cel {
namespace {

constexpr char kSchema[] = R"({type: object, properties: {
  s: {type: string}, i: {type: integer}, d: {type: number}, b: {type: boolean}, t: {type: string, format: date-time},
  l: {type: array, items: {type: string}}, m: {type: object, additionalProperties: {type: integer}},
  o: {type: object, properties: {a: {type: string}, true: {type: string}}}, any: {x-kubernetes-int-or-string: true}}})";

Structural schema() {
  std::vector<base::Cause> causes;
  Structural out = read_structural(*parse_yaml(kSchema), "", causes);
  EXPECT_TRUE(causes.empty());
  return out;
}

struct Row {
  const char* rule;
  const char* problem;  // behind "compilation failed: "
};

TEST(RuleTypes, name_the_first_part_that_does_not_fit) {
  const Structural self = schema();
  const Row rows[] = {
      {"self.s == 1", "found no matching overload for '_==_' applied to '(string, int)'"},
      {"self.i == 1.0", "found no matching overload for '_==_' applied to '(int, double)'"},
      {"self.l == null", "found no matching overload for '_==_' applied to '(list(string), null)'"},
      {"self.q == 1", "undefined field 'q'"},
      {"has(self.o.q)", "undefined field 'q'"},
      {"self.s.q == 1", "type 'string' does not support field selection"},
      {"self.s.startsWith(1)", "found no matching overload for 'startsWith' applied to 'string.(int)'"},
      {"size(self.i) == 1", "found no matching overload for 'size' applied to '(int)'"},
      {"self.l.all(x, x > 1)", "found no matching overload for '_>_' applied to '(string, int)'"},
      {"self.l.all(x, x)", "expected type 'bool' but found 'string'"},
      {"self.o.all(k, true)",
       "expression of type 'object' cannot be range of a comprehension (must be list, map, or dynamic)"},
      {"self.m['a'] == 'x'", "found no matching overload for '_==_' applied to '(int, string)'"},
      {"self.m[0] == 1", "found no matching overload for '_[_]' applied to '(map(string, int), int)'"},
      {"[1, 'a'].size() == 2", "expected type 'int' but found 'string'"},
      {"self.b ? 1 == 1 : 'a'", "found no matching overload for '_?_:_' applied to '(bool, bool, string)'"},
      {"self.t == 'x'", "found no matching overload for '_==_' applied to '(google.protobuf.Timestamp, string)'"},
      {"math.greatest(self.i, 1) == 1", "undeclared reference to 'math.greatest'"},
      {"cel.bind(x, 1, x == 1)", "undeclared reference to 'cel'"},
      {"type(self.s) in [string, int]", "expected type 'type(string)' but found 'type(int)'"},
      {"type(self.s) == 'string'", "found no matching overload for '_==_' applied to '(type(string), string)'"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(type_problem(row.rule, {self}, RuleResult::kBool), std::string("compilation failed: ") + row.problem)
        << row.rule;
}

TEST(RuleTypes, take_what_fits) {
  const Structural self = schema();
  for (const char* rule : {"self.i < 1.5",
                           "self.d == 1.0",
                           "self.o == null",
                           "self.t > timestamp('2020-01-01T00:00:00Z')",
                           "self.any == 1",
                           "self.any == 'a'",
                           "self.any.matches('^a')",
                           "self.l == []",
                           "self.l.map(x, size(x)) == [1]",
                           "self.m.all(k, self.m[k] > 0)",
                           "self.?s.orValue('') == ''",
                           "self.?o.?a.hasValue()",
                           "oldSelf.s == self.s",
                           "dyn(self.s) == 1",
                           "self.l.sortBy(x, size(x)) == self.l.sort()",
                           "quantity(self.s).isGreaterThan(quantity('1'))",
                           "sets.contains(self.l, ['a'])",
                           "type(self.s) == string",
                           "type(self.any) == int",
                           "type(self.s) == type(self.i)",
                           "type(self.l) == list",
                           "type(self.m) == map",
                           "type(self.t) == google.protobuf.Timestamp",
                           "type(type(self.s)) == type",
                           "[self.any, self.any].all(x, type(x) in [int, int])",
                           "self.o.__true__ == 'a'",
                           "self.s =="})
    EXPECT_EQ(type_problem(rule, {self}, RuleResult::kBool), "") << rule;
}

TEST(RuleTypes, judge_the_result) {
  const Structural self = schema();
  EXPECT_EQ(type_problem("self.s", {self}, RuleResult::kBool), "cel expression must evaluate to a bool");
  EXPECT_EQ(type_problem("self.any", {self}, RuleResult::kBool), "cel expression must evaluate to a bool");
  EXPECT_EQ(type_problem("self.b", {self}, RuleResult::kBool), "");
  EXPECT_EQ(type_problem("self.i", {self}, RuleResult::kString), "messageExpression must evaluate to a string");
  EXPECT_EQ(type_problem("'no ' + self.s", {self}, RuleResult::kString), "");
}

// Maps from maps to maps would take twice as long to compare with each level.
TEST(RuleTypes, nest_no_deeper_than_schemas_do) {
  const Structural self = schema();
  std::string deep = "self.l";
  for (int i = 0; i < 60; ++i) deep += ".map(a, {a: a})";
  EXPECT_EQ(type_problem(deep + " == " + deep, {self}, RuleResult::kBool), "");
  EXPECT_EQ(type_problem(deep + " == 1", {self}, RuleResult::kBool), "");
}

TEST(RuleTypes, know_whole_objects_and_absent_old_values) {
  const Structural self = schema();
  const RuleScope root{.self = self, .is_root = true, .optional_old_self = true};
  EXPECT_EQ(type_problem("self.metadata.name == self.kind", root, RuleResult::kBool), "");
  EXPECT_EQ(type_problem("has(self.metadata.labels)", root, RuleResult::kBool),
            "compilation failed: undefined field 'labels'");
  EXPECT_EQ(type_problem("oldSelf.hasValue() || self.s == ''", root, RuleResult::kBool), "");
  EXPECT_EQ(type_problem("self.kind == ''", {self}, RuleResult::kBool), "compilation failed: undefined field 'kind'");
}

}  // namespace
}  // namespace api::cel
