// The letters that stay as they are in a URL.
#include "base/percent.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Percent, of_a_query_and_of_a_segment) {
  EXPECT_EQ(percent_encode("a b/=é"), "a%20b%2F%3D%C3%A9");
  EXPECT_EQ(percent_encode_segment("a b/=é"), "a%20b%2F=%C3%A9");
  const std::string name = "web-0_1.example~com:8080@x!$&'()*+,;=";
  EXPECT_EQ(percent_encode_segment(name), name);
  EXPECT_EQ(percent_encode_segment("x HTTP/1.1\r\nY?z#%2f\x7f"), "x%20HTTP%2F1.1%0D%0AY%3Fz%23%252f%7F");
  EXPECT_EQ(percent_encode_segment(std::string_view("\0", 1)), "%00");
}

}  // namespace
}  // namespace base
