// The places where one schema accepts less than another.
#include "api/schema_differences.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace api {
namespace {

TEST(SchemaDifferences, what_is_asked_for_and_of_what_type) {
  struct Row {
    const char *before, *after;
    std::vector<std::string> narrower;
  };
  const Row rows[] = {
      {"{type: object, properties: {a: {type: string}}}", "{type: object, properties: {a: {type: string}}}", {}},
      {"{properties: {a: {type: string}}}", "{properties: {a: {type: integer}}}", {"a is integer instead of string"}},
      {"{properties: {a: {type: integer}}}", "{properties: {a: {type: number}}}", {}},
      {"{properties: {a: {type: number}}}", "{properties: {a: {type: integer}}}", {"a is integer instead of number"}},
      {"{properties: {a: {type: string}}}", "{properties: {a: {x-kubernetes-int-or-string: true}}}", {}},
      {"{properties: {a: {x-kubernetes-int-or-string: true}}}",
       "{properties: {a: {type: string}}}",
       {"a is string instead of integer or string"}},
      {"{properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}",
       "{properties: {a: {type: object}}}",
       {"a is object instead of anything"}},
      {"{properties: {a: {type: object}}}", "{properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}", {}},
      {"{properties: {a: {type: string, nullable: true}}}", "{properties: {a: {type: string}}}", {"a may not be null"}},
      // Fields that only one of them knows are another matter.
      {"{properties: {a: {type: string}}}", "{properties: {b: {type: string}}}", {}},
      {"{properties: {a: {type: string}}}", "{properties: {a: {type: string}}, required: [a]}", {"a is required"}},
      {"{properties: {a: {type: string}}, required: [a]}", "{properties: {a: {type: string}}, required: [a]}", {}},
      {"{properties: {a: {type: string}}, required: [a]}", "{properties: {a: {type: string}}}", {}},
      {"{properties: {}}", "{properties: {b: {type: string}}, required: [b]}", {"b is required"}},
      {"{properties: {a: {type: string}}}", "{properties: {a: {type: string, default: x}}, required: [a]}", {}},
      {"{properties: {s: {properties: {l: {type: array, items: {properties: {name: {type: string}}}}}}}}",
       "{properties: {s: {properties: {l: {type: array, items: {required: [name], properties: {name: {type: "
       "boolean}}}}}}}}",
       {"s.l[].name is required", "s.l[].name is boolean instead of string"}},
      {"{properties: {m: {additionalProperties: {type: string}}}}",
       "{properties: {m: {additionalProperties: {type: integer}}}}",
       {"m{} is integer instead of string"}}};
  for (const Row& row : rows)
    EXPECT_EQ(narrower_places(parse_yaml(row.before).value(), parse_yaml(row.after).value()), row.narrower)
        << row.before << " | " << row.after;
}

}  // namespace
}  // namespace api
