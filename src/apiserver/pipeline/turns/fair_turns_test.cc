// The next user, if several wait.
#include "apiserver/pipeline/turns/fair_turns.h"

#include <gtest/gtest.h>

namespace apiserver {
namespace {

// Serves `count` tickets, each of which uses what its user's do (milliseconds), and says whose they were.
std::string serve(FairTurns& turns, int count, const std::map<std::string, int>& costs) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    if (turns.next() == 0) break;
    out += turns.user();
    turns.used(base::milliseconds(costs.at(turns.user())));
  }
  return out;
}

void add(FairTurns& turns, const std::string& users) {
  for (const char user : users) EXPECT_TRUE(turns.add(std::string(1, user)));
}

TEST(FairTurns, go_to_who_used_the_least) {
  const struct {
    const char* what;
    const char* waiting;
    std::map<std::string, int> costs;
    const char* served;
  } rows[] = {
      {"nobody", "", {}, ""},
      {"one user alone, in order", "aaa", {{"a", 5}}, "aaa"},
      {"equal ones by turns", "aaabbb", {{"a", 1}, {"b", 1}}, "ababab"},
      {"a flood before one", "aaaaaab", {{"a", 1}, {"b", 1}}, "abaaaaa"},
      {"an expensive one pays with turns", "aaabbbbbb", {{"a", 3}, {"b", 1}}, "abbbabbba"},
      {"and so do two", "aabbcccc", {{"a", 4}, {"b", 4}, {"c", 1}}, "abccccab"},
      {"what costs nothing still takes turns", "aaabbb", {{"a", 0}, {"b", 0}}, "ababab"},
  };
  for (const auto& row : rows) {
    FairTurns turns;
    add(turns, row.waiting);
    EXPECT_EQ(serve(turns, 100, row.costs), row.served) << row.what;
    EXPECT_EQ(turns.waiting(), 0u) << row.what;
  }
}

TEST(FairTurns, save_nothing_up_and_forget_debts_when_nobody_waits) {
  const std::map<std::string, int> costs = {{"a", 10}, {"b", 1}};
  FairTurns turns;
  add(turns, "aaaab");
  EXPECT_EQ(serve(turns, 4, costs), "abaa");
  // A newcomer begins where the others are, and does not get the time in which it asked for nothing.
  add(turns, "bbb");
  EXPECT_EQ(serve(turns, 4, costs), "bbba");
  EXPECT_EQ(serve(turns, 1, costs), "");
  add(turns, "aab");
  EXPECT_EQ(serve(turns, 3, costs), "aba");
}

TEST(FairTurns, know_debts_of_who_has_nothing_waiting_for_a_moment) {
  FairTurns turns;
  add(turns, "abbbb");
  EXPECT_EQ(serve(turns, 3, {{"a", 3}, {"b", 1}}), "abb");
  add(turns, "a");  // as a client does that asks again when it is answered
  EXPECT_EQ(serve(turns, 3, {{"a", 3}, {"b", 1}}), "bab");
}

TEST(FairTurns, are_paid_later_by_work_that_takes_long) {
  FairTurns turns;
  add(turns, "aaabbb");
  EXPECT_NE(turns.next(), 0u);
  turns.used_by("a", base::milliseconds(2));
  EXPECT_EQ(serve(turns, 2, {{"a", 1}, {"b", 1}}), "bb");
  turns.used_by("nobody", base::milliseconds(2));
  EXPECT_EQ(serve(turns, 9, {{"a", 1}, {"b", 1}}), "aba");
}

TEST(FairTurns, have_limits_of_one_and_of_all) {
  FairTurns turns({.of_a_user = 2, .of_all = 3});
  add(turns, "aa");
  EXPECT_FALSE(turns.add("a"));
  add(turns, "b");
  EXPECT_FALSE(turns.add("b"));
  EXPECT_FALSE(turns.add("c"));
  EXPECT_EQ(serve(turns, 1, {{"a", 1}, {"b", 1}}), "a");
  add(turns, "a");
  EXPECT_EQ(serve(turns, 9, {{"a", 1}, {"b", 1}}), "baa");
}

TEST(FairTurns, pass_over_who_is_held) {
  FairTurns turns;
  add(turns, "aabb");
  turns.hold("a");
  EXPECT_EQ(serve(turns, 9, {{"b", 1}}), "bb");
  EXPECT_FALSE(turns.ready());
  EXPECT_EQ(turns.waiting(), 2u);
  add(turns, "ab");
  EXPECT_EQ(serve(turns, 9, {{"b", 1}}), "b");
  turns.release("a");
  add(turns, "b");
  EXPECT_TRUE(turns.ready());
  EXPECT_EQ(serve(turns, 9, {{"a", 5}, {"b", 1}}), "abaa");
  turns.hold("a");  // while nothing of it waits
  add(turns, "ab");
  EXPECT_EQ(serve(turns, 9, {{"b", 1}}), "b");
  turns.release("a");
  turns.release("a");
  EXPECT_EQ(serve(turns, 9, {{"a", 1}}), "a");
}

TEST(FairTurns, are_left_by_who_goes_away) {
  FairTurns turns;
  const auto first = turns.add("a");
  add(turns, "a");
  const auto only = turns.add("b");
  EXPECT_TRUE(turns.remove(*first));
  EXPECT_FALSE(turns.remove(*first));
  EXPECT_TRUE(turns.remove(*only));
  EXPECT_EQ(turns.waiting(), 1u);
  EXPECT_EQ(serve(turns, 9, {{"a", 1}}), "a");
}

}  // namespace
}  // namespace apiserver
