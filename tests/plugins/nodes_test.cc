// Which nodes fit and what they get, by plugin: docs/spec/scheduler 5.8 to 5.10, 5.16 to 5.23.
#include <gtest/gtest.h>

#include <algorithm>

#include "plugin_trial.h"

namespace plugins {
namespace {

using namespace scheduler;

TEST(Predicates, nodes_say_no_for_their_reasons) {
  PluginTrial trial("{name: predicates}", R"(
queue default
node n1 cpu=4 pods=10
node n2 cpu=4 pods=10 unschedulable
node n3 cpu=4 pods=10 taints=own:x:NoSchedule
node n4 cpu=4 pods=10 labels=disk:ssd
node n5 cpu=4 pods=1
group a/g phase=Inqueue
pod a/runs group=g cpu=1 node=n1 hostPorts=80
pod a/fills group=g cpu=1 node=n5
pod a/plain group=g cpu=1
pod a/ssd group=g cpu=1 selector=disk:ssd
pod a/tolerant group=g cpu=1 tolerates=own
pod a/port group=g cpu=1 hostPorts=80
pod a/nowhere group=g cpu=1 selector=disk:tape
)");
  EXPECT_EQ(trial.fits("a/plain"), "n1, n4");
  EXPECT_EQ(trial.reasons("a/plain"),
            "node(s) had untolerated taint(s), node(s) pod number exceeded, node(s) were unschedulable");
  EXPECT_EQ(trial.fits("a/ssd"), "n4");
  EXPECT_EQ(trial.fits("a/tolerant"), "n1, n3, n4");
  EXPECT_EQ(trial.fits("a/port"), "n4");
  EXPECT_EQ(trial.fits("a/nowhere"), "");
}

// Half of n1 is in use with the pod, an eighth of n2's cpu and a quarter of its memory.
constexpr std::string_view kHalfFull = R"(
queue default
node n1 cpu=4 memory=8Gi
node n2 cpu=8 memory=8Gi
group a/g phase=Inqueue
pod a/runs group=g cpu=1 memory=2Gi node=n1
pod a/new group=g cpu=1 memory=2Gi
)";

std::string nodeorder(std::string_view weights) {
  const std::string off =
      "leastrequested.weight: 0, mostrequested.weight: 0, nodeaffinity.weight: 0, podaffinity.weight: 0, "
      "balancedresource.weight: 0, tainttoleration.weight: 0, imagelocality.weight: 0, podtopologyspread.weight: 0";
  std::string arguments = off;
  const std::string key(weights.substr(0, weights.find(':')));
  const std::size_t at = arguments.find(key + ": 0");
  arguments.replace(at, key.size() + 3, weights);
  return "{name: nodeorder, arguments: {" + arguments + "}}";
}

TEST(Nodeorder, each_score_by_its_formula) {
  struct Row {
    const char* weight;
    const char* scores;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"leastrequested.weight: 1", "n1 50, n2 81"},  // (50 + 50) / 2 and (87 + 75) / 2, rounded down
           {"leastrequested.weight: 3", "n1 150, n2 243"},
           {"mostrequested.weight: 1", "n1 50, n2 18"},     // (50 + 50) / 2 and (12 + 25) / 2
           {"balancedresource.weight: 1", "n1 75, n2 71"},  // 50 + 50 / 2, and 50 + (50 + 93 - 100) / 2
       })
    EXPECT_EQ(PluginTrial(nodeorder(row.weight), kHalfFull).scores("a/new"), row.scores) << row.weight;
  constexpr std::string_view kTaints = R"(
queue default
node n1 cpu=4
node n2 cpu=4 taints=own:x:PreferNoSchedule
node n3 cpu=4 taints=own:x:PreferNoSchedule,other:y:PreferNoSchedule
group a/g phase=Inqueue
pod a/new group=g cpu=1
)";
  EXPECT_EQ(PluginTrial(nodeorder("tainttoleration.weight: 3"), kTaints).scores("a/new"), "n1 300, n2 150, n3 0");
}

TEST(Binpack, prefers_what_is_full) {
  EXPECT_EQ(PluginTrial("{name: binpack}", kHalfFull).scores("a/new"), "n1 50, n2 18.75");
  EXPECT_EQ(PluginTrial("{name: binpack, arguments: {binpack.weight: 2, binpack.cpu: 3, binpack.memory: 1}}", kHalfFull)
                .scores("a/new"),
            "n1 100, n2 31.25")
      << "2 x 100 x (3/8 + 1/4) / 4";
  EXPECT_EQ(PluginTrial("{name: binpack, arguments: {binpack.weight: 0}}", kHalfFull).scores("a/new"), "n1 0, n2 0");
}

TEST(ResourceStrategyFit, by_the_strategy_of_each_resource) {
  EXPECT_EQ(PluginTrial("{name: resource-strategy-fit}", kHalfFull).scores("a/new"), "n1 500, n2 812.5")
      << "10 x 100 x the mean of what is free";
  EXPECT_EQ(PluginTrial("{name: resource-strategy-fit, arguments: {resourceStrategyFitWeight: 1, resources: "
                        "{cpu: {type: MostAllocated, weight: 3}, memory: {type: LeastAllocated, weight: 1}}}}",
                        kHalfFull)
                .scores("a/new"),
            "n1 50, n2 28.13")
      << "(3 x 0.125 + 0.75) / 4";
}

TEST(Nodegroup, queues_have_their_nodes) {
  PluginTrial trial("{name: nodegroup}", R"(
queue q
 + {"spec":{"affinity":{"nodeGroupAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":["must"],"preferredDuringSchedulingIgnoredDuringExecution":["likes"]},"nodeGroupAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":["never"],"preferredDuringSchedulingIgnoredDuringExecution":["rather-not"]}}}}
node must cpu=4 labels=volcano.sh/nodegroup-name:must
node likes cpu=4 labels=volcano.sh/nodegroup-name:likes
node never cpu=4 labels=volcano.sh/nodegroup-name:never
node rather-not cpu=4 labels=volcano.sh/nodegroup-name:rather-not
node other cpu=4 labels=volcano.sh/nodegroup-name:other
node bare cpu=4
group a/g queue=q phase=Inqueue
pod a/new group=g cpu=1
)");
  EXPECT_EQ(trial.fits("a/new"), "likes, must, rather-not");
  EXPECT_EQ(trial.scores("a/new"), "bare 0, likes 50, must 100, never 0, other 0, rather-not -1");
}

TEST(Usage, busy_nodes_are_avoided) {
  PluginTrial trial("{name: usage, arguments: {thresholds: {cpu: 80, mem: 70}}}", R"(
queue default
node idle cpu=10 memory=10Gi
node busy cpu=10 memory=10Gi
node full cpu=10 memory=10Gi
node heavy cpu=10 memory=10Gi
node unknown cpu=10 memory=10Gi
group a/g phase=Inqueue
pod a/new group=g cpu=1
)");
  trial.measure("idle", 0, 0);
  trial.measure("busy", 60, 20);
  trial.measure("full", 90, 10);
  trial.measure("heavy", 10, 75);
  EXPECT_EQ(trial.fits("a/new"), "busy, idle, unknown");
  EXPECT_EQ(trial.reasons("a/new"),
            "the CPU load of the node exceeds the upper limit., the memory load of the node exceeds the upper limit.");
  // 5 x 100 x the mean of what is idle: (0.4 + 0.8) / 2, (0.1 + 0.9) / 2, (0.9 + 0.25) / 2.
  EXPECT_EQ(trial.scores("a/new"), "busy 300, full 250, heavy 287.5, idle 500, unknown 0");
}

TEST(Deviceshare, a_card_must_have_room) {
  PluginTrial trial("{name: predicates}, {name: deviceshare, arguments: {deviceshare.GPUSharingEnable: true}}", R"(
queue default
node large cpu=16 volcano.sh/gpu-memory=3000 volcano.sh/gpu-number=3
node small cpu=16 volcano.sh/gpu-memory=1500 volcano.sh/gpu-number=3
node none cpu=16
group a/g phase=Inqueue
pod a/new group=g
 + {"spec":{"containers":[{"name":"c","resources":{"limits":{"volcano.sh/gpu-memory":"600"},"requests":{"volcano.sh/gpu-memory":"600"}}}]}}
)");
  EXPECT_EQ(trial.reasons("a/new"), "GpuShare no enough gpu memory on node small") << "500 a card";
}

TEST(NumaAware, one_node_of_memory_must_hold_it) {
  PluginTrial trial("{name: numa-aware}", R"(
queue default
node n1 cpu=64
numatopology n1
 + {"spec":{"policies":{"CPUManagerPolicy":"static","TopologyManagerPolicy":"single-numa-node"},"numares":{"cpu":{"allocatable":"0-7","capacity":8}},"cpuDetail":{"0":{"numa":0,"socket":0,"core":0},"1":{"numa":0,"socket":0,"core":0},"2":{"numa":0,"socket":0,"core":1},"3":{"numa":0,"socket":0,"core":1},"4":{"numa":1,"socket":1,"core":2},"5":{"numa":1,"socket":1,"core":2},"6":{"numa":1,"socket":1,"core":3},"7":{"numa":1,"socket":1,"core":3}}}}
node n2 cpu=64
group a/g phase=Inqueue
pod a/four group=g annotations=volcano.sh/numa-topology-policy:single-numa-node
 + {"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"4","memory":"1Gi"},"requests":{"cpu":"4","memory":"1Gi"}}}]}}
pod a/five group=g annotations=volcano.sh/numa-topology-policy:single-numa-node
 + {"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"5","memory":"1Gi"},"requests":{"cpu":"5","memory":"1Gi"}}}]}}
pod a/burstable group=g cpu=5
)");
  EXPECT_EQ(trial.fits("a/four"), "n1") << "four of eight are on one";
  EXPECT_EQ(trial.fits("a/five"), "");
  EXPECT_EQ(trial.reasons("a/five"), "container c cannot be assigned by numa, numa info is empty");
  EXPECT_EQ(trial.fits("a/burstable"), "n1, n2") << "only guaranteed pods have cpus of their own";
}

TEST(TaskTopology, roles_that_belong_together) {
  PluginTrial trial("{name: task-topology}", R"(
queue default
node n1 cpu=8
node n2 cpu=8
group a/g phase=Inqueue min=3 annotations=volcano.sh/task-topology-affinity:ps.worker
 + {"metadata":{"annotations":{"volcano.sh/task-topology-affinity":"ps,worker"}}}
pod a/ps-0 group=g cpu=1 node=n1 role=ps
pod a/worker-0 group=g cpu=1 role=worker
pod a/other-0 group=g cpu=1 role=other
)");
  EXPECT_EQ(trial.task_order<TaskOrder>("a/worker-0", "a/other-0"), -1) << "in a bucket before outside";
  EXPECT_EQ(trial.scores("a/worker-0"), "n1 100, n2 50") << "1 there and 1 to come, of 2";
}

// Left out in the order of their uids, which is that of their names here, until the others fit.
TEST(TaskTopology, how_much_of_the_rest_would_fit) {
  PluginTrial trial("{name: task-topology}", R"(
queue default
node n1 cpu=8
node n2 cpu=5
node n3 cpu=4
node n4 cpu=2
node n5 cpu=8 memory=1Gi
group a/g phase=Inqueue min=4
 + {"metadata":{"annotations":{"volcano.sh/task-topology-affinity":"w"}}}
pod a/w-0 group=g cpu=1 role=w
pod a/w-1 group=g cpu=3 role=w
pod a/w-2 group=g cpu=2 role=w
pod a/w-3 group=g cpu=2 memory=2Gi role=w
)");
  EXPECT_EQ(trial.scores("a/w-0"), "n1 100, n2 75, n3 50, n4 25, n5 25") << "8 cpu are wanted, then 5, 3, 1";
  EXPECT_EQ(trial.scores("a/w-1"), "n1 100, n2 50, n3 25, n4 0, n5 25") << "8, 7, 5, 3; no room for it on n4";
  EXPECT_EQ(trial.scores("a/w-3"), "n1 100, n2 50, n3 50, n4 25, n5 0") << "8, 7, 4, 2; no room for it on n5";
  trial.in_session([&](Session& session) {
    const auto scores = [&] {
      std::vector<double> out;
      const auto scorers = session.ask<NodeOrder>(session.model().task(trial.task("a/w-0")));
      for (const char* node : {"n1", "n2", "n3", "n4", "n5"})
        out.push_back(scorers.at(0)->score(session.model().nodes.find(node).index));
      return out;
    };
    const std::vector<double> at_first = scores();
    const Journal::Mark mark = session.journal().mark();
    ASSERT_TRUE(session.journal().allocate(trial.task("a/w-1"), session.model().nodes.find("n1")));
    EXPECT_EQ(scores(), (std::vector<double>{100, 75, 50, 25, 25})) << "5, 3, 1 are wanted, and one stands on n1";
    session.journal().rollback(mark);
    EXPECT_EQ(scores(), at_first);
  });
}

TEST(NetworkTopologyAware, hard_tiers_bound_where_a_group_may_go) {
  PluginTrial trial("{name: network-topology-aware}", R"(
queue default
node n{1..4} cpu=4
hypernode s1 tier=1 nodes=n1,n2
hypernode s2 tier=1 nodes=n3,n4
hypernode top tier=2 hypernodes=s1,s2
group a/low topology=hard:1 phase=Inqueue minResources=cpu:6
pod a/low-{0..1} group=low cpu=3
group a/wide topology=hard:2 phase=Inqueue minResources=cpu:12
pod a/wide-{0..3} group=wide cpu=3
group a/any phase=Inqueue
pod a/any-0 group=any cpu=3
)");
  const auto gradients = [&](std::string_view group) {
    std::string out;
    trial.in_session([&](Session& session) {
      const auto found = session.ask<JobGradients>(trial.job(group), kRootDomain, DomainPurpose::kAllocate);
      if (!found) return;
      for (const auto& tier : *found) {
        std::vector<std::string> names;
        for (const DomainId domain : tier)
          names.emplace_back(domain == kRootDomain
                                 ? "(all)"
                                 : session.model().symbols.text(session.model().hyper_nodes.tree()[domain].name));
        std::sort(names.begin(), names.end());
        out += out.empty() ? "" : " | ";
        for (const std::string& name : names) out += name + (&name == &names.back() ? "" : " ");
      }
    });
    return out;
  };
  EXPECT_EQ(gradients("a/low"), "s1 s2");
  EXPECT_EQ(gradients("a/wide"), "top") << "neither has 12 of cpu";
  EXPECT_EQ(gradients("a/any"), "(all)");
}

}  // namespace
}  // namespace plugins
