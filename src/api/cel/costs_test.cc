// Is what takes long paid for, before it is done?
#include <gtest/gtest.h>

#include <string>

#include "api/cel/expression.h"

namespace api::cel {
namespace {

// The error of an expression about `items` and `text`, or "none"; and what it cost.
std::string outcome(std::string_view expression, const List& items, const std::string& text,
                    std::uint64_t* spent = nullptr) {
  const auto compiled = Expression::compile(expression, {"items", "text"});
  if (!compiled.ok()) return compiled.error().message;
  const Value value = compiled->evaluate({{"items", items}, {"text", Value(text)}}, kCostMax, spent);
  return value.is_error() ? value.error()->message : "none";
}

constexpr std::string_view kExhausted = "operation cancelled: actual cost limit exceeded";

TEST(CelCosts, pays_for_a_text_before_it_is_made) {
  const List many(200'000, Value("a"));
  EXPECT_EQ(outcome("items.join(text).size() >= 0", many, std::string(500'000, 'b')), kExhausted);
  EXPECT_EQ(outcome("items.join(text).size() >= 0", List(3, Value("a")), std::string(600'000, 'b')),
            "the result is too large");
  EXPECT_EQ(outcome("text.split('b').size() > 0", {}, std::string(1'500'000, 'b')), kExhausted);
  // Reading the same long text for each item, and searching where each place begins like what is looked for.
  EXPECT_EQ(outcome("items.map(x, x).isSorted()", List(1'000, Value(std::string(100'000, 'a'))), ""), kExhausted);
  EXPECT_EQ(outcome("items == items.map(x, x + '')", List(50, Value(std::string(400'000, 'a'))), ""), kExhausted);
  EXPECT_EQ(outcome("(text + text + text).contains(text + 'b')", {}, std::string(500'000, 'a')), kExhausted);
}

TEST(CelCosts, pays_for_what_a_pattern_compiles_to) {
  EXPECT_EQ(outcome("items.exists(p, text.matches(p))", List(300, Value("\\pL{29}[a-b]")), "x"),
            "error parsing regexp: expression too large: `\\pL{29}[a-b]`");
  std::uint64_t letters = 0, plain = 0;
  EXPECT_EQ(outcome("text.matches(items[0])", List(1, Value("\\pL")), "x", &letters), "none");
  EXPECT_EQ(outcome("text.matches(items[0])", List(1, Value("abc")), "x", &plain), "none");
  EXPECT_GT(letters, plain + 100);
  EXPECT_EQ(outcome("items.exists(p, text.matches(p))", List(10'000, Value("\\pL")), "1"), kExhausted);
}

// A few bytes may stand for thousands of steps that are taken for each byte of the text.
TEST(CelCosts, pay_for_the_steps_that_a_pattern_takes) {
  const std::string text(8000, 'a');
  EXPECT_EQ(outcome("text.matches('(?:a?a?a?a?a?a?a?a?a?a?){1000}z')", {}, text), kExhausted);
  EXPECT_EQ(outcome("text.matches('(?:a|b)*a(?:a|b){999}z')", {}, text + text), kExhausted);
  EXPECT_EQ(outcome("text.matches(items[0])", List(1, Value("(?:a?a?a?a?a?){99}z")), text + text), kExhausted);
  std::uint64_t spent = 0;
  EXPECT_EQ(outcome("text.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')", {}, "a-machine-of-the-cluster", &spent), "none");
  EXPECT_LT(spent, 100U);
  EXPECT_EQ(outcome("text.matches('^[\\\\pL\\\\pN]{1,40}$')", {}, "kubernetes", &spent), "none");
  EXPECT_EQ(outcome("text.matches('foo.*bar')", {}, std::string(100'000, 'a'), &spent), "none");
}

TEST(CelCosts, end_a_map_that_grows) {
  Map large;
  for (std::int64_t i = 0; i < 5'000; ++i) large.entries.emplace_back(i, true);
  std::uint64_t spent = 0;
  EXPECT_EQ(outcome("items.transformMapEntry(i, m, m).size() > 0", List(1, Value(large)), "", &spent), kExhausted);
  EXPECT_LT(spent, kCostMax + 10'000);
}

TEST(CelCosts, pay_for_the_texts_among_which_one_is_the_greatest) {
  const List long_ones(1'000, Value(std::string(100'000, 'a')));
  EXPECT_EQ(outcome("math.greatest(items) != ''", long_ones, ""), kExhausted);
  EXPECT_EQ(outcome("math.least(items) != ''", long_ones, ""), kExhausted);
}

}  // namespace
}  // namespace api::cel
