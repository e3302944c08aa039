// Texts that are lists, and numbers in texts.
#include "base/split.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "base/number.h"

namespace base {
namespace {

using Pieces = std::vector<std::string_view>;

TEST(Split, keeps_empty_pieces) {
  EXPECT_EQ(split("a,b", ','), (Pieces{"a", "b"}));
  EXPECT_EQ(split("", ','), (Pieces{""}));
  EXPECT_EQ(split(",a,,", ','), (Pieces{"", "a", "", ""}));
}

TEST(Split, words_have_no_blanks_around_them) {
  EXPECT_EQ(split_words(" a b ,\t,c\n", ','), (Pieces{"a b", "c"}));
  EXPECT_EQ(split_words(" \t", ','), Pieces());
  EXPECT_EQ(split_words("", ','), Pieces());
}

TEST(ParseNumber, takes_whole_texts_only) {
  EXPECT_EQ(parse_number<std::int64_t>("-42"), -42);
  EXPECT_EQ(parse_number<std::uint8_t>("255"), 255);
  for (const std::string_view wrong : {"", "+1", " 1", "1 ", "1.5", "0x1", "99999999999999999999"})
    EXPECT_EQ(parse_number<std::int64_t>(wrong), std::nullopt) << wrong;
  EXPECT_EQ(parse_number<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint8_t>("-1"), std::nullopt);
}

}  // namespace
}  // namespace base
