// Names that are taken and names that are not; what is said agrees with what is taken.
#include "api/schema/names.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(Names, each_rule_takes_what_it_should) {
  const std::string label63(63, 'a'), label64(64, 'a'),
      subdomain253 = label63 + "." + label63 + "." + label63 + "." + std::string(61, 'a');
  struct Row {
    std::string text;
    bool label, subdomain, old_label, qualified, value;
  };
  const Row rows[] = {
      {"", false, false, false, false, true},
      {"a", true, true, true, true, true},
      {"1a", true, true, false, true, true},
      {"a-b", true, true, true, true, true},
      {"-a", false, false, false, false, false},
      {"a-", false, false, false, false, false},
      {"a.b", false, true, false, true, true},
      {"a..b", false, false, false, true, true},
      {"A_b", false, false, false, true, true},
      {"x.io/A", false, false, false, true, false},
      {"X.io/a", false, false, false, false, false},
      {"/a", false, false, false, false, false},
      {"a/", false, false, false, false, false},
      {"a/b/c", false, false, false, false, false},
      {"\xc3\xa4", false, false, false, false, false},
      {label63, true, true, true, true, true},
      {label64, false, true, false, false, false},
      {subdomain253, false, true, false, false, false},
      {subdomain253 + "a", false, false, false, false, false},
      {subdomain253 + "/a", false, false, false, true, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(is_dns_label(row.text), row.label) << row.text;
    EXPECT_EQ(is_dns_subdomain(row.text), row.subdomain) << row.text;
    EXPECT_EQ(is_qualified_name(row.text), row.qualified) << row.text;
    EXPECT_EQ(is_label_value(row.text), row.value) << row.text;
    EXPECT_EQ(check_dns_label(row.text).empty(), row.label) << row.text;
    EXPECT_EQ(check_dns_subdomain(row.text).empty(), row.subdomain) << row.text;
    EXPECT_EQ(check_dns1035_label(row.text).empty(), row.old_label) << row.text;
    EXPECT_EQ(check_qualified_name(row.text).empty(), row.qualified) << row.text;
    EXPECT_EQ(check_label_value(row.text).empty(), row.value) << row.text;
  }
}

TEST(Names, problems_are_told_one_by_one) {
  const std::string name = std::string(64, '_');
  EXPECT_EQ(check_qualified_name("/" + name),
            (std::vector<std::string>{"prefix part must be non-empty", "name part must be no more than 63 bytes",
                                      "name part " + std::string(kNamePartRule)}));
  EXPECT_EQ(check_dns_label(std::string(64, 'A'), "characters"),
            (std::vector<std::string>{"must be no more than 63 characters", std::string(kDnsLabelRule)}));
  EXPECT_EQ(check_qualified_name("a/b/c"),
            (std::vector<std::string>{"a qualified name " + std::string(kNamePartRule) +
                                      " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}));
}

}  // namespace
}  // namespace api
