// Texts of objects that would speak to the terminal.
#include "cli/text/terminal_text.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(TerminalText, control_characters_are_shown_and_not_obeyed) {
  EXPECT_EQ(for_terminal("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(for_terminal("\x1b[2J\x1b]0;title\x07"), "\\u001b[2J\\u001b]0;title\\u0007");
  EXPECT_EQ(for_terminal("ok\rbad"), "ok\\u000dbad");
  EXPECT_EQ(for_terminal("\xc2\x9b"
                         "31m\x7f"),
            "\\u009b31m\\u007f");
  EXPECT_EQ(for_terminal("gr\xc3\xbc\xc3\x9f \xe2\x9c\x93"), "gr\xc3\xbc\xc3\x9f \xe2\x9c\x93");
  EXPECT_EQ(for_terminal("\xc2"), "\xc2");
}

}  // namespace
}  // namespace cli
