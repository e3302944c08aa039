// Which members of a stranger's object stay, and which are pruned?
#include "api/schema/structural/structural.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace api {
namespace {

TEST(Structural, keeps_unknown_members_where_the_schema_says_so_at_every_depth) {
  const struct {
    const char *schema, *value, *kept;
  } rows[] = {
      // The flag on a list keeps what its items do not name.
      {"{type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object}}", "[{a.b: 1, c: {d: 2}}]",
       "[{a.b: 1, c: {d: 2}}]"},
      {"{type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object, properties: {n: {type: "
       "string}, "
       "deep: {type: object, properties: {a: {type: string}}}}}}",
       "[{n: x, other: kept, deep: {a: x, b: pruned}}]", "[{n: x, other: kept, deep: {a: x}}]"},
      {"{type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: array, items: {type: object}}}",
       "[[{x: kept}], [{y: kept}]]", "[[{x: kept}], [{y: kept}]]"},
      {"{type: array, items: {type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object}}}",
       "[[{x: kept}]]", "[[{x: kept}]]"},
      {"{type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}", "[{x: kept}]",
       "[{x: kept}]"},
      {"{type: array, items: {type: object}}", "[{x: pruned}]", "[{}]"},
      // Members that are named are judged by themselves, also where they lead back to a list.
      {"{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: object, properties: {a: "
       "{type: string}}}}}",
       "{other: kept, known: {a: x, b: pruned}}", "{other: kept, known: {a: x}}"},
      {"{type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object, properties: {l: {type: array, "
       "items: {type: object}}}}}",
       "[{l: [{x: pruned}], m: [{x: kept}]}]", "[{l: [{}], m: [{x: kept}]}]"},
      {"{type: object, additionalProperties: {type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: "
       "object}}}",
       "{k: [{x: kept}]}", "{k: [{x: kept}]}"},
  };
  for (const auto& row : rows) {
    std::vector<base::Cause> causes;
    const Structural root =
        read_structural(*parse_yaml("{type: object, properties: {v: " + std::string(row.schema) + "}}"), "s", causes);
    ASSERT_TRUE(causes.empty()) << row.schema << causes[0].message;
    Json object = *parse_yaml("{v: " + std::string(row.value) + "}");
    prune(root, object, nullptr);
    EXPECT_EQ(object["v"], *parse_yaml(row.kept)) << row.schema << " " << object.dump();
  }
}

}  // namespace
}  // namespace api
