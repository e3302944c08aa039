// Which words are flags, what do they set, and what is said of wrong ones?
#include "base/flags.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace base {
namespace {

struct Targets {
  bool on = false;
  int number = 3;
  std::int64_t verbosity = 0;
  double rate = 50;
  Duration span = seconds(1);
  std::string text;
  std::vector<std::string> each;
  std::vector<std::string> words;

  std::vector<Flag> rows() {
    return {{"on", &on, "a switch"},
            {"some-number", &number, "a number"},
            {"v", &verbosity, "how much is said"},
            {"rate", &rate, "a rate"},
            {"span", &span, "a time"},
            {"output", &text, "a text", 'o'},
            {"each", &each, "texts"},
            {"words", CommaList{&words}, "lists"},
            {"old-switch", Accepted::kSwitch, "accepted"},
            {"old-number", Accepted::kNumber, "accepted"},
            {"old-span", Accepted::kDuration, "accepted"},
            {"of-another", Elsewhere{}, "a flag of another program"}};
  }
  std::string shown() const {
    std::string out = format("{} {} {} {} {} {}", on, number, verbosity, rate, format_go_duration(span), text);
    for (const std::string& one : each) out += " <" + one + ">";
    for (const std::string& one : words) out += " [" + one + "]";
    return out;
  }
};

TEST(Flags, are_read_in_every_form_of_Go) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--on", "--some-number=4", "--v", "2"}, "true 4 2 50 1s "},
      {{"-on=false", "-some_number", "4"}, "false 4 0 50 1s "},
      {{"-v4"}, "false 3 4 50 1s "},
      {{"-v=4"}, "false 3 4 50 1s "},
      {{"-v", "4"}, "false 3 4 50 1s "},
      {{"-ojson"}, "false 3 0 50 1s json"},
      {{"-o=json"}, "false 3 0 50 1s json"},
      {{"-o", "-"}, "false 3 0 50 1s -"},
      {{"--output="}, "false 3 0 50 1s "},
      {{"--rate", "1e3", "--span=1m30s"}, "false 3 0 1000 1m30s "},
      {{"--each=a,b", "--each=c", "--words=a, b,", "--words", "c"}, "false 3 0 50 1s  <a,b> <c> [a] [b] [c]"},
      {{"--old-switch", "--old_number=-1", "--old-span", "5s", "--old-switch=false"}, "false 3 0 50 1s "},
  };
  for (const auto& [arguments, expected] : cases) {
    Targets targets;
    const auto words = parse_flags(targets.rows(), arguments);
    ASSERT_TRUE(words.ok()) << words.error().message;
    EXPECT_EQ(targets.shown(), expected);
    EXPECT_TRUE(words->rest.empty());
  }
}

TEST(Flags, leave_what_is_none_in_order) {
  Targets targets;
  const auto words = parse_flags(targets.rows(), {"a", "--on", "-", "b", "--", "--on=maybe", "-x"});
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(words->rest, (std::vector<std::string>{"a", "-", "b", "--on=maybe", "-x"}));
  EXPECT_TRUE(words->has("on"));
  EXPECT_FALSE(words->has("rate"));
}

TEST(Flags, name_what_is_wrong) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--on=maybe"}, "--on: \"maybe\" is not true or false"},
      {{"--some-number=1.5"}, "--some-number: \"1.5\" is not a whole number"},
      {{"--some-number", "99999999999"}, "--some-number: \"99999999999\" is not a whole number"},
      {{"--rate=nan"}, "--rate: \"nan\" is not a number"},
      {{"--rate="}, "--rate: \"\" is not a number"},
      {{"--span=5"}, "--span: \"5\" is not a duration such as 1m30s"},
      {{"--old-number=x"}, "--old-number: \"x\" is not a whole number"},
      {{"--old-span=x"}, "--old-span: \"x\" is not a duration such as 1m30s"},
      {{"--none=1"}, "unknown flag: --none"},
      {{"-x"}, "unknown flag: -x"},
      {{"--=1"}, "unknown flag: --"},
      {{"---on"}, "unknown flag: ---on"},
      {{"--output"}, "flag needs an argument: --output"},
      {{"-o"}, "flag needs an argument: -o"},
      {{"--of-another=1"}, "--of-another is a flag of another program"},
      {{"--of-another"}, "--of-another is a flag of another program"},
  };
  for (const auto& [arguments, expected] : cases) {
    Targets targets;
    const auto words = parse_flags(targets.rows(), arguments);
    ASSERT_FALSE(words.ok()) << arguments[0];
    EXPECT_EQ(words.error().message, expected);
  }
}

TEST(Flags, are_listed_with_their_defaults) {
  Targets targets;
  EXPECT_EQ(flags_help(targets.rows()),
            "  --on                   a switch\n"
            "  --some-number          a number (default 3)\n"
            "  --v                    how much is said (default 0)\n"
            "  --rate                 a rate (default 50)\n"
            "  --span                 a time (default 1s)\n"
            "  -o, --output           a text\n"
            "  --each                 texts\n"
            "  --words                lists\n"
            "  --old-switch           accepted\n"
            "  --old-number           accepted\n"
            "  --old-span             accepted\n");
}

}  // namespace
}  // namespace base
