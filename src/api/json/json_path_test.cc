// Paths of printer columns.
#include "api/json/json_path.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace api {
namespace {

TEST(JsonPath, follows_what_columns_write) {
  const Json object = *parse_yaml(R"({a: {b.c: 1, list: [{id: p, v: 1}, {id: q, v: 2}]}, labels: {k: v}})");
  struct Row {
    const char* path;
    const char* found;  // the first, as text; empty: nothing
  };
  const Row rows[] = {{".a.list[0].id", "\"p\""},
                      {".a.list[-1:].id", "\"q\""},
                      {".a.list[*].v", "1"},
                      {".a.list[?(@.id==\"q\")].v", "2"},
                      {".a['b.c']", "1"},
                      {".a.b\\.c", "1"},
                      {".a.list[?(@.v>1)].id", "\"q\""},
                      {"..k", "\"v\""},
                      {".a.none.b", ""},
                      {".a.list[5]", ""},
                      {".a.list[?(@.none)].id", ""},
                      {".a.list[1:].id", "\"q\""},
                      {".a.list[].id", "\"p\""},
                      {".a.none[].id", ""}};
  for (const Row& row : rows) {
    const auto path = JsonPath::parse(row.path);
    ASSERT_TRUE(path.ok()) << row.path;
    const auto found = path->find(object);
    EXPECT_EQ(found.empty() ? "" : found.front()->dump(), row.found) << row.path;
  }
  for (const char* wrong : {"a", ".a[", ".a[x]", ".a[?(@.b==", ".a..", "."})
    EXPECT_EQ(JsonPath::parse(wrong).ok(), std::string_view(wrong) == ".") << wrong;
}

}  // namespace
}  // namespace api
