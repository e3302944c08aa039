// The agent on a machine that is made up, beside a server that is made up: offers, groups, evictions, switches.
#include "colocation/agent.h"

#include <gtest/gtest.h>

#include "api/meta/resource.h"
#include "colocation/made_up_world_for_tests.h"
#include "colocation/policy/config.h"

namespace colocation {
namespace {

using api::Json;
using made_up::kGi;
using made_up::World;
namespace resources = api::resources;

constexpr const char* kAllOn =
    R"({"globalConfig":{"cpuQosConfig":{"enable":true},"cpuBurstConfig":{"enable":true},"memoryQosV2Config":{"enable":true},
"overSubscriptionConfig":{"enable":true},"evictingConfig":{}}})";

TEST(Agent, offers_a_share_of_what_is_idle) {
  World world;
  world.start();
  world.run(30);
  // (10 - 2) processors and (10 - 2) GiB, 60 percent of each.
  EXPECT_EQ(world.offered("kubernetes.io/batch-cpu"), "4800");
  EXPECT_EQ(world.offered("kubernetes.io/batch-memory"), std::to_string(8 * kGi * 60 / 100));
  EXPECT_EQ(world.node()["status"]["capacity"]["kubernetes.io/batch-cpu"].str(), "4800");
  EXPECT_NE(
      world.metrics.text().find(R"(volcano_agent_oversubscription_resource_quantity{node="n1",resource="cpu"} 4800)"),
      std::string::npos);
}

TEST(Agent, makes_its_configuration_where_there_is_none) {
  World world;
  world.start();
  world.run(3);
  const Json* map = world.client.find(resources::kConfigMaps, "volcano-system/volcano-agent-configuration");
  ASSERT_NE(map, nullptr);
  EXPECT_TRUE(config_for((*map)["data"][kConfigKey].as_string(), Json()).ok());
  EXPECT_TRUE(world.has_reason("ConfigApplySuccess"));
}

TEST(Agent, adds_sections_that_an_older_configuration_lacks) {
  World world;
  world.config(R"({"globalConfig":{"cpuQosConfig":{"enable":true}}})");
  world.start();
  world.run(3);
  const Json* map = world.client.find(resources::kConfigMaps, "volcano-system/volcano-agent-configuration");
  const Json read = *api::parse_json((*map)["data"][kConfigKey].as_string());
  EXPECT_TRUE(read["globalConfig"]["cpuQosConfig"]["enable"].as_bool());
  EXPECT_EQ(read["globalConfig"]["evictingConfig"]["evictingCPUHighWatermark"].as_int(), 80);
  EXPECT_EQ(read["globalConfig"]["overSubscriptionConfig"]["overSubscriptionTypes"].as_string(), "cpu,memory");
}

TEST(Agent, a_broken_configuration_is_refused_and_the_one_before_stays) {
  World world;
  world.config(kAllOn);
  world.start();
  const std::string group = world.offline("batch");
  world.machine.set_group(group, "cpu.idle", "0");
  world.run(12);
  EXPECT_EQ(world.machine.group(group, "cpu.idle"), "1");
  world.config(R"({"globalConfig":{"cpuQosConfig":{"enable":"no"},"evictingConfig":{"evictingCPUHighWatermark":-1}}})");
  world.run(12);
  EXPECT_EQ(world.machine.group(group, "cpu.idle"), "1");
  EXPECT_TRUE(world.has_reason("ConfigApplyFailed"));
  EXPECT_NE(world.agent->trouble().find("globalConfig.cpuQosConfig.enable must be true or false"), std::string::npos);
  EXPECT_NE(world.metrics.text().find("volcano_agent_config_applied 0"), std::string::npos);
}

TEST(Agent, an_offline_pod_is_idle_and_gets_its_weight_back_when_it_is_switched_off) {
  World world;
  world.config(kAllOn);
  world.start();
  const std::string group = world.offline("batch"), other = world.online("web");
  for (const std::string& one : {group, other}) world.machine.set_group(one, "cpu.idle", "0");
  world.run(12);
  EXPECT_EQ(world.machine.group(group, "cpu.idle"), "1");
  EXPECT_EQ(world.machine.group(other, "cpu.idle"), "0");
  // Weight of an idle group is refused by the kernel: only its container has one of the batch request.
  EXPECT_EQ(world.machine.group(group + "/id-batch", "cpu.weight"), "200");
  EXPECT_EQ(world.machine.group(group + "/id-batch", "cpu.max"), "400000 100000");
  EXPECT_EQ(world.machine.group(group, "memory.max"), std::to_string(kGi));
  world.machine.set_group(group, "cpu.weight", "0");  // as the kernel shows it of an idle group
  world.config(R"({"globalConfig":{"overSubscriptionConfig":{"enable":true},"evictingConfig":{}}})");
  world.run(12);
  EXPECT_EQ(world.machine.group(group, "cpu.idle"), "0");
  EXPECT_NE(world.machine.group(group, "cpu.weight"), "0");
}

TEST(Agent, a_value_that_another_has_written_over_is_put_right_within_ten_seconds_and_is_in_the_journal) {
  World world;
  world.config(kAllOn);
  world.start();
  const std::string group = world.offline("batch");
  world.machine.set_group(group, "cpu.idle", "0");
  world.run(12);
  world.machine.set_group(group + "/id-batch", "cpu.weight", "1");
  world.run(10);
  EXPECT_EQ(world.machine.group(group + "/id-batch", "cpu.weight"), "200");
  const Json report = world.agent->report();
  const auto entries = report["journal"].items();
  ASSERT_FALSE(entries.empty());
  const Json& last = entries.back();
  EXPECT_EQ(last["feature"].as_string(), "Resources");
  EXPECT_EQ(last["before"].as_string(), "1");
  EXPECT_EQ(last["after"].as_string(), "200");
}

TEST(Agent, takes_everything_back_when_it_stops) {
  World world;
  world.config(kAllOn);
  world.start();
  const std::string group = world.offline("batch");
  world.machine.set_group(group, "cpu.idle", "0");
  world.run(20);
  ASSERT_EQ(world.machine.group(group, "cpu.idle"), "1");
  bool done = false;
  world.agent->stop([&done] { done = true; });
  world.env.run_for(base::seconds(6));
  EXPECT_TRUE(done);
  EXPECT_EQ(world.machine.group(group, "cpu.idle"), "0");
  EXPECT_EQ(world.machine.group(group, "memory.max"), "max");
  EXPECT_EQ(world.machine.group(group + "/id-batch", "cpu.weight"), "100");
  EXPECT_EQ(world.offered("kubernetes.io/batch-cpu"), "");
}

TEST(Agent, the_next_start_takes_back_what_a_killed_one_had_set) {
  World world;
  world.state = world.machine.folder() + "/state";
  world.config(kAllOn);
  world.start();
  const std::string group = world.offline("batch");
  world.machine.set_group(group, "cpu.idle", "0");
  world.run(12);
  ASSERT_EQ(world.machine.group(group, "cpu.idle"), "1");
  world.env.drop_tasks();
  world.agent.reset();
  EXPECT_EQ(world.machine.group(group, "cpu.idle"), "1");  // the safe side
  world.config(R"({"globalConfig":{"overSubscriptionConfig":{"enable":true},"evictingConfig":{}}})");
  world.start();
  world.run(12);
  EXPECT_EQ(world.machine.group(group, "cpu.idle"), "0");
  EXPECT_EQ(world.machine.group(group + "/id-batch", "cpu.weight"), "200");
}

TEST(Agent, two_agents_on_a_node_are_one_too_many) {
  World world;
  world.state = world.machine.folder() + "/state";
  world.start();
  world.run(2);
  AgentOptions options{.node_name = "n1", .paths = world.machine.paths, .tree = world.machine.tree};
  options.state_folder = world.state;
  Agent second(world.env, world.client, options);
  second.start();
  world.run(2);
  EXPECT_NE(second.trouble().find("another agent serves this node"), std::string::npos);
  EXPECT_TRUE(world.has_reason("ColocationAgentConflict"));
  world.agent.reset();
  world.run(3);
  EXPECT_EQ(second.trouble(), "");
}

TEST(Agent, memory_above_the_watermark_for_a_minute_takes_one_pod) {
  World world;
  world.start();
  world.machine.use(world.offline("small"), 0, kGi / 2);
  world.machine.use(world.offline("large", 3), 0, 3 * kGi);
  world.online("web");
  world.memory_bytes = 7 * kGi;  // of 10, at 60 percent
  world.run(45);
  EXPECT_TRUE(world.evicted().empty());
  world.run(20);
  EXPECT_EQ(world.evicted(), std::vector<std::string>{"large"});
  EXPECT_TRUE(world.is_tainted());
  EXPECT_TRUE(world.has_reason("Evicted"));
  // Its memory is free before another one goes.
  world.client.erase(resources::kPods, "a/large");
  world.memory_bytes = 2 * kGi;
  world.run(20);
  EXPECT_EQ(world.evicted().size(), 1u);
  EXPECT_FALSE(world.is_tainted());
}

TEST(Agent, a_stall_above_the_watermark_takes_the_first_pod_within_a_second) {
  World world;
  world.start();
  world.offline("batch");
  world.online("web");
  world.machine.stall(0);
  world.run(20);
  world.memory_bytes = 7 * kGi;
  world.machine.stall(400'000);
  world.run(1);
  EXPECT_EQ(world.evicted(), std::vector<std::string>{"batch"});
}

TEST(Agent, a_stall_below_the_watermark_takes_nobody) {
  World world;
  world.start();
  world.offline("batch");
  for (int second = 0; second < 20; ++second) {
    world.machine.stall(second * 900'000);
    world.run(1);
  }
  EXPECT_TRUE(world.evicted().empty());
}

struct StallRow {
  const char* name;
  std::int64_t online_cpu_us, online_io_us, throttled_us;  // of each second
  std::int64_t online_bytes, offline_bytes;                // of each second
  std::int64_t cpu_us;                                     // of all pods, of 10 processors
  std::vector<std::string> evicted;
};

TEST(Agent, stalls_of_online_pods_for_processors_and_disks_take_the_pod_that_is_the_cause) {
  constexpr std::int64_t kMost = 9'000'000, kLittle = 2'000'000, kMi = 1 << 20;
  for (const StallRow& row : {StallRow{"processors, above the watermark", 300'000, 0, 0, 0, 0, kMost, {"quiet"}},
                              {"processors, below it", 300'000, 0, 0, 0, 0, kLittle, {}},
                              {"its own limit", 300'000, 0, 250'000, 0, 0, kMost, {}},
                              {"a little", 100'000, 0, 0, 0, 0, kMost, {}},
                              {"disks", 0, 300'000, 0, kMi, 50 * kMi, kLittle, {"writes"}},
                              {"disks by its own writes", 0, 300'000, 0, 60 * kMi, 50 * kMi, kLittle, {}},
                              {"disks that nobody else uses", 0, 300'000, 0, 0, 0, kLittle, {}}}) {
    World world;
    world.start();
    const std::string quiet = world.offline("quiet", 2), writes = world.offline("writes"), web = world.online("web");
    for (int second = 0; second <= 3; ++second) {
      world.machine.machine_stall("cpu", second * row.online_cpu_us);
      world.machine.machine_stall("io", second * row.online_io_us);
      world.machine.group_stall(web, second * row.online_cpu_us, second * row.online_io_us);
      world.machine.set_group(web, "cpu.stat",
                              base::format("usage_usec 0\nthrottled_usec {}", second * row.throttled_us));
      world.machine.group_io(web, second * row.online_bytes);
      world.machine.group_io(writes, second * row.offline_bytes);
      if (second == 0) world.run(20);
      world.cpu_us_a_second = row.cpu_us;
      if (second > 0) world.run(1);
    }
    EXPECT_EQ(world.evicted(), row.evicted) << row.name;
  }
}

TEST(Agent, no_online_pod_ever_goes) {
  World world;
  world.start();
  world.online("web");
  world.memory_bytes = 10 * kGi;
  world.machine.memory(20 * kGi, kGi / 10);
  world.run(120);
  EXPECT_TRUE(world.evicted().empty());
}

TEST(Agent, a_node_that_only_takes_part_in_colocation_evicts_nobody) {
  World world;
  Json node = world.node();
  node.edit("metadata").set("labels", Json::object({{"volcano.sh/colocation", "true"}}));
  world.client.put(resources::kNodes, node);
  world.start();
  world.offline("batch");
  world.memory_bytes = 9 * kGi;
  world.run(120);
  EXPECT_TRUE(world.evicted().empty());
  EXPECT_EQ(world.offered("kubernetes.io/batch-cpu"), "");
}

TEST(Agent, a_pod_that_may_not_go_is_passed_over) {
  World world;
  world.start();
  world.machine.use(world.offline("large", 3), 0, 3 * kGi);
  world.machine.use(world.offline("small", 2), 0, 2 * kGi);
  world.client.forbids = [](const client::Request& one) {
    return one.subresource == "eviction" && one.name == "large";
  };
  world.memory_bytes = 7 * kGi;
  world.run(75);
  EXPECT_EQ(world.evicted(), (std::vector<std::string>{"large", "small"}));
}

TEST(Agent, switching_the_offer_off_takes_it_back_and_frees_the_node) {
  World world;
  world.start();
  world.run(20);
  ASSERT_EQ(world.offered("kubernetes.io/batch-cpu"), "4800");
  world.offline("batch");
  world.online("web");
  world.config(R"({"globalConfig":{"overSubscriptionConfig":{"enable":false},"evictingConfig":{}}})");
  world.run(15);
  EXPECT_EQ(world.offered("kubernetes.io/batch-cpu"), "");
  EXPECT_EQ(api::label_of(world.node(), "volcano.sh/oversubscription"), "false");
  EXPECT_EQ(world.evicted(), std::vector<std::string>{"batch"});
  world.client.erase(resources::kPods, "a/batch");
  world.config(R"({"globalConfig":{"overSubscriptionConfig":{"enable":true},"evictingConfig":{}}})");
  world.run(30);
  EXPECT_EQ(api::label_of(world.node(), "volcano.sh/oversubscription"), "true");
  EXPECT_EQ(world.offered("kubernetes.io/batch-cpu"), "4800");
}

TEST(Agent, a_feature_that_is_not_supported_does_nothing) {
  World world;
  world.config(kAllOn);
  world.start({"-OverSubscription", "-CPUQoS", "*"});
  const std::string group = world.offline("batch");
  world.machine.set_group(group, "cpu.idle", "0");
  world.run(20);
  EXPECT_EQ(world.offered("kubernetes.io/batch-cpu"), "");
  EXPECT_EQ(world.machine.group(group, "cpu.idle"), "0");
  EXPECT_EQ(world.machine.group(group + "/id-batch", "cpu.weight"), "200");
}

TEST(Agent, files_that_make_no_sense_stop_nothing) {
  World world;
  world.config(kAllOn);
  world.start();
  const std::string group = world.offline("batch");
  world.machine.set_group(group, "cpu.idle", "0");
  world.machine.write("proc/stat", "cpu -1 -1 -1 -1\n");
  world.machine.write("proc/meminfo", "");
  world.machine.write("proc/pressure/memory", "some total=99999999999999999999999\n");
  world.machine.set_group(group, "cpu.stat", "usage_usec -7");
  world.machine.set_group(group, "memory.stat", "anon 18446744073709551616");
  world.run(12);
  EXPECT_EQ(world.machine.group(group, "cpu.idle"), "1");
  EXPECT_TRUE(world.evicted().empty());
}

}  // namespace
}  // namespace colocation
