// How the answers of several plugins fold into one, by the spec's tables.
#include "scheduler/framework/folds.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

Answers<Vote()> votes(std::vector<std::pair<int, Vote>> tiers_and_votes) {
  Answers<Vote()> out;
  for (const auto& [tier, vote] : tiers_and_votes) out.push_back({[vote = vote] { return vote; }, tier, 0});
  return out;
}

TEST(TierVote, a_rejection_is_no_and_a_tier_with_a_permit_is_yes) {
  const Vote no = Vote::kReject, none = Vote::kAbstain, yes = Vote::kPermit;
  EXPECT_TRUE(TierVote::fold(votes({})));
  EXPECT_TRUE(TierVote::fold(votes({{0, none}, {1, none}})));
  EXPECT_TRUE(TierVote::fold(votes({{0, yes}, {1, no}})));
  EXPECT_FALSE(TierVote::fold(votes({{0, yes}, {0, no}})));
  EXPECT_FALSE(TierVote::fold(votes({{0, none}, {1, no}})));
}

Answers<Victims()> victims(std::vector<std::pair<int, std::vector<std::uint32_t>>> lists) {
  Answers<Victims()> out;
  for (const auto& [tier, list] : lists) {
    Victims one;
    for (const std::uint32_t id : list) one.tasks.push_back(TaskId{id});
    out.push_back({[one] { return one; }, tier, 0});
  }
  return out;
}

std::vector<std::uint32_t> fold(const Answers<Victims()>& answers) {
  std::vector<std::uint32_t> out;
  for (const TaskId id : TierIntersection::fold(answers)) out.push_back(id.index);
  return out;
}

// Spec 9.10 T1 and T2, with x = 1, y = 2, z = 3.
TEST(TierIntersection, follows_the_worked_examples) {
  EXPECT_EQ(fold(victims({{0, {1, 2}}, {0, {2, 3}}, {0, {3}}})), (std::vector<std::uint32_t>{}));
  EXPECT_EQ(fold(victims({{0, {1, 2}}, {0, {2, 3}}, {0, {3}}, {0, {1}}})), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(fold(victims({{0, {}}, {1, {2}}})), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(fold(victims({{0, {1, 2}}, {0, {}}, {1, {2}}})), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(fold(victims({{0, {1, 2}}, {0, {2}}, {1, {1}}})), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(fold(victims({})), (std::vector<std::uint32_t>{}));
}

TEST(TierAll, the_first_tier_that_answers_decides) {
  const auto answers = [](std::vector<std::pair<int, bool>> list) {
    Answers<bool()> out;
    for (const auto& [tier, value] : list) out.push_back({[value = value] { return value; }, tier, 0});
    return out;
  };
  EXPECT_FALSE(TierAll::fold(answers({})));
  EXPECT_TRUE(TierAll::fold(answers({{1, true}, {2, false}})));
  EXPECT_FALSE(TierAll::fold(answers({{1, true}, {1, false}})));
}

}  // namespace
}  // namespace scheduler
