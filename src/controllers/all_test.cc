// Which controllers --controllers switches on.
#include "controllers/all.h"

#include <gtest/gtest.h>

namespace controllers {
namespace {

TEST(Selection, the_first_hit_decides) {
  struct Row {
    std::vector<std::string> list;
    bool enabled;
  };
  const Row rows[] = {
      {{}, true},     {{"*"}, true},  {{"*", "-x"}, false}, {{"x", "-x"}, true}, {{"-x", "x"}, false},
      {{"+x"}, true}, {{"y"}, false}, {{"y", "*"}, true},   {{"-y"}, false},     {{"*", "-sharding-controller"}, true}};
  for (const Row& row : rows) EXPECT_EQ(is_enabled(row.list, "x"), row.enabled);
}

}  // namespace
}  // namespace controllers
