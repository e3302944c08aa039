// When is a node of a hard shard this scheduler's?
#include "scheduler/model/nodes/node_shards.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

using Names = std::set<std::string>;

NodeShards hard(bool claims_first) {
  NodeShards out;
  out.mode = ShardingMode::kHard;
  out.own_name = "me";
  out.claims_first = claims_first;
  return out;
}

// The watch shows the own status, and nothing of ours is under way.
void show_own(NodeShards& shards, const Names& desired, const Names& in_use) {
  shards.set("me", {.desired = desired, .in_use = in_use});
  shards.confirm(in_use);
}

TEST(NodeShards, without_claims_what_is_desired_and_used_by_nobody_else_is_used_at_once) {
  NodeShards shards = hard(false);
  shards.set("me", {.desired = {"a", "b"}});
  EXPECT_EQ(shards.usable(), (Names{"a", "b"}));
  shards.set("other", {.desired = {"b"}, .in_use = {"b", "c"}});
  EXPECT_EQ(shards.usable(), Names{"a"});
  shards.remove("me");
  shards.set("other", {.in_use = {"a"}});
  EXPECT_EQ(shards.usable(), Names{"a"}) << "the previous set, while the own shard is missing";
}

TEST(NodeShards, a_node_is_used_once_the_watch_shows_the_claim) {
  NodeShards shards = hard(true);
  show_own(shards, {"a"}, {});
  EXPECT_EQ(shards.wanted(), Names{"a"});
  EXPECT_EQ(shards.usable(), Names{});
  shards.record({.desired = {"a"}, .in_use = {"a"}});
  EXPECT_EQ(shards.usable(), Names{}) << "said, and not shown yet";
  show_own(shards, {"a"}, {"a"});
  EXPECT_EQ(shards.usable(), Names{"a"});
}

TEST(NodeShards, of_two_claims_the_one_that_was_shown_first_counts) {
  // Mine came first: I saw it before the other's.
  NodeShards first = hard(true);
  show_own(first, {"a"}, {"a"});
  first.set("other", {.desired = {"a"}, .in_use = {"a"}});
  EXPECT_EQ(first.usable(), Names{"a"});
  EXPECT_EQ(first.wanted(), Names{"a"});
  // The other's came first.
  NodeShards second = hard(true);
  show_own(second, {"a"}, {});
  second.set("other", {.desired = {"a"}, .in_use = {"a"}});
  show_own(second, {"a"}, {"a"});
  EXPECT_EQ(second.usable(), Names{});
  EXPECT_EQ(second.wanted(), Names{}) << "it gives the claim up";
  second.set("other", {.desired = {"a"}});
  EXPECT_EQ(second.usable(), Names{"a"}) << "and has the node if the other goes before that";
}

TEST(NodeShards, a_claim_that_is_given_up_does_not_come_back_by_an_old_event) {
  NodeShards shards = hard(true);
  show_own(shards, {"a", "b"}, {"a", "b"});
  shards.record({.desired = {"a"}, .in_use = {"a"}});
  shards.set("me", {.desired = {"a", "b"}, .in_use = {"a", "b"}});
  shards.limit_claims({"a", "b"});  // of before
  EXPECT_EQ(shards.usable(), Names{"a"});
  EXPECT_EQ(shards.wanted(), (Names{"a", "b"}));
}

}  // namespace
}  // namespace scheduler
