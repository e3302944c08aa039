// Names of groups, and what only looks like one.
#include "api/schema/go_regexp.h"

#include <gtest/gtest.h>

#include "api/schema/pattern.h"
#include "api/schema/pattern_problem.h"

namespace api {
namespace {

TEST(GoRegexp, names_of_groups_are_written_as_re2_knows_them) {
  const std::pair<const char*, const char*> rows[] = {
      {"", ""},
      {"a(?<n>b)(?P<m>c)", "a(?P<n>b)(?P<m>c)"},
      {"((?<n>a))", "((?P<n>a))"},
      {R"(\(?<n>a)", R"(\(?<n>a)"},
      {R"(\\(?<n>a))", R"(\\(?P<n>a))"},
      {"[(?<n>]a", "[(?<n>]a"},
      {"[](?<n>](?<m>a)", "[](?<n>](?P<m>a)"},
      {"[^](?<n>](?<m>a)", "[^](?<n>](?P<m>a)"},
      {"[[:alpha:](?<n>](?<m>a)", "[[:alpha:](?<n>](?P<m>a)"},
      {"[[:", "[[:"},
      {R"([\](?<n>](?<m>a))", R"([\](?<n>](?P<m>a))"},
      {R"(\Q(?<n>\E(?<m>a))", R"(\Q(?<n>\E(?P<m>a))"},
      {R"(\Q(?<n>)", R"(\Q(?<n>)"},
      {"(?<=a)", "(?<=a)"},
      {"(?<!a)", "(?<!a)"},
      {"(?i)(?:a)", "(?i)(?:a)"},
      {"\\", "\\"},
  };
  for (const auto& [from, to] : rows) EXPECT_EQ(re2_syntax(from), to);
  EXPECT_EQ(small_pattern_problem("node-(?<n>[0-9]+)"), "");
  EXPECT_TRUE(Pattern("^node-(?<n>[0-9]+)$").matches("node-12"));
  EXPECT_NE(pattern_problem("(?<=a)"), "");
}

}  // namespace
}  // namespace api
