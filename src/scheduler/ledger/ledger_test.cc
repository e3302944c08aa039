// When does the server's word about what the scheduler writes count, and when its own?
#include "scheduler/ledger/ledger.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

const TaskId kPod{3};
const QueueId kQueue{1};

PodReport reports(std::string_view message) { return {Text("Unschedulable"), Text(message), Text()}; }
api::ResourceList cpus(std::string_view amount) { return {{"cpu", *api::Quantity::parse(amount)}}; }

TEST(Ledger, a_write_under_way_is_believed_until_the_watch_has_caught_up) {
  Ledger ledger;
  EXPECT_TRUE(ledger.observe(kPod, true, "u", "4", reports("no room")));
  ledger.record(kPod, reports("still no room"));
  ledger.flights.begin(Entry::kPodStatus, "u");
  EXPECT_FALSE(ledger.observe(kPod, false, "u", "5", reports("no room"))) << "somebody else wrote something else";
  EXPECT_EQ(ledger.pod(kPod), reports("still no room"));
  EXPECT_FALSE(ledger.flights.end(Entry::kPodStatus, "u", "7"));
  EXPECT_FALSE(ledger.flights.is_under_way(Entry::kPodStatus, "u"));
  EXPECT_FALSE(ledger.observe(kPod, false, "u", "6", reports("no room"))) << "older than our write";
  EXPECT_EQ(ledger.pod(kPod), reports("still no room"));
  EXPECT_FALSE(ledger.observe(kPod, false, "u", "7", reports("still no room")));
  EXPECT_TRUE(ledger.observe(kPod, false, "u", "8", reports("other words"))) << "somebody else wrote it";
  EXPECT_EQ(ledger.pod(kPod), reports("other words"));
}

TEST(Ledger, what_was_said_later_than_our_write_and_did_not_count_is_asked_for) {
  Ledger ledger;
  ledger.flights.begin(Entry::kPodStatus, "u");
  ledger.observe(kPod, false, "u", "12", reports("of somebody else"));
  EXPECT_TRUE(ledger.flights.end(Entry::kPodStatus, "u", "11"));
}

TEST(Ledger, a_pod_of_the_same_place_has_been_told_nothing) {
  Ledger ledger;
  ledger.record(kPod, reports("no room"));
  ledger.flights.begin(Entry::kPodStatus, "u");
  ledger.observe(kPod, true, "another", "1", {});
  EXPECT_EQ(ledger.pod(kPod), PodReport());
  EXPECT_FALSE(ledger.flights.is_under_way(Entry::kPodStatus, "another"));
}

TEST(Ledger, what_was_lost_is_unknown_until_it_is_heard) {
  Ledger ledger;
  ledger.record(kPod, reports("no room"));
  ledger.lose_pod(kPod, "u");
  EXPECT_EQ(ledger.pod(kPod), PodReport());
  EXPECT_TRUE(ledger.flights.is_doubtful(Entry::kPodStatus, "u"));
  ledger.observe(kPod, false, "u", "9", reports("no room"));
  EXPECT_FALSE(ledger.flights.is_doubtful(Entry::kPodStatus, "u"));

  ledger.record(kQueue, cpus("1"));
  ledger.flights.begin(Entry::kQueue, "q");
  ledger.lose_queue(kQueue, "q", {"gpu"});
  EXPECT_TRUE(ledger.queue(kQueue).is_known) << "a later write is under way and says it all";
  ledger.flights.end(Entry::kQueue, "q");
  ledger.lose_queue(kQueue, "q", {"gpu"});
  EXPECT_FALSE(ledger.queue(kQueue).is_known);
  EXPECT_TRUE(ledger.queue(kQueue).allocated.contains("gpu")) << "what was to go is still there";
}

TEST(Ledger, a_group_is_quiet_while_nothing_differs_from_what_was_said) {
  Ledger ledger;
  Job job;
  job.id = JobId{0};
  job.phase = GroupPhase::kInqueue;
  ledger.edit_group(job.id).status.phase = GroupPhase::kInqueue;
  EXPECT_TRUE(ledger.is_quiet(job, {}));
  EXPECT_FALSE(ledger.is_quiet(job, {.trouble = 1}));
  ledger.edit_group(job.id).trouble = 1;
  EXPECT_TRUE(ledger.is_quiet(job, {.trouble = 1})) << "it met the same again";
  EXPECT_FALSE(ledger.is_quiet(job, {.trouble = 3}));
  EXPECT_FALSE(ledger.is_quiet(job, {})) << "and what it met is gone";
  ledger.edit_group(job.id).trouble = 0;
  EXPECT_FALSE(ledger.is_quiet(job, {.is_refused = true}));
  EXPECT_FALSE(ledger.is_quiet(job, {.has_conditions = true}));
  job.phase = GroupPhase::kPending;
  EXPECT_FALSE(ledger.is_quiet(job, {}));
}

}  // namespace
}  // namespace scheduler
