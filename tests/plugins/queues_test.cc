// The amounts that queues may have, by plugin: docs/spec/scheduler 5.4 to 5.7, 5.14.
#include <gtest/gtest.h>

#include "plugin_trial.h"

namespace plugins {
namespace {

using namespace scheduler;
using Names = std::vector<std::string>;

// 10 cpu by weights 1 and 3: both want more than there is, so 2.5 and 7.5. Each holds 3.
constexpr std::string_view kTwoQueues = R"(
queue small weight=1
queue large weight=3
node n1 cpu=10 memory=100Gi pods=110
group a/s min=3 queue=small phase=Running minResources=cpu:3
pod a/s-{0..2} group=s cpu=1 node=n1
group a/l min=3 queue=large phase=Running minResources=cpu:3
pod a/l-{0..2} group=l cpu=1 node=n1
group a/sw queue=small phase=Inqueue
pod a/sw-{0..9} group=sw cpu=1
group a/lw queue=large phase=Inqueue
pod a/lw-{0..9} group=lw cpu=1
group a/seven queue=small phase=Pending minResources=cpu:7
pod a/seven-0 group=seven cpu=7
group a/eight queue=small phase=Pending minResources=cpu:8
pod a/eight-0 group=eight cpu=8
)";

TEST(Proportion, shares_by_weight) {
  PluginTrial trial("{name: proportion}", kTwoQueues);
  EXPECT_EQ(trial.queue_order<QueueOrder>("large", "small"), -1) << "shares 3/7.5 and 3/2.5";
  EXPECT_TRUE(trial.of_task<Allocatable>("a/lw-0")) << "3 + 1 of 7.5";
  EXPECT_FALSE(trial.of_task<Allocatable>("a/sw-0")) << "3 + 1 of 2.5";
  EXPECT_EQ(trial.victims<Reclaimable>("a/lw-0", {"a/s-2", "a/s-1", "a/s-0"}), "a/s-2") << "3 of 2.5, then 2";
  EXPECT_EQ(trial.victims<Reclaimable>("a/sw-0", {"a/l-0", "a/l-1"}), "") << "3 of 7.5";
  EXPECT_TRUE(trial.of_job<JobEnqueueable>("a/seven")) << "3 + 7 of all 10";
  EXPECT_FALSE(trial.of_job<JobEnqueueable>("a/eight"));
}

TEST(Capacity, queues_have_what_they_deserve) {
  PluginTrial trial("{name: capacity}", R"(
queue small deserved=cpu:2 capability=cpu:4
queue large deserved=cpu:6
queue none
queue vip deserved=cpu:1 priority=5
node n1 cpu=10 memory=100Gi pods=110
group a/s min=3 queue=small phase=Running minResources=cpu:3
pod a/s-{0..2} group=s cpu=1 node=n1
group a/l min=3 queue=large phase=Running minResources=cpu:3
pod a/l-{0..2} group=l cpu=1 node=n1
group a/sw queue=small phase=Inqueue
pod a/sw-1 group=sw cpu=1
pod a/sw-2 group=sw cpu=2
group a/lw queue=large phase=Inqueue
pod a/lw-1 group=lw cpu=1
group a/n queue=none phase=Inqueue
pod a/n-0 group=n cpu=1
group a/v queue=vip phase=Inqueue
pod a/v-0 group=v cpu=1
group a/one queue=small phase=Pending minResources=cpu:1
pod a/one-0 group=one cpu=1
group a/two queue=small phase=Pending minResources=cpu:2
pod a/two-0 group=two cpu=2
)");
  EXPECT_EQ(trial.queue_order<QueueOrder>("large", "small"), -1) << "shares 3/6 and 3/2";
  EXPECT_EQ(trial.queue_order<QueueOrder>("large", "none"), -1) << "who deserves nothing has a share of 1";
  EXPECT_EQ(trial.queue_order<QueueOrder>("vip", "large"), -1) << "priority goes before shares";
  EXPECT_TRUE(trial.of_task<Allocatable>("a/sw-1")) << "3 + 1 of 4";
  EXPECT_FALSE(trial.of_task<Allocatable>("a/sw-2")) << "3 + 2 of 4";
  EXPECT_EQ(trial.victims<Reclaimable>("a/lw-1", {"a/s-0", "a/s-1"}), "a/s-1") << "the youngest: 3 of 2, then 2 of 2";
  EXPECT_EQ(trial.victims<Reclaimable>("a/sw-1", {"a/l-0"}), "") << "3 of 6";
  trial.in_session([&](Session& session) {
    EXPECT_TRUE(session.ask<Preemptive>(trial.queue("large"), trial.tasks({"a/lw-1"}))) << "3 + 1 of 6";
    EXPECT_FALSE(session.ask<Preemptive>(trial.queue("small"), trial.tasks({"a/sw-1"}))) << "3 + 1 of 2";
  });
  EXPECT_TRUE(trial.of_job<JobEnqueueable>("a/one")) << "3 + 1 of 4";
  EXPECT_FALSE(trial.of_job<JobEnqueueable>("a/two"));
}

TEST(Overcommit, admits_more_than_there_is_by_a_factor) {
  constexpr std::string_view kCluster = R"(
queue default
node n1 cpu=10
group a/runs phase=Running
pod a/runs-{0..9} group=runs cpu=1 node=n1
group a/two phase=Pending minResources=cpu:2
group a/three phase=Pending minResources=cpu:3
group a/free phase=Pending
)";
  PluginTrial usual("{name: overcommit}", kCluster);
  EXPECT_TRUE(usual.of_job<JobEnqueueable>("a/two")) << "10 x 1.2 - 10";
  EXPECT_FALSE(usual.of_job<JobEnqueueable>("a/three"));
  EXPECT_TRUE(usual.of_job<JobEnqueueable>("a/free"));
  PluginTrial more("{name: overcommit, arguments: {overcommit-factor: 1.3}}", kCluster);
  EXPECT_TRUE(more.of_job<JobEnqueueable>("a/three"));
  PluginTrial nonsense("{name: overcommit, arguments: {overcommit-factor: 0.5}}", kCluster);
  EXPECT_TRUE(nonsense.of_job<JobEnqueueable>("a/two"));
}

TEST(Drf, the_smaller_dominant_share_goes_first) {
  PluginTrial trial("{name: drf}", R"(
queue default
node n1 cpu=10 memory=10Gi pods=100
group a/cpu phase=Running
pod a/cpu-{0..2} group=cpu cpu=1 node=n1
group a/memory phase=Running
pod a/memory-0 group=memory memory=5Gi node=n1
group a/new phase=Inqueue
pod a/new-0 group=new cpu=1
)");
  EXPECT_EQ(trial.job_order<JobOrder>("a/cpu", "a/memory"), -1) << "0.3 and 0.5";
  EXPECT_EQ(trial.job_order<JobOrder>("a/cpu", "a/new"), 1);
  EXPECT_EQ(trial.victims<Preemptable>("a/new-0", {"a/cpu-0", "a/cpu-1", "a/cpu-2"}), "a/cpu-0, a/cpu-1")
      << "the new one would have 0.1, the old one 0.2, 0.1, 0";
}

TEST(Drf, queues_of_a_tree) {
  PluginTrial trial("{name: drf, enableHierarchy: true}", R"(
queue one annotations=volcano.sh/hierarchy:root/one,volcano.sh/hierarchy-weights:1/1
queue two annotations=volcano.sh/hierarchy:root/two,volcano.sh/hierarchy-weights:1/1
node n1 cpu=10 memory=10Gi pods=100
group a/v queue=one phase=Running
pod a/v-0 group=v cpu=6 node=n1
pod a/v-{1..2} group=v cpu=1 node=n1
group a/w queue=two phase=Running
pod a/w-0 group=w cpu=1 node=n1
pod a/w-1 group=w cpu=2
pod a/w-2 group=w cpu=3
)");
  // With v-1 gone for w-1 all of the cpu is in use, which saturates both queues: 0.7 and 0.3. With v-0 gone: 0.2 and
  // 0.3.
  EXPECT_EQ(trial.victims<Reclaimable>("a/w-1", {"a/v-1", "a/v-0", "a/w-0", "a/v-2"}), "a/v-1, a/v-2");
  trial.in_session([&](Session& session) {
    const auto order = [&] { return session.ask<QueueOrder>(trial.queue("one"), trial.queue("two")); };
    EXPECT_EQ(order(), 1) << "one has all it wants";
    const Journal::Mark mark = session.journal().mark();
    session.journal().evict(trial.task("a/v-0"), "reclaim", trial.job("a/w").id);
    EXPECT_EQ(order(), 1) << "0.2 and 0.1";
    ASSERT_TRUE(session.journal().pipeline(trial.task("a/w-2"), session.model().nodes.find("n1"), true));
    EXPECT_EQ(order(), -1) << "0.2 and 0.4";
    session.journal().rollback(mark);
    EXPECT_EQ(order(), 1);
  });
}

TEST(Resourcequota, admits_what_the_namespace_has_left) {
  PluginTrial trial("{name: resourcequota}", R"(
queue default
quota a/q hard=cpu:4,limits.cpu:9 used=cpu:2
group a/fits phase=Pending minResources=cpu:2
group a/large phase=Pending minResources=cpu:3
group a/other phase=Pending minResources=memory:99Gi
group b/large phase=Pending minResources=cpu:3
group a/free phase=Pending
)");
  EXPECT_TRUE(trial.of_job<JobEnqueueable>("a/fits"));
  EXPECT_FALSE(trial.of_job<JobEnqueueable>("a/large"));
  EXPECT_TRUE(trial.of_job<JobEnqueueable>("a/other")) << "not in the quota";
  EXPECT_TRUE(trial.of_job<JobEnqueueable>("b/large")) << "another namespace";
  EXPECT_TRUE(trial.of_job<JobEnqueueable>("a/free"));
}

}  // namespace
}  // namespace plugins
