// Orders and victims, by plugin: docs/spec/scheduler 5.1 to 5.3, 5.11 to 5.13, 5.15.
#include <gtest/gtest.h>

#include "plugin_trial.h"

namespace plugins {
namespace {

using namespace scheduler;
using Names = std::vector<std::string>;

// Of priority: low group l (10) with pods of 1 and 9, high group h (20).
constexpr std::string_view kPriorities = R"(
queue default
class low value=10
class high value=20
node n1 cpu=10
group a/l class=low phase=Running
group a/h class=high phase=Inqueue
pod a/l-1 group=l cpu=1 node=n1 priority=1
pod a/l-9 group=l cpu=1 node=n1 priority=9
pod a/h-1 group=h cpu=1 node=n1 priority=5
pod a/h-w group=h cpu=1 priority=5
pod a/l-w group=l cpu=1 priority=5
)";

TEST(Priority, orders_and_victims) {
  PluginTrial trial("{name: priority}", kPriorities);
  EXPECT_EQ(trial.job_order<JobOrder>("a/h", "a/l"), -1);
  EXPECT_EQ(trial.job_order<JobOrder>("a/l", "a/h"), 1);
  EXPECT_EQ(trial.job_order<JobOrder>("a/l", "a/l"), 0);
  EXPECT_EQ(trial.task_order<TaskOrder>("a/l-9", "a/l-1"), -1);
  EXPECT_EQ(trial.task_order<TaskOrder>("a/h-1", "a/h-w"), 0);
  const Names all = {"a/l-1", "a/l-9", "a/h-1"};
  EXPECT_EQ(trial.victims<Preemptable>("a/h-w", all), "a/l-1, a/l-9") << "the groups' priorities, 10 < 20";
  EXPECT_EQ(trial.victims<Preemptable>("a/l-w", all), "a/l-1") << "in its own group the pods', 1 < 5";
  EXPECT_TRUE(trial.of_job<JobStarving>("a/h")) << "one of two is ready";
}

TEST(Gang, is_ready_with_its_minimum_and_gives_what_is_above) {
  PluginTrial trial("{name: gang}", R"(
queue default
node n1 cpu=20
group a/elastic min=2 phase=Running
pod a/elastic-{0..3} group=elastic cpu=1 node=n1
group a/tight min=2 phase=Running
pod a/tight-{0..1} group=tight cpu=1 node=n1
group a/short min=3 phase=Inqueue
pod a/short-0 group=short cpu=1 node=n1
pod a/short-{1..2} group=short cpu=1
group a/few min=4 phase=Inqueue
pod a/few-{0..2} group=few cpu=1
group a/roles min=2 roles=m:1,w:2 phase=Inqueue
pod a/roles-{0..2} group=roles role=w cpu=1
)");
  struct Row {
    const char* group;
    bool ready, starving, valid;
  };
  for (const Row& row : std::initializer_list<Row>{{"a/elastic", true, false, true},
                                                   {"a/tight", true, false, true},
                                                   {"a/short", false, true, true},
                                                   {"a/few", false, true, false}}) {
    EXPECT_EQ(trial.of_job<JobReady>(row.group), row.ready) << row.group;
    EXPECT_EQ(trial.of_job<JobStarving>(row.group), row.starving) << row.group;
    EXPECT_EQ(!trial.of_job<JobValid>(row.group), row.valid) << row.group;
  }
  trial.in_session([&](Session& session) {
    EXPECT_EQ(session.ask<JobValid>(trial.job("a/few")).reason, "NotEnoughTasks");
    EXPECT_EQ(session.ask<JobValid>(trial.job("a/few")).message,
              "Not enough valid tasks for gang-scheduling, valid: 3, min: 4");
  });
  EXPECT_EQ(trial.job_order<JobOrder>("a/short", "a/tight"), -1) << "who is not ready comes first";
  EXPECT_EQ(trial.job_order<JobOrder>("a/elastic", "a/tight"), 0);
  const Names all = {"a/elastic-0", "a/tight-0", "a/elastic-1", "a/elastic-2", "a/tight-1"};
  EXPECT_EQ(trial.victims<Preemptable>("a/short-1", all), "a/elastic-0, a/elastic-1");
  EXPECT_EQ(trial.victims<Reclaimable>("a/short-1", all), "a/elastic-0, a/elastic-1");
}

TEST(Conformance, spares_what_the_cluster_needs) {
  PluginTrial trial("{name: conformance}", R"(
queue default
node n1 cpu=10
class system-cluster-critical value=2000000000
class system-node-critical value=2000001000
class high value=1000
group a/g phase=Running
pod a/plain group=g cpu=1 node=n1
pod a/high group=g cpu=1 node=n1 class=high
pod a/cluster group=g cpu=1 node=n1 class=system-cluster-critical
pod a/node group=g cpu=1 node=n1 class=system-node-critical
group kube-system/s phase=Running
pod kube-system/dns group=s cpu=1 node=n1
pod a/waits group=g cpu=1
)");
  const Names all = {"a/plain", "a/cluster", "a/node", "kube-system/dns", "a/high"};
  EXPECT_EQ(trial.victims<Preemptable>("a/waits", all), "a/plain, a/high");
  EXPECT_EQ(trial.victims<Reclaimable>("a/waits", all), "a/plain, a/high");
}

TEST(Pdb, spends_what_budgets_allow) {
  PluginTrial trial("{name: pdb}", R"(
queue default
node n1 cpu=10
group a/g phase=Running
pod a/x-{0..2} group=g cpu=1 node=n1 labels=app:x
pod a/y-{0..1} group=g cpu=1 node=n1 labels=app:y
pod a/bare group=g cpu=1 node=n1
pod a/waits group=g cpu=1 labels=app:w
budget a/x selector=app:x allowed=2
budget a/y selector=app:y allowed=0
)");
  EXPECT_EQ(trial.victims<Preemptable>("a/waits", {"a/x-2", "a/y-0", "a/x-0", "a/x-1", "a/y-1"}), "a/x-2, a/x-0");
}

TEST(Sla, an_overdue_group_goes_first_and_passes) {
  PluginTrial trial("{name: sla, arguments: {sla-waiting-time: 1h}}", R"(
queue default
group a/late minResources=cpu:1
 + {"metadata":{"creationTimestamp":"2023-11-14T21:00:00Z"}}
group a/young minResources=cpu:1
 + {"metadata":{"creationTimestamp":"2023-11-14T22:00:00Z"}}
group a/hasty minResources=cpu:1
 + {"metadata":{"creationTimestamp":"2023-11-14T22:00:00Z","annotations":{"sla-waiting-time":"5m"}}}
pod a/late-0 group=late cpu=1
pod a/young-0 group=young cpu=1
pod a/hasty-0 group=hasty cpu=1
)");
  // Due at 22:00, 23:00 and 22:05; it is 22:13.
  EXPECT_EQ(trial.job_order<JobOrder>("a/late", "a/hasty"), -1);
  EXPECT_EQ(trial.job_order<JobOrder>("a/hasty", "a/young"), -1);
  EXPECT_EQ(trial.job_order<JobOrder>("a/young", "a/late"), 1);
}

TEST(Cdp, protects_the_young) {
  PluginTrial trial("{name: cdp}", R"(
queue default
node n1 cpu=10
group a/g phase=Running
pod a/young group=g cpu=1 node=n1
 + {"metadata":{"annotations":{"volcano.sh/cooldown-time":"600s"}},"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2023-11-14T22:05:00Z"}]}}
pod a/old group=g cpu=1 node=n1
 + {"metadata":{"annotations":{"volcano.sh/cooldown-time":"600s"}},"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2023-11-14T22:03:00Z"}]}}
pod a/label group=g cpu=1 node=n1 labels=volcano.sh/cooldown-time:1h
 + {"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2023-11-14T22:03:00Z"}]}}
pod a/rubbish group=g cpu=1 node=n1
 + {"metadata":{"annotations":{"volcano.sh/cooldown-time":"soon"}},"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2023-11-14T22:13:00Z"}]}}
pod a/waits group=g cpu=1
)");
  // It is 22:13:20: young is protected until 22:15, label until 23:03.
  EXPECT_EQ(trial.victims<Preemptable>("a/waits", {"a/young", "a/old", "a/label", "a/rubbish"}), "a/old, a/rubbish");
  EXPECT_EQ(trial.victims<Reclaimable>("a/waits", {"a/young", "a/old", "a/label", "a/rubbish"}), "a/old, a/rubbish");
}

TEST(Tdm, nodes_have_their_hours) {
  // In UTC it is 22:13: zone night is on, zone day is not.
  constexpr std::string_view kZones =
      "{name: tdm, arguments: {tdm.revocable-zone.night: \"22:00-06:00\", tdm.revocable-zone.day: \"08:00-18:00\"}}";
  PluginTrial trial(kZones, R"(
queue default
node plain cpu=10
node night cpu=10 labels=volcano.sh/revocable-zone:night
node day cpu=10 labels=volcano.sh/revocable-zone:day
node lost cpu=10 labels=volcano.sh/revocable-zone:lost
group a/g phase=Inqueue
pod a/any group=g cpu=1
 + {"metadata":{"annotations":{"volcano.sh/revocable-zone":"*"}}}
pod a/steady group=g cpu=1
)");
  EXPECT_EQ(trial.fits("a/any"), "night, plain");
  EXPECT_EQ(trial.fits("a/steady"), "plain");
  EXPECT_EQ(trial.scores("a/any"), "day 0, lost 0, night 100, plain 0");
  EXPECT_EQ(trial.scores("a/steady"), "day 0, lost 0, night 0, plain 0");
}

}  // namespace
}  // namespace plugins
