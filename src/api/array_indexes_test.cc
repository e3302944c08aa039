// Indexes of arrays, as Slurm writes them.
#include "api/array_indexes.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(ArrayIndexes, AreReadAsSlurmReadsThem) {
  struct Row {
    std::string_view text;
    std::vector<std::int64_t> indexes;
    std::int64_t at_once;
  };
  const Row rows[] = {{"3", {3}, 0},
                      {"1-4%2", {1, 2, 3, 4}, 2},
                      {"0-6:3", {0, 3, 6}, 0},
                      {"1,3,7", {1, 3, 7}, 0},
                      {"5-6,1,5%1", {5, 6, 1}, 1}};
  for (const Row& row : rows) {
    const auto read = parse_array(row.text);
    ASSERT_TRUE(read.ok()) << row.text;
    EXPECT_EQ(read->indexes, row.indexes) << row.text;
    EXPECT_EQ(read->at_once, row.at_once) << row.text;
  }
}

TEST(ArrayIndexes, OtherTextsAreRefusedByTheirPart) {
  for (const std::string_view text : {"", "a", "4-1", "1-", "-3", "1-4:0", "3:2", "1-4%0", "1-4%", "%4", "1,,2",
                                      "1-2000000000", "0-99999999999999999999", "1-10001"})
    EXPECT_FALSE(parse_array(text).ok()) << text;
  EXPECT_NE(parse_array("1,x-3").error().message.find("\"x-3\""), std::string::npos);
}

}  // namespace
}  // namespace api
