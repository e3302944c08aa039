// Known names are found under other spellings and behind slips of the pen.
#include "base/meant.h"

#include <gtest/gtest.h>

#include <array>

namespace base {
namespace {

constexpr std::array<std::string_view, 4> kNames{"enqueue", "gangpreempt", "numa-aware", "sla"};

TEST(Meant, finds_a_name_in_another_spelling) {
  EXPECT_EQ(other_spelling("gangPreempt", kNames), "gangpreempt");
  EXPECT_EQ(other_spelling("numaAware", kNames), "numa-aware");
  EXPECT_EQ(other_spelling("gangprempt", kNames), "");
  constexpr std::array<std::string_view, 2> kAlike{"a-b", "ab"};
  EXPECT_EQ(other_spelling("AB", kAlike), "");
}

TEST(Meant, finds_a_name_that_is_few_letters_away) {
  EXPECT_EQ(closest_name("gangprempt", kNames), "gangpreempt");
  EXPECT_EQ(closest_name("Enque", kNames), "enqueue");
  EXPECT_EQ(closest_name("slo", kNames), "sla");
  EXPECT_EQ(closest_name("dance", kNames), "");
  EXPECT_EQ(closest_name("", kNames), "");
}

}  // namespace
}  // namespace base
