// The meaning of flags, gates, shares and samples: tables.
#include <gtest/gtest.h>

#include "scheduler/cache/scheduler_share.h"
#include "scheduler/effects/outbox_requests.h"
#include "scheduler/model/core/feature_gates.h"
#include "scheduler/options.h"
#include "scheduler/search/node_sampling.h"
#include "scheduler/sources/usage_collector.h"

namespace scheduler {
namespace {

TEST(NodeSampler, looks_for_as_many_nodes_as_the_table_says) {
  NodeSampler sampler;
  EXPECT_EQ(sampler.wanted(10'000), 10'000u);  // nobody asked for samples
  sampler.options.on = true;
  const std::pair<std::size_t, std::size_t> cases[] = {{1, 1},      {100, 100},  {1000, 420},
                                                       {5000, 500}, {6000, 300}, {10'000, 500}};
  for (const auto& [nodes, wanted] : cases) EXPECT_EQ(sampler.wanted(nodes), wanted) << nodes;
  sampler.options.percentage = 10;
  EXPECT_EQ(sampler.wanted(2000), 200u);
  EXPECT_EQ(sampler.wanted(500), 100u);
  sampler.options.percentage = 100;
  EXPECT_EQ(sampler.wanted(2000), 2000u);
  sampler.options = {true, -5, -7, -1};
  EXPECT_EQ(sampler.wanted(100'000), 1u);  // absurd values still find a node
}

TEST(NodeSampler, begins_where_the_last_walk_ended) {
  NodeSampler sampler;
  sampler.options = {true, 2, 1, 1};
  NodeSet all(64);
  for (std::uint32_t n = 0; n < 5; ++n) all.add(n);
  NodeSet feasible = all;
  feasible.remove(1);
  const std::uint32_t firsts[] = {0, 3, 0};  // {0, 2}, {3, 4}, {0, 2}
  for (const std::uint32_t first : firsts) {
    NodeSet found = feasible;
    sampler.reduce(all, found);
    EXPECT_EQ(found.count(), 2u);
    EXPECT_EQ(found.first(), first);
  }
}

TEST(SchedulerShare, maps_names_to_members_as_the_published_ring_does) {
  // CRC-32 of the names, next of 3 x 20 points; worked out apart from this code.
  const std::pair<const char*, int> cases[] = {{"job-a", 0},  {"job-b", 1},  {"job-c", 2}, {"node-1", 0},
                                               {"node-2", 0}, {"node-3", 2}, {"train", 1}, {"web-0", 1}};
  for (const auto& [name, owner] : cases) {
    for (int i = 0; i < 3; ++i) {
      const SchedulerShare share("volcano-scheduler-" + std::to_string(i), 3);
      EXPECT_EQ(share.owns(name), i == owner) << name << " " << i;
    }
  }
  EXPECT_TRUE(SchedulerShare().owns("anything"));
  EXPECT_TRUE(SchedulerShare("volcano-scheduler-0", 1).owns("job-b"));
  EXPECT_TRUE(SchedulerShare("nodash", 3).owns("job-b"));
}

TEST(SchedulerShare, pods_go_with_their_owner) {
  const SchedulerShare share("volcano-scheduler-1", 3);
  EXPECT_TRUE(
      share.owns_object(*api::parse_json(R"({"metadata":{"name":"job-a","ownerReferences":[{"name":"job-b"}]}})")));
  EXPECT_FALSE(share.owns_object(*api::parse_json(R"({"metadata":{"name":"job-a"}})")));
}

TEST(FeatureGates, are_read_or_refused_with_a_reason) {
  const auto gates =
      FeatureGates::parse("SchedulingGatesQueueAdmission=true, PodDisruptionBudgetsSupport=F,WatchList=true");
  ASSERT_TRUE(gates.ok());
  EXPECT_TRUE(gates->on("SchedulingGatesQueueAdmission"));
  EXPECT_FALSE(gates->on("PodDisruptionBudgetsSupport"));
  EXPECT_TRUE(gates->on("PodSchedulingReadiness"));
  EXPECT_EQ(gates->warnings(), std::vector<std::string>{"--feature-gates: WatchList changes nothing here"});
  EXPECT_EQ(FeatureGates::parse("NoSuchGate=true").error().message,
            "--feature-gates: unrecognized feature gate: NoSuchGate");
  EXPECT_EQ(FeatureGates::parse("WorkLoadSupport").error().message,
            "--feature-gates: missing bool value for WorkLoadSupport");
  EXPECT_EQ(FeatureGates::parse("WorkLoadSupport=maybe").error().message,
            "--feature-gates: invalid value of WorkLoadSupport: maybe is not a boolean");
}

TEST(Options, take_what_the_packaged_manifests_pass) {
  Options options;
  const auto rest = parse_options(
      {"--logtostderr", "--scheduler-conf=/volcano.scheduler/volcano-scheduler.conf", "--enable-healthz=true",
       "--enable-metrics=true", "--enable-pprof=true", "--leader-elect=false", "--kube-api-qps=2000",
       "--kube-api-burst=2000", "--schedule-period=1s", "--node-worker-threads=20", "--percentage-nodes-to-find=5",
       "--scheduler-sharding-mode=none", "--stderrthreshold=INFO", "--vmodule=x=1", "-v=3"},
      options);
  ASSERT_TRUE(rest.ok()) << rest.error().message;
  EXPECT_TRUE(options.check().ok());
  EXPECT_EQ(options.scheduler_conf, "/volcano.scheduler/volcano-scheduler.conf");
  const auto agent = parse_options({"--scheduler-worker-count=1"}, options);
  ASSERT_FALSE(agent.ok());
  EXPECT_NE(agent.error().message.find("agent scheduler"), std::string::npos);
}

// The flags that Volcano's chart passes to its agent scheduler (docs/spec/install.md), and three flags that its
// template can add.
TEST(Options, of_the_agent_scheduler_are_its_own) {
  Options options = agent_options();
  const auto rest = parse_options(
      {"--scheduler-conf=/volcano.scheduler/agent-scheduler.conf", "--scheduler-name=agent-scheduler",
       "--enable-healthz=true", "--enable-metrics=true", "--leader-elect=false", "--kube-api-qps=2000",
       "--kube-api-burst=2000", "--node-worker-threads=20", "--scheduler-worker-count=4", "--enable-pprof=true",
       "--plugins-dir=", "--ignored-provisioners=a", "--scheduler-sharding-mode=hard"},
      options);
  ASSERT_TRUE(rest.ok()) << rest.error().message;
  EXPECT_TRUE(options.check().ok());
  EXPECT_EQ(options.names(), std::vector<std::string>{"agent-scheduler"});
  EXPECT_EQ(options.sharding_name, "agent-scheduler");
  EXPECT_EQ(agent_options().names(), std::vector<std::string>{"agent-scheduler"});
  const std::pair<std::string, const char*> cases[] = {
      {"--scheduler-worker-count=0", "--scheduler-worker-count: 0 is not above zero"},
      {"--scheduler-name=a,b", "--scheduler-name: the agent scheduler has one name"},
  };
  for (const auto& [argument, problem] : cases) {
    Options wrong = agent_options();
    ASSERT_TRUE(parse_options({argument}, wrong).ok()) << argument;
    EXPECT_EQ(wrong.check().ok() ? "" : wrong.check().error().message, problem);
  }
  EXPECT_FALSE(parse_options({"--schedule-period=1s"}, options).ok());
}

TEST(Options, refuse_values_that_make_no_sense) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--scheduler-sharding-mode=soft", "--node-selector=a:b"}, ""},
      {{"--scheduler-sharding-mode=firm"}, "--scheduler-sharding-mode: firm is not none, hard or soft"},
      {{"--node-selector=a=b"}, "--node-selector: a=b is not key:value"},
      {{"--feature-gates=X"}, "--feature-gates: missing bool value for X"},
  };
  for (const auto& [flags, message] : cases) {
    Options options;
    ASSERT_TRUE(parse_options(flags, options).ok());
    const base::Status status = options.check();
    EXPECT_EQ(status.ok() ? "" : status.error().message, message);
  }
}

TEST(Outbox, a_gate_is_removed_by_name) {
  const client::Request request = gate_removal_request({"ns", "p", "u", std::string(kQueueGate)});
  EXPECT_EQ(request.patch_type, client::PatchType::kStrategic);
  EXPECT_EQ(
      request.body.dump(),
      R"({"metadata":{"uid":"u"},"spec":{"schedulingGates":[{"$patch":"delete","name":"scheduling.volcano.sh/queue-allocation-gate"}]}})");
}

TEST(UsageCollector, believes_only_numbers_of_named_instances) {
  const auto samples = prometheus_samples(
      R"({"status":"success","data":{"result":[{"metric":{"instance":"n1:9100"},"value":[1.5,"12.5"]},{"metric":{"instance":"n2"},"value":[1,"-3"]},)"
      R"({"metric":{"instance":"n3"},"value":[1,"NaN"]},{"metric":{},"value":[1,"4"]},{"metric":{"instance":"n4"},"value":[1,"900"]}]}})");
  EXPECT_EQ(samples, (std::map<std::string, double>{{"n1", 12.5}, {"n2", 0}, {"n4", 100}}));
  EXPECT_TRUE(prometheus_samples("<html>").empty());
  EXPECT_TRUE(
      prometheus_samples(R"({"status":"error","data":{"result":[{"metric":{"instance":"n1"},"value":[1,"1"]}]}})")
          .empty());
}

}  // namespace
}  // namespace scheduler
