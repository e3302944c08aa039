// The nodes that each scheduler gets, refusals, and the writes for it.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/sharding/controller.h"
#include "controllers/sharding/policies.h"
#include "controllers/sharding/step.h"

namespace controllers::sharding {
namespace {

using api::Json;
namespace resources = api::resources;

// --- the configuration ---

std::string rate(double min, double max) { return base::format("rate {}..{}", min, max); }

// "volcano(agent): rate 0..0.6, limit 2..100": what was read, in one line.
std::string reported(const Config& config) {
  std::string out;
  for (const SchedulerShare& one : config.schedulers) {
    out += (out.empty() ? "" : "; ") + one.name + ":";
    for (const Policy& policy : one.policies) {
      if (policy.name == "allocation-rate") out += " " + rate(policy.utilization_min, policy.utilization_max);
      if (policy.name == "warmup") out += base::format(" warmup {}={}", policy.label, policy.label_value);
      if (policy.name == "node-limit") out += base::format(" limit {}..{}", policy.nodes_min, policy.nodes_max);
      if (policy.weight != 1) out += base::format("*{}", policy.weight);
    }
  }
  return out;
}

TEST(ShardingConfig, is_read_with_its_deprecated_scalars) {
  struct Row {
    std::string_view text, expected;
  };
  for (const Row& row : std::vector<Row>{
           {"schedulerConfigs: [{name: a}]", "a: rate 0..1"},
           {"schedulerConfigs: [{name: a, type: x, cpuUtilizationMin: 0.2, cpuUtilizationMax: 0.6}]",
            "a: rate 0.2..0.6"},
           {"schedulerConfigs: [{name: a, arguments: {maxCPUUtil: 0.5}, cpuUtilizationMax: 0.9}]", "a: rate 0..0.5"},
           {"schedulerConfigs: [{name: a, preferWarmupNodes: true}]",
            "a: rate 0..1 warmup node.volcano.sh/warmup=true"},
           {"schedulerConfigs: [{name: a, minNodes: 2, maxNodes: 5}]", "a: rate 0..1 limit 2..5"},
           {"schedulerConfigs: [{name: a, minNodes: 2}]", "a: rate 0..1 limit 2..0"},
           {"schedulerConfigs: [{name: a, maxNodes: 5, policies: [{name: warmup, weight: 3}]}]",
            "a: warmup node.volcano.sh/warmup=true*3 limit 0..5"},
           {"schedulerConfigs: [{name: a, maxNodes: 5, preferWarmupNodes: true, policies: [{name: node-limit, weight: "
            "0, "
            "arguments: {minNodes: 1, maxNodes: 2}}]}]",
            "a: limit 1..2"},
           {"schedulerConfigs: [{name: a, policies: [{name: warmup, arguments: {warmupLabel: x, warmupLabelValue: "
            "'yes'}}]}, {name: b, policies: [{name: allocation-rate, arguments: {minCPUUtil: 0.7}}]}]",
            "a: warmup x=yes; b: rate 0.7..1"}}) {
    const auto config = parse_config(row.text, Config());
    ASSERT_TRUE(config.ok()) << row.text << ": " << config.error().message;
    EXPECT_EQ(reported(*config), row.expected) << row.text;
  }
  const auto config =
      parse_config("schedulerConfigs: [{name: a}]\nshardSyncPeriod: 90s\nenableNodeEventTrigger: false", Config());
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->sync_period, base::seconds(90));
  EXPECT_FALSE(config->follows_nodes);
  EXPECT_EQ(parse_config("schedulerConfigs: [{name: a}]\nshardSyncPeriod: 0s", Config())->sync_period,
            base::minutes(2));
}

TEST(ShardingConfig, is_refused_with_the_field_and_its_value) {
  struct Row {
    std::string_view text, message;
  };
  for (const Row& row : std::vector<Row>{
           {"", "schedulerConfigs: the list is empty"},
           {"schedulerConfigs: []", "schedulerConfigs: the list is empty"},
           {"schedulerConfigs: 7", "schedulerConfigs: 7 is not a list"},
           {"[]", "the configuration: [] is not a map"},
           {"schedulerConfigs: [{type: x}]", "schedulerConfigs[0].name: a scheduler needs a name"},
           {"schedulerConfigs: [{name: A_b}]", "schedulerConfigs[0].name: \"A_b\" is not a name of a NodeShard"},
           {"schedulerConfigs: [{name: a}, {name: a}]", "schedulerConfigs: a is there twice"},
           {"schedulerConfigs: [{name: a}, 7]", "schedulerConfigs[1]: 7 is not a map"},
           {"schedulerConfigs: [{name: a, cpuUtilizationMin: -0.1}]",
            "schedulerConfigs[0].cpuUtilizationMin: a utilization of -0.1 to 1 is not within 0 to 1"},
           {"schedulerConfigs: [{name: a, cpuUtilizationMax: 1.1}]",
            "schedulerConfigs[0].cpuUtilizationMin: a utilization of 0 to 1.1 is not within 0 to 1"},
           {"schedulerConfigs: [{name: a, cpuUtilizationMin: 0.6, cpuUtilizationMax: 0.5}]",
            "schedulerConfigs[0].cpuUtilizationMin: a utilization of 0.6 to 0.5 is not within 0 to 1"},
           {"schedulerConfigs: [{name: a, policies: [{name: allocation-rate, arguments: {minCPUUtil: 2}}]}]",
            "schedulerConfigs[0].policies[0].arguments: a utilization of 2 to 1 is not within 0 to 1"},
           {"schedulerConfigs: [{name: a, policies: [{name: allocation-rate, arguments: {minCPUUtil: lots}}]}]",
            "schedulerConfigs[0].policies[0].arguments.minCPUUtil: \"lots\" is not a number"},
           {"schedulerConfigs: [{name: a, minNodes: -1}]", "schedulerConfigs[0].minNodes: -1 is not zero or more"},
           {"schedulerConfigs: [{name: a, minNodes: 3, maxNodes: 2}]",
            "schedulerConfigs[0]: minNodes 3 and maxNodes 2 are not a range"},
           {"schedulerConfigs: [{name: a, policies: [{name: node-limit, arguments: {minNodes: 3, maxNodes: 2}}]}]",
            "schedulerConfigs[0].policies[0].arguments: minNodes 3 and maxNodes 2 are not a range"},
           {"schedulerConfigs: [{name: a, policies: [{weight: 2}]}]",
            "schedulerConfigs[0].policies[0].name: a policy needs a name"},
           {"schedulerConfigs: [{name: a, policies: [{name: warmth}]}]",
            "schedulerConfigs[0].policies[0].name: \"warmth\" is none of allocation-rate, warmup, node-limit"},
           {"schedulerConfigs: [{name: a, policies: [{name: warmup, weight: -1}]}]",
            "schedulerConfigs[0].policies[0].weight: -1 is below zero"},
           {"schedulerConfigs: [{name: a, policies: [{name: warmup, arguments: {maxNodes: 2}}]}]",
            "schedulerConfigs[0].policies[0].arguments: minNodes and maxNodes are arguments of node-limit, not of "
            "warmup"},
           {"schedulerConfigs: [{name: a}]\nshardSyncPeriod: often", "shardSyncPeriod: \"often\" is not a duration"},
           {"schedulerConfigs: [{name: a}]\nenableNodeEventTrigger: 3",
            "enableNodeEventTrigger: 3 is not a boolean"}}) {
    const auto config = parse_config(row.text, Config());
    ASSERT_FALSE(config.ok()) << row.text;
    EXPECT_EQ(config.error().message, row.message) << row.text;
  }
}

TEST(ShardingConfig, flags_say_the_same_in_seven_parts) {
  struct Row {
    std::string entry, expected;
  };
  for (const Row& row : std::vector<Row>{
           {"volcano:volcano:0.0:0.6:false:2:100", "volcano: rate 0..0.6 limit 2..100"},
           {"a:x:-inf:inf:true:0:0", "a: rate 0..1 warmup node.volcano.sh/warmup=true limit 0..0"},
           {"a:x:0:1:true:0",
            "--scheduler-configs: \"a:x:0:1:true:0\" is not "
            "name:type:minUtil:maxUtil:preferWarmup:minNodes:maxNodes"},
           {":x:0:1:true:0:0", "--scheduler-configs: \":x:0:1:true:0:0\": \"\" is not a name of a NodeShard"},
           {"a:x:0:much:true:0:0", "--scheduler-configs: \"a:x:0:much:true:0:0\": 0 to much are not numbers"},
           {"a:x:0.7:0.6:true:0:0",
            "--scheduler-configs: \"a:x:0.7:0.6:true:0:0\": a utilization of 0.7 to 0.6 is not within 0 to 1"},
           {"a:x:0:1:maybe:0:0", "--scheduler-configs: \"a:x:0:1:maybe:0:0\": maybe is not a boolean"},
           {"a:x:0:1:true:1:x", "--scheduler-configs: \"a:x:0:1:true:1:x\": 1 to x are not numbers of nodes"},
           {"a:x:0:1:true:3:2",
            "--scheduler-configs: \"a:x:0:1:true:3:2\": minNodes 3 and maxNodes 2 are not a range"}}) {
    const auto shares = parse_scheduler_flags({row.entry});
    EXPECT_EQ(shares.ok() ? reported({.schedulers = *shares}) : shares.error().message, row.expected) << row.entry;
  }
  EXPECT_FALSE(parse_scheduler_flags({"a:x:0:1:true:0:0", "a:x:0:1:true:0:0"}).ok());
  EXPECT_EQ(default_config().schedulers.size(), 2u);
}

// --- the policies ---

NodeFacts node(const std::string& name, std::optional<double> cpu, bool warm = false) {
  NodeFacts out{.name = name, .labels = {}, .cpu = cpu, .memory = cpu};
  if (warm) out.labels.emplace("node.volcano.sh/warmup", "true");
  return out;
}

std::string assigned(std::string_view text, const std::vector<NodeFacts>& nodes) {
  const auto config = parse_config(text, Config());
  EXPECT_TRUE(config.ok()) << config.error().message;
  std::string out;
  for (const Assignment& one : assign(*config, nodes)) {
    out += (out.empty() ? "" : "; ") + one.scheduler + ":";
    for (const std::string& name : one.nodes) out += " " + name;
  }
  return out;
}

TEST(ShardingPolicies, each_scheduler_chooses_among_what_those_before_it_left) {
  const std::vector<NodeFacts> nodes = {node("n1", 0.0), node("n2", 0.304), node("n3", 0.65, true), node("n4", 0.9),
                                        node("n5", std::nullopt, true)};
  struct Row {
    std::string_view text, expected;
  };
  for (const Row& row : std::vector<Row>{
           {"schedulerConfigs: [{name: a, cpuUtilizationMax: 0.6}, {name: b, cpuUtilizationMin: 0.7}]",
            "a: n1 n2; b: n4"},
           {"schedulerConfigs: [{name: a, cpuUtilizationMin: 0.3, cpuUtilizationMax: 0.3}, {name: b}]",
            "a: n2; b: n1 n3 n4"},
           {"schedulerConfigs: [{name: a, maxNodes: 2}, {name: b}]", "a: n3 n4; b: n1 n2"},
           {"schedulerConfigs: [{name: a, maxNodes: 2, preferWarmupNodes: true}, {name: b}]", "a: n3 n4; b: n1 n2"},
           {"schedulerConfigs: [{name: a, maxNodes: 1, policies: [{name: allocation-rate}, {name: warmup, weight: "
            "5}]}, "
            "{name: b}]",
            "a: n3; b: n1 n2 n4"},
           {"schedulerConfigs: [{name: a, maxNodes: 2, policies: [{name: warmup}]}, {name: b, policies: [{name: "
            "node-limit, arguments: {maxNodes: 1}}]}]",
            "a: n3 n5; b: n1"},
           {"schedulerConfigs: [{name: a, policies: [{name: node-limit, arguments: {maxNodes: 4}}, {name: node-limit, "
            "arguments: {maxNodes: 3}}]}]",
            "a: n1 n2 n3"}}) {
    EXPECT_EQ(assigned(row.text, nodes), row.expected) << row.text;
  }
}

TEST(ShardingPolicies, a_limit_is_a_limit_however_many_nodes_there_are) {
  std::vector<NodeFacts> nodes;
  for (int i = 0; i < 175; ++i) nodes.push_back(node(base::format("n{:03}", i), i / 200.0));
  const auto config = parse_config("schedulerConfigs: [{name: a, maxNodes: 60}]", Config());
  const auto all = assign(*config, nodes);
  ASSERT_EQ(all[0].nodes.size(), 60u);
  EXPECT_EQ(all[0].nodes.front(), "n114") << "the fullest, to two digits";
}

TEST(ShardingPolicies, a_node_carries_what_its_active_pods_ask_for) {
  const Json object = *api::parse_json(R"({"metadata":{"name":"n","labels":{"a":"b"}},
      "status":{"capacity":{"cpu":"4","memory":"8Gi"}}})");
  const auto pod = [](std::string_view status, std::string_view meta = "{}") {
    return *api::parse_json(base::format(R"({{"metadata":{},"spec":{{"containers":[{{"resources":{{"requests":
        {{"cpu":"1","memory":"2Gi"}}}}}}],"initContainers":[{{"resources":{{"requests":{{"cpu":"9"}}}}}}]}},
        "status":{{"phase":"{}"}}}})",
                                         meta, status));
  };
  const std::vector<Json> pods = {pod("Running"),
                                  pod("Pending"),
                                  pod("Succeeded"),
                                  pod("Failed"),
                                  pod("Running", R"({"deletionTimestamp":"2026-01-01T00:00:00Z"})"),
                                  pod("Running", R"({"annotations":{"kubernetes.io/config.mirror":"x"}})")};
  std::vector<const Json*> all;
  for (const Json& one : pods) all.push_back(&one);
  const NodeFacts facts = facts_of(object, all);
  EXPECT_EQ(facts.cpu, 0.5);
  EXPECT_EQ(facts.memory, 0.5);
  for (int i = 0; i < 9; ++i) all.push_back(&pods[0]);
  EXPECT_EQ(facts_of(object, all).cpu, 1.0) << "capped";
  EXPECT_EQ(facts_of(*api::parse_json(R"({"metadata":{"name":"n"}})"), all).cpu, std::nullopt);
}

// --- the controller ---

class Sharding : public testing::Test {
 protected:
  Sharding() { make("schedulerConfigs: [{name: a, maxNodes: 2}, {name: b}]"); }

  void make(std::string_view config, bool follows = true) {
    Options options{.config = *parse_config(config, Config())};
    options.config.follows_nodes = follows;
    controller = make_sharding_controller(options);
    world.use_indexes_of(*controller);
  }
  void add_node(const std::string& name) {
    world.put_text(resources::kNodes, base::format(R"({{"kind":"Node","metadata":{{"name":"{}"}},
        "status":{{"capacity":{{"cpu":"4","memory":"8Gi"}}}}}})",
                                                   name));
  }
  void add_pod(const std::string& name, const std::string& node, int cpu) {
    world.put_text(resources::kPods, base::format(R"({{"kind":"Pod","metadata":{{"namespace":"x","name":"{}"}},"spec":
        {{"nodeName":"{}","containers":[{{"resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
                                                  name, node, cpu));
  }
  void set_config(std::string_view text) {
    world.put(resources::kConfigMaps,
              Json::object({{"kind", "ConfigMap"},
                            {"metadata",
                             Json::object({{"namespace", "volcano-system"}, {"name", "volcano-sharding-configmap"}})},
                            {"data", Json::object({{"sharding.yaml", text}})}}));
  }
  std::string turn() {
    world.now = world.now + base::seconds(1);
    return world.turn(*controller, "all");
  }
  std::string desired(const std::string& shard) {
    const Json* found = world.find(resources::kNodeShards, shard);
    return found == nullptr ? "none" : (*found)["spec"]["nodesDesired"].dump();
  }
  // The keys that a change of this object wakes.
  Keys woken_by(const api::ResourceId& resource, const Json& object) {
    for (const Wake& wake : controller->wakes_on()) {
      if (wake.resource == resource) return wake.keys(world, object);
    }
    return {};
  }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST_F(Sharding, makes_a_shard_for_each_scheduler_and_then_wants_nothing) {
  for (const char* name : {"n1", "n2", "n3"}) add_node(name);
  const std::string text = turn();
  EXPECT_NE(text.find("create NodeShard a"), std::string::npos) << text;
  EXPECT_EQ(desired("a"), R"(["n1","n2"])");
  EXPECT_EQ(desired("b"), R"(["n3"])");
  const Json& status = (*world.find(resources::kNodeShards, "a"))["status"];
  EXPECT_EQ(status["nodesToAdd"].dump(), R"(["n1","n2"])");
  EXPECT_FALSE(status["lastUpdateTime"].as_string().empty());
  EXPECT_EQ(turn(), "");
}

TEST_F(Sharding, deletes_shards_of_schedulers_that_nobody_configured) {
  add_node("n1");
  world.put_text(resources::kNodeShards,
                 R"({"kind":"NodeShard","metadata":{"name":"old"},"spec":{"nodesDesired":["n1"]}})");
  turn();
  EXPECT_EQ(desired("old"), "none");
  EXPECT_EQ(desired("a"), R"(["n1"])");
}

TEST_F(Sharding, a_new_configuration_counts_at_once_and_a_broken_one_changes_nothing_and_says_so) {
  for (const char* name : {"n1", "n2", "n3"}) add_node(name);
  turn();
  set_config("schedulerConfigs: [{name: c}]");
  turn();
  EXPECT_EQ(desired("a"), "none");
  EXPECT_EQ(desired("c"), R"(["n1","n2","n3"])");
  set_config("schedulerConfigs: []");
  turn();
  EXPECT_EQ(desired("c"), R"(["n1","n2","n3"])");
  ASSERT_EQ(world.events.size(), 1u);
  EXPECT_EQ(world.events[0],
            "InvalidConfiguration: sharding.yaml cannot be used, the configuration before stays: schedulerConfigs: the "
            "list is empty");
  turn();
  EXPECT_EQ(world.events.size(), 1u) << "said once";
  world.erase(resources::kConfigMaps, "volcano-system/volcano-sharding-configmap");
  turn();
  turn();
  EXPECT_EQ(desired("c"), R"(["n1","n2","n3"])") << "the last one that could be read stays";
  ASSERT_EQ(world.events.size(), 2u);
  EXPECT_EQ(
      world.events[1],
      "ConfigMapGone: ConfigMap volcano-system/volcano-sharding-configmap is gone; the configuration before stays");
}

TEST_F(Sharding, small_changes_wait_and_large_ones_are_written_for_all) {
  make("schedulerConfigs: [{name: a, maxNodes: 20}, {name: b}]");
  for (int i = 0; i < 40; ++i) add_node(base::format("n{:02}", i));
  turn();
  // One node of twenty would change sides: a pod made it fuller than the others.
  add_pod("p", "n30", 1);
  EXPECT_EQ(turn(), "");
  add_pod("q", "n31", 1);
  EXPECT_NE(turn(), "") << "two are a tenth";
  EXPECT_NE(desired("a").find("n31"), std::string::npos);
  EXPECT_EQ(desired("b").find("n31"), std::string::npos);
}

TEST_F(Sharding, a_node_that_is_gone_and_a_shard_that_somebody_changed_are_put_right) {
  for (const char* name : {"n1", "n2", "n3"}) add_node(name);
  turn();
  world.erase(resources::kNodes, "n1");
  turn();
  EXPECT_EQ(desired("a"), R"(["n2","n3"])");
  world.edit(resources::kNodeShards, "b")->edit("spec").set("nodesDesired", Json::array({"n3"}));
  turn();
  EXPECT_EQ(desired("b"), "[]");
}

TEST_F(Sharding, says_when_there_are_fewer_nodes_than_a_scheduler_should_have) {
  make("schedulerConfigs: [{name: a, minNodes: 3}]");
  add_node("n1");
  turn();
  ASSERT_EQ(world.events.size(), 1u);
  EXPECT_EQ(world.events[0], "NotEnoughNodes: 1 of at least 3 nodes are there for it");
}

TEST_F(Sharding, a_pod_wakes_it_only_where_it_moves_its_node_by_more_than_half) {
  add_node("n1");
  add_pod("small", "n1", 2);
  EXPECT_EQ(woken_by(resources::kPods, *world.find(resources::kPods, "x/small")), Keys{}) << "before the first look";
  turn();
  add_pod("half", "n1", 1);
  EXPECT_EQ(woken_by(resources::kPods, *world.find(resources::kPods, "x/half")), Keys{});
  world.erase(resources::kPods, "x/small");
  world.erase(resources::kPods, "x/half");
  turn();
  add_pod("large", "n1", 3);
  EXPECT_EQ(woken_by(resources::kPods, *world.find(resources::kPods, "x/large")), Keys{"all"});
  make("schedulerConfigs: [{name: a}]", false);
  turn();
  EXPECT_EQ(woken_by(resources::kNodes, *world.find(resources::kNodes, "n1")), Keys{}) << "the period alone counts";
}

TEST_F(Sharding, changes_that_come_together_are_looked_at_together) {
  add_node("n1");
  turn();
  const Plan plan = controller->step(world, "all", {.now = world.now + base::milliseconds(50)});
  EXPECT_TRUE(writes_nothing(plan));
  EXPECT_EQ(plan.look_again(), base::milliseconds(150));
}

// From any shards at all, whatever was written before a crash, and with plans that stop half way.
TEST(ShardingConverges, from_any_state) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    TestWorld world(seed);
    base::Random& dice = world.dice;
    const auto config = parse_config(
        "schedulerConfigs: [{name: a, maxNodes: 5}, {name: b, cpuUtilizationMax: 0.5}, "
        "{name: c}]",
        Config());
    auto controller = make_sharding_controller({.config = *config});
    world.use_indexes_of(*controller);
    for (int i = 0; i < 12; ++i) {
      world.put_text(resources::kNodes, base::format(R"({{"kind":"Node","metadata":{{"name":"n{}"}},
          "status":{{"capacity":{{"cpu":"4"}}}}}})",
                                                     i));
      if (dice.chance(0.5))
        world.put_text(resources::kPods,
                       base::format(R"({{"kind":"Pod","metadata":{{"namespace":"x","name":"p{0}"}},"spec":{{"nodeName":
              "n{0}","containers":[{{"resources":{{"requests":{{"cpu":"{1}"}}}}}}]}}}})",
                                    i, 1 + dice.below(4)));
    }
    for (const char* name : {"a", "b", "c", "stray"}) {
      if (dice.chance(0.4)) continue;
      Json nodes = Json::array();
      for (int i = 0; i < 14; ++i) {
        if (dice.chance(0.4)) nodes.push_back(base::format("n{}", i));
      }
      world.put(resources::kNodeShards, Json::object({{"kind", "NodeShard"},
                                                      {"metadata", Json::object({{"name", name}})},
                                                      {"spec", Json::object({{"nodesDesired", nodes}})}}));
    }
    for (int round = 0; round < 4; ++round) {
      world.now = world.now + base::seconds(60);
      const Plan plan = controller->step(world, "all", {.now = world.now});
      if (dice.chance(0.3)) {  // a crash after the first stage
        Plan half;
        for (const Action& action : plan.stages().front().actions) {
          if (action.verb == Action::Verb::kCreate) half.create(action.resource, action.body);
        }
        world.apply(half);
        controller = make_sharding_controller({.config = *config});
        continue;
      }
      controller->finished("all", world.apply(plan));
    }
    std::string text = "?";
    for (int round = 0; round < 2; ++round) {
      world.now = world.now + base::seconds(60);
      const Plan plan = controller->step(world, "all", {.now = world.now});
      controller->finished("all", world.apply(plan));
      text = writes_nothing(plan) ? "" : plan.text();
    }
    ASSERT_EQ(text, "") << "seed " << seed;
    std::set<std::string> seen;
    for (const Json* shard : world.all(resources::kNodeShards)) {
      for (const Json& one : (*shard)["spec"]["nodesDesired"].items())
        EXPECT_TRUE(seen.insert(one.str()).second) << "seed " << seed << ": " << one.str() << " is given twice";
    }
  }
}

}  // namespace
}  // namespace controllers::sharding
