// Values as rules of a stranger's schema see them, and rules that are refused.
#include "api/cel/structural_rules.h"

#include <gtest/gtest.h>

#include "api/json/json.h"
#include "api/json/yaml.h"
#include "base/format.h"

namespace api::cel {
namespace {

std::string lines(const std::vector<base::Cause>& causes) {
  std::string out;
  for (const base::Cause& one : causes)
    out += base::format("{}{}: {}", out.empty() ? "" : "\n", one.field, one.message);
  return out;
}

// The faults of a schema of the members `members`, or of an object of it that was `before`.
std::string problems(const std::string& members, std::string_view object = "{}", std::string_view before = "") {
  std::vector<base::Cause> causes;
  const Json schema = *parse_yaml("{type: object, properties: {" + members + "}}");
  const Structural root = read_structural(schema, "s", causes);
  Patterns patterns;
  const StructuralRules rules(root, "s", patterns, causes);
  if (!causes.empty()) return lines(causes);
  const Json value = *parse_yaml(object), old = before.empty() ? Json() : *parse_yaml(before);
  validate(root, value, old, causes);
  rules.check(value, old, kRulesCostMax, causes);
  return lines(causes);
}

std::string member(const std::string& type, const std::string& rule) {
  return base::format("a: {{{}, x-kubernetes-validations: [{{rule: \"{}\"}}]}}", type, rule);
}

TEST(StructuralRules, see_what_the_schema_says) {
  const std::string span = "type: string, format: duration", time = "type: string, format: date-time";
  const struct {
    std::string type;
    const char *rule, *object;
    bool holds;
  } rows[] = {
      {span, "self < duration('10m')", "{a: 5m}", true},
      {span, "self < duration('10m')", "{a: 1h}", false},
      {span, "self == duration('72h')", "{a: 3 days}", true},
      {span, "self == duration('193h')", "{a: 1w 1d1hour}", true},
      {span, "self == duration('3ms')", "{a: 2 milliseconds and 1000 µs}", true},
      {time, "self > timestamp('2020-01-01T00:00:00Z')", "{a: '9999-12-31T23:59:59Z'}", true},
      {time, "self > timestamp('2020-01-01T00:00:00Z')", "{a: '0001-01-01T00:00:00Z'}", false},
      {"type: string, format: date", "self < timestamp('2020-01-01T00:00:00Z')", "{a: '1500-01-01'}", true},
  };
  for (const auto& row : rows) {
    const std::string found = problems(member(row.type, row.rule), row.object);
    EXPECT_EQ(found.empty() ? "" : found.substr(0, 16), row.holds ? "" : "a: Invalid value") << row.object << found;
    EXPECT_EQ(found.find("evaluating"), std::string::npos) << found;
  }
  EXPECT_NE(problems("a: {" + span + "}", "{a: soon}").find("must be of type duration"), std::string::npos);
}

TEST(StructuralRules, reach_properties_with_the_names_of_reserved_words) {
  for (const char* word : {"as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop",
                           "package", "namespace", "return", "var", "void", "while"}) {
    const std::string type = base::format("type: object, properties: {{{}: {{type: integer}}}}", word);
    for (const std::string& name : {std::string(word), base::format("__{}__", word)}) {
      const std::string rule = base::format("!has(self.{0}) || self.{0} == 3", name);
      EXPECT_EQ(problems(member(type, rule), base::format("{{a: {{{}: 3}}}}", word)), "") << name;
      EXPECT_EQ(problems(member(type, rule), "{a: {}}"), "") << name;
      EXPECT_NE(problems(member(type, rule), base::format("{{a: {{{}: 4}}}}", word)), "") << name;
    }
  }
  EXPECT_NE(problems(member("type: object, properties: {other: {type: integer}}", "self.namespace == 3")), "");
}

// A place that is limited, in whatever nesting, is looked for in the structure and nowhere else.
TEST(StructuralRules, take_limits_in_any_nesting_of_allOf_anyOf_oneOf_and_not) {
  const std::string structure =
      "type: object, properties: {tag: {type: string}, deep: {type: object, properties: {x: {type: integer}}}, "
      "list: {type: array, items: {type: object, properties: {y: {type: integer}}}}}, ";
  for (const char* limits : {
           "oneOf: [{not: {anyOf: [{required: [tag]}, {properties: {tag: {enum: [a]}}}]}}, {required: [tag]}]",
           "not: {allOf: [{properties: {deep: {properties: {x: {minimum: 3}}}}}]}",
           "allOf: [{anyOf: [{oneOf: [{not: {properties: {list: {items: {properties: {y: {minimum: 1}}}}}}}]}]}]",
       })
    EXPECT_EQ(problems("a: {" + structure + limits + "}"), "") << limits;
  // As on a stock server the structure of members is not looked through.
  EXPECT_EQ(problems("a: {" + structure + "anyOf: [{properties: {list: {items: {properties: {z: {}}}}}}]}"), "");
}

TEST(StructuralRules, know_sets_and_lists_with_keys) {
  const std::string set = "type: array, x-kubernetes-list-type: set, items: {type: string}";
  const std::string numbers = "type: array, x-kubernetes-list-type: set, items: {type: number}";
  const std::string map =
      "type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k-1], items: {type: object, "
      "required: [k-1], properties: {k-1: {type: string}, v: {type: integer}}}";
  const std::string plain = "type: array, items: {type: string}";
  const struct {
    std::string type;
    const char *rule, *object, *before;
    bool holds;
  } rows[] = {
      {set, "self == oldSelf", "{a: [a, b]}", "{a: [b, a]}", true},
      {set, "self == oldSelf", "{a: [a, b]}", "{a: [b, c]}", false},
      {set, "self == oldSelf", "{a: [a, b]}", "{a: [b]}", false},
      {set, "(self + oldSelf).size() == 3 && (self + oldSelf)[2] == 'c'", "{a: [a, b]}", "{a: [b, c]}", true},
      {set, "self + ['z'] == ['a', 'b', 'z']", "{a: [b, a]}", "", true},
      {numbers, "self == oldSelf && self + [7.0] == [7.0, 2.0, 1.5]", "{a: [1.5, 2]}", "{a: [2, 1.5]}", true},
      {plain, "self == oldSelf", "{a: [a, b]}", "{a: [b, a]}", false},
      {plain, "(self + oldSelf).size() == 4", "{a: [a, b]}", "{a: [b, a]}", true},
      {map, "self == oldSelf", "{a: [{k-1: x, v: 1}, {k-1: w}]}", "{a: [{k-1: w}, {k-1: x, v: 1}]}", true},
      {map, "self == oldSelf", "{a: [{k-1: x, v: 1}]}", "{a: [{k-1: x, v: 2}]}", false},
      {map, "(self + oldSelf).map(i, i.v) == [2, 5, 3]", "{a: [{k-1: x, v: 1}, {k-1: w, v: 5}]}",
       "{a: [{k-1: z, v: 3}, {k-1: x, v: 2}]}", true},
  };
  for (const auto& row : rows) {
    const std::string found = problems(member(row.type, row.rule), row.object, row.before);
    EXPECT_EQ(found.empty(), row.holds) << row.rule << row.object << found;
    EXPECT_EQ(found.find("evaluating"), std::string::npos) << found;
  }
}

TEST(StructuralRules, compare_items_only_where_they_are_known) {
  const std::string rule = "x-kubernetes-validations: [{rule: self == oldSelf}]";
  const std::string message =
      "Invalid value: \"self == oldSelf\": oldSelf cannot be used on the uncorrelatable portion of the schema within ";
  EXPECT_EQ(problems("a: {type: array, items: {type: string, " + rule + "}}"),
            "s.properties[a].items.x-kubernetes-validations[0].rule: " + message + "s.properties[a].items");
  EXPECT_EQ(problems("a: {type: array, items: {type: object, properties: {b: {type: object, additionalProperties: "
                     "{type: string, " +
                     rule + "}}}}}"),
            "s.properties[a].items.properties[b].additionalProperties.x-kubernetes-validations[0].rule: " + message +
                "s.properties[a].items");
  EXPECT_EQ(
      problems("a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: "
               "object, required: [k], " +
               rule + ", properties: {k: {type: string}}}}, b: {type: array, items: {type: string}, " + rule + "}"),
      "");
}

TEST(StructuralRules, have_patterns_that_are_bounded_together) {
  std::string members, equal;
  for (int i = 0; i < 300; ++i) {
    members += base::format(
        "p{}: {{type: string, x-kubernetes-validations: [{{rule: \"self.matches('\\\\\\\\pL{{29}}{}')\"}}]}}, ", i, i);
    equal += base::format(
        "p{}: {{type: string, x-kubernetes-validations: [{{rule: \"self.matches('\\\\\\\\pL{{9}}')\"}}]}}, ", i);
  }
  EXPECT_NE(problems(members).find("the regular expressions are too large together"), std::string::npos);
  EXPECT_EQ(problems(equal), "");
}

TEST(StructuralRules, take_integers_that_are_whole_and_exact) {
  const std::string integer = "a: {type: integer}";
  for (const char* good : {"9223372036854775807", "-9223372036854775808", "2.0", "9007199254740991.0"})
    EXPECT_EQ(problems(integer, base::format("{{a: {}}}", good)), "") << good;
  for (const char* bad : {"9223372036854775808", "1e30", "2.5", "-1e19"})
    EXPECT_EQ(problems(integer, base::format("{{a: {}}}", bad)),
              "a: Invalid value: \"number\": a in body must be of type integer: \"number\"")
        << bad;
}

}  // namespace
}  // namespace api::cel
