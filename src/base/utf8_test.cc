// Text and bytes that are none: the standard's examples, cuts at every place, every short sequence against a plain
// reading.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace base {
namespace {

TEST(Utf8, accepts_text_and_refuses_overlong_surrogates_and_what_is_too_large) {
  for (const char* good : {"", "a", "\x7f", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "a long line of plain text \xC3\xA4 and more"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xC3", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "eight by\xFFtes and more"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

TEST(Utf8, every_short_sequence_is_judged_as_by_its_code_point) {
  // A plain second reading: decode, encode again, compare.
  for (std::uint32_t lead = 0; lead < 256; ++lead)
    for (std::uint32_t second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(lead), static_cast<char>(second)};
      const bool two_ascii = lead < 0x80 && second < 0x80;
      const bool one = lead >= 0xC2 && lead < 0xE0 && second >= 0x80 && second < 0xC0;
      EXPECT_EQ(is_utf8(text), two_ascii || one) << lead << " " << second;
      EXPECT_TRUE(is_utf8(to_utf8(text)));
    }
}

TEST(Utf8, a_bad_part_becomes_one_replacement) {
  EXPECT_EQ(to_utf8("ok"), "ok");
  EXPECT_EQ(to_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(to_utf8("\xE2\x82"), "\xEF\xBF\xBD");
  EXPECT_EQ(to_utf8("\xF0\x9F\x92z"), "\xEF\xBF\xBDz");
  EXPECT_EQ(to_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(to_utf8(std::string_view("\0x", 2)), std::string_view("\0x", 2));
}

TEST(Utf8, cuts_fall_between_characters) {
  const std::string text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x92\xA9z";
  for (std::size_t bytes = 0; bytes <= text.size() + 1; ++bytes) {
    const std::string_view head = utf8_prefix(text, bytes);
    const std::string_view tail = utf8_suffix(text, bytes);
    EXPECT_TRUE(is_utf8(head) && is_utf8(tail)) << bytes;
    EXPECT_TRUE(head.size() <= bytes && tail.size() <= bytes) << bytes;
    EXPECT_TRUE(text.starts_with(head) && text.ends_with(tail)) << bytes;
    EXPECT_TRUE(head.size() == text.size() || head.size() + 4 > bytes) << bytes;
  }
  EXPECT_LE(utf8_prefix("\x80\x80\x80\x80\x80\x80", 5).size(), 5u);
  EXPECT_LE(utf8_suffix("\x80\x80\x80\x80\x80\x80", 5).size(), 5u);
}

}  // namespace
}  // namespace base
