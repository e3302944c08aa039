// The form that Go prints with %q.
#include "base/quote.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(GoQuoted, is_what_go_prints) {
  EXPECT_EQ(go_quoted(""), R"("")");
  EXPECT_EQ(go_quoted("a<b>&'"), R"("a<b>&'")");
  EXPECT_EQ(go_quoted("a\"b\\xc"), R"("a\"b\\xc")");
  EXPECT_EQ(go_quoted("\n\t\r\a\b\f\v\x01\x7f"), R"("\n\t\r\a\b\f\v\x01\x7f")");
  EXPECT_EQ(go_quoted("\u00e9 \u200b \u00a0 \u0085 \U0001F600 \U000E0001 \ufeff"),
            "\"\u00e9 \\u200b \\u00a0 \\u0085 \U0001F600 \\U000e0001 \\ufeff\"");
  EXPECT_EQ(go_quoted("\xff\xc3(\xa0"), R"("\xff\xc3(\xa0")");
}

}  // namespace
}  // namespace base
