// Base64 both ways, and what is none.
#include "base/base64.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Base64, the_examples_of_rfc_4648) {
  for (const auto& [bytes, text] : {std::pair{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(*base64_decode(text), bytes);
  }
}

TEST(Base64, every_byte_comes_back) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i);
    EXPECT_EQ(*base64_decode(base64_encode(bytes)), bytes);
  }
}

TEST(Base64, line_ends_are_passed_over) { EXPECT_EQ(*base64_decode("Zm9v\r\nYmFy\n"), "foobar"); }

TEST(Base64, other_text_is_none) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "=", "Zm9v!mFy", "Zm 9v", "Zg==Zg==", "Zm9-", "Zm=v"})
    EXPECT_FALSE(base64_decode(text).ok()) << text;
}

TEST(Base64, for_urls_there_is_no_padding) {
  EXPECT_EQ(*base64url_decode("-_8"), "\xfb\xff");
  EXPECT_EQ(*base64url_decode("Zg"), "f");
  for (const char* text : {"Zg==", "+/8", "Z", "Zg\n"}) EXPECT_FALSE(base64url_decode(text).ok()) << text;
}

}  // namespace
}  // namespace base
