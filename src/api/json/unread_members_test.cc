// Members that nobody reads.
#include "api/json/unread_members.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace api {
namespace {

TEST(UnreadMembers, are_told_by_their_place) {
  constexpr std::string_view kRead[] = {"a", "b.c", "list[].name", "list[].arguments", "kinds.*[].label", "texts[]"};
  struct Row {
    const char* document;
    std::vector<std::string> unread;
  };
  const Row rows[] = {{"", {}},
                      {"text", {}},
                      {"{a: 1, b: {c: 2}}", {}},
                      {"{a: {x: 1}}", {}},
                      {"{A: 1, b: {d: 2}, e: {f: 3}}", {"A", "b.d", "e"}},
                      {"{b: 1}", {}},
                      {"{list: [{name: n, arguments: {x: 1}}, {name: m, nmae: o}]}", {"list[1].nmae"}},
                      {"{kinds: {one: [{label: l}], two: [{label: l, lable: m}]}}", {"kinds.two[0].lable"}},
                      {"{texts: [one, two]}", {}},
                      {"{ab: 1, lists: []}", {"ab", "lists"}}};
  for (const Row& row : rows)
    EXPECT_EQ(unread_members(parse_yaml(row.document).value(), kRead), row.unread) << row.document;
}

}  // namespace
}  // namespace api
