// In which order do single pods have their turn, and when another?
#include "scheduler/single_pods/pod_queue.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

using Keys = std::vector<std::string>;

base::Time at(double seconds) {
  return base::Time{1'700'000'000'000'000'000} + base::Duration{static_cast<std::int64_t>(seconds * 1e9)};
}

WaitingPod pod(const std::string& name, std::int64_t urgency = 0, std::int32_t priority = 0, bool near_pods = false) {
  return {"uid-" + name, name, urgency, priority, near_pods};
}

// Everybody who has a turn now has it, and finds no node.
Keys fail_all(PodQueue& queue, base::Time now) {
  queue.pass_time(now);
  Keys out;
  std::vector<std::string> uids;
  while (const auto one = queue.take()) {
    out.push_back(one->key);
    uids.push_back(one->uid);
  }
  for (const std::string& uid : uids) queue.found_no_node(uid, now);
  return out;
}

TEST(PodQueue, urgency_goes_before_priority_and_that_before_age) {
  PodQueue queue;
  queue.put(pod("old"), true, at(0));
  queue.put(pod("young"), true, at(1));
  queue.put(pod("same-age"), true, at(1));
  queue.put(pod("important", 0, 10), true, at(2));
  queue.put(pod("high", 50), true, at(3));
  queue.put(pod("urgent", 100, -5), true, at(4));
  EXPECT_EQ(queue.active_keys(), (Keys{"urgent", "high", "important", "old", "young", "same-age"}));
  queue.put(pod("young", 60), false, at(5));
  EXPECT_EQ(queue.active_keys(), (Keys{"urgent", "young", "high", "important", "old", "same-age"}));
  queue.remove("uid-urgent");
  EXPECT_EQ(queue.take()->key, "young");
}

TEST(PodQueue, a_clock_that_goes_back_does_not_make_pods_wait) {
  PodQueue queue;
  queue.put(pod("a"), true, at(36'000));
  EXPECT_EQ(fail_all(queue, at(36'000)), Keys{"a"});
  queue.something_changed(at(0));
  EXPECT_EQ(fail_all(queue, at(0)), Keys{"a"}) << "room has come";
  EXPECT_EQ(fail_all(queue, at(301)), Keys{"a"}) << "it is tried again in any case";

  queue.put(pod("b"), true, at(36'000));
  queue.pass_time(at(36'000));
  while (const auto one = queue.take()) queue.was_not_bound(one->uid, at(36'000));
  while (const auto one = queue.take()) queue.was_not_bound(one->uid, at(36'000));
  EXPECT_EQ(queue.active_keys(), Keys{});
  queue.pass_time(at(0));
  EXPECT_FALSE(queue.active_keys().empty()) << "from the pause after a lost binding";
}

TEST(PodQueue, who_found_no_node_waits_for_a_change_and_then_for_a_pause_that_grows) {
  PodQueue queue;
  queue.put(pod("a"), true, at(0));
  EXPECT_EQ(fail_all(queue, at(0)), Keys{"a"});
  EXPECT_EQ(fail_all(queue, at(100)), Keys{}) << "nothing changed";
  queue.something_changed(at(100));
  EXPECT_EQ(fail_all(queue, at(100)), Keys{"a"}) << "its pause was over";
  struct Row {
    double pause;
  };
  double now = 100;
  for (const Row& row : {Row{2}, Row{4}, Row{8}, Row{10}, Row{10}}) {
    queue.something_changed(at(now));
    EXPECT_EQ(queue.next_due(), at(now + row.pause));
    EXPECT_EQ(fail_all(queue, at(now + row.pause - 0.1)), Keys{});
    now += row.pause;
    EXPECT_EQ(fail_all(queue, at(now)), Keys{"a"});
  }
}

TEST(PodQueue, nobody_waits_longer_than_five_minutes_for_a_change) {
  PodQueue queue;
  queue.put(pod("a"), true, at(0));
  fail_all(queue, at(0));
  EXPECT_EQ(queue.next_due(), at(300));
  EXPECT_EQ(fail_all(queue, at(299)), Keys{});
  EXPECT_EQ(fail_all(queue, at(300)), Keys{"a"});
}

TEST(PodQueue, a_placed_pod_wakes_only_those_that_look_at_pods) {
  PodQueue queue;
  queue.put(pod("alone"), true, at(0));
  queue.put(pod("near", 0, 0, true), true, at(0));
  fail_all(queue, at(0));
  queue.pod_was_placed(at(10));
  EXPECT_EQ(queue.active_keys(), Keys{"near"});
  EXPECT_EQ(queue.unschedulable_keys(), Keys{"alone"});
  queue.something_changed(at(10));
  EXPECT_EQ(queue.active_keys(), (Keys{"alone", "near"}));
}

TEST(PodQueue, a_pod_that_changes_itself_may_fit_now_and_one_that_only_is_told_something_may_not) {
  PodQueue queue;
  queue.put(pod("a"), true, at(0));
  fail_all(queue, at(0));
  queue.put(pod("a"), false, at(5));
  EXPECT_EQ(queue.active_keys(), Keys{});
  queue.put(pod("a"), true, at(5));
  EXPECT_EQ(queue.active_keys(), Keys{"a"});
}

TEST(PodQueue, who_was_not_bound_is_next_at_once_and_then_after_pauses) {
  PodQueue queue;
  queue.put(pod("important", 50), true, at(0));
  queue.put(pod("a"), true, at(0));
  EXPECT_EQ(queue.take()->key, "important");
  EXPECT_EQ(queue.take()->key, "a");
  queue.put(pod("b", 50), true, at(1));
  queue.was_not_bound("uid-a", at(1));
  EXPECT_EQ(queue.active_keys(), (Keys{"a", "b"}));
  EXPECT_EQ(queue.take()->key, "a");
  queue.was_not_bound("uid-a", at(2));
  EXPECT_EQ(queue.next_due(), at(3)) << "whoever refuses bindings is not asked without end";
  queue.pass_time(at(3));
  EXPECT_EQ(queue.active_keys(), (Keys{"a", "b"}));
  queue.take();
  queue.was_not_bound("uid-a", at(3));
  EXPECT_EQ(queue.next_due(), at(5));
  queue.remove("uid-a");
  queue.was_not_bound("uid-a", at(5));
  EXPECT_EQ(queue.next_due(), std::nullopt);
}

}  // namespace
}  // namespace scheduler
