// Network QoS of the agent on a machine that is made up: who is held to which rate, and when nobody is.
#include <gtest/gtest.h>

#include "colocation/made_up_world_for_tests.h"

namespace colocation {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr const char* kOn =
    R"({"globalConfig":{"networkQosConfig":{"enable":true},"overSubscriptionConfig":{},"evictingConfig":{}}})";
constexpr const char* kOff = R"({"globalConfig":{"overSubscriptionConfig":{},"evictingConfig":{}}})";
constexpr std::int64_t kMega = 1'000'000;

// The node has 80 Mbps, which is 10 MB a second: watermark 8, low 1, high 4.
struct NetworkWorld : made_up::World {
  NetworkWorld() {
    set_rate("80");
    config(kOn);
  }
  void set_rate(const std::string& mbps) {
    Json changed = node();
    Json annotations = Json::object();
    if (!mbps.empty()) annotations.set("volcano.sh/network-bandwidth-rate", mbps);
    changed.edit("metadata").set("annotations", std::move(annotations));
    client.put(resources::kNodes, changed);
  }
  // The pod's processes are in a network that an interface of its name leads to.
  void connect(const std::string& group, const std::string& name) {
    ++pods;
    machine.write(group_folder(machine.tree, "cpu", group) + "/cgroup.procs", std::to_string(100 + pods) + "\n");
    network->namespaces[100 + pods] = static_cast<std::uint32_t>(pods);
    network->present.push_back({name, static_cast<std::uint32_t>(pods)});
    count(name, 0);
  }
  void count(const std::string& name, std::int64_t bytes) { count_text(name, std::to_string(bytes)); }
  void count_text(const std::string& name, const std::string& text) {
    counters[name] = text;
    std::string all = "Inter-|   Receive\n face |bytes    packets\n";
    for (const auto& [one, value] : counters) all += base::format("{:>6}: {} 0\n", one, value);
    machine.write("proc/net/dev", all);
  }
  void two_pods() {
    connect(offline("batch"), "veth1");
    connect(online("web"), "veth2");
  }
  // A while in which the online pod sends this much a second.
  void send(std::int64_t bytes_a_second, int seconds) {
    for (int tenth = 0; tenth < 10 * seconds; ++tenth) {
      sent += bytes_a_second / 10;
      count("veth2", sent);
      env.run_for(base::milliseconds(100));
    }
  }
  void set_level(const std::string& name, const std::string& level) {
    Json pod = *client.find(resources::kPods, "a/" + name);
    pod.edit("metadata").set("annotations", Json::object({{"volcano.sh/qos-level", level}}));
    client.put(resources::kPods, pod);
  }
  std::string message_of(const std::string& reason) {
    for (const auto& [key, event] : client.table(resources::kEvents))
      if (event["reason"].as_string() == reason) return event["message"].str();
    return {};
  }
  std::size_t count_of(const std::string& reason) {
    const auto all = reasons();
    return static_cast<std::size_t>(std::ranges::count(all, reason));
  }
  std::map<std::string, std::string> counters;  // of interfaces
  int pods = 0;
  std::int64_t sent = 0;
};

TEST(AgentNetwork, offline_pods_share_the_high_rate_and_the_low_one_while_online_pods_send_much) {
  NetworkWorld world;
  world.two_pods();
  world.connect(world.offline("other"), "veth0");
  world.start();
  world.run(3);
  EXPECT_EQ(world.network->rules(), "veth0 veth1: 4000000 bytes/s");
  world.send(9 * kMega, 1);
  EXPECT_EQ(world.network->rules(), "veth0 veth1: 1000000 bytes/s");
  const int writes = world.network->writes;
  world.send(9 * kMega, 20);
  EXPECT_EQ(world.network->writes, writes);  // nothing has changed
  world.send(2 * kMega, 3);
  EXPECT_EQ(world.network->rules(), "veth0 veth1: 4000000 bytes/s");
  EXPECT_NE(world.metrics.text().find("volcano_agent_network_offline_limit_bytes_per_second 4000000"),
            std::string::npos)
      << world.metrics.text();
  const Json report = world.agent->report();
  EXPECT_EQ(report["network"]["limit"].as_int(), 4'000'000);
  EXPECT_EQ(report["network"]["onlineBytesPerSecond"].as_int(), 2 * kMega);
  std::string held;
  for (const Json& one : report["network"]["interfaces"].items())
    if (one["held"].as_bool()) held += one["pod"].str() + "=" + one["interface"].str() + " ";
  EXPECT_EQ(held, "a/batch=veth1 a/other=veth0 ");
  const auto entries = report["journal"].items();
  ASSERT_GE(entries.size(), 2u);
  const Json& last = entries.back();
  EXPECT_EQ(last["feature"].as_string(), "NetworkQoS");
  EXPECT_EQ(last["file"].as_string(), "nftables: table netdev volcano_colocation");
  EXPECT_EQ(last["before"].as_string(), "veth0 veth1: 1000000 bytes/s");
  EXPECT_EQ(last["after"].as_string(), "veth0 veth1: 4000000 bytes/s");
}

TEST(AgentNetwork, switched_off_or_stopped_it_leaves_nothing) {
  NetworkWorld world;
  world.two_pods();
  world.start();
  world.run(3);
  ASSERT_NE(world.network->rules(), "");
  world.config(kOff);
  world.run(12);
  EXPECT_EQ(world.network->rules(), "");
  world.config(kOn);
  world.run(12);
  EXPECT_NE(world.network->rules(), "");
  bool done = false;
  world.agent->stop([&done] { done = true; });
  world.env.run_for(base::seconds(6));
  EXPECT_TRUE(done);
  EXPECT_EQ(world.network->rules(), "");
}

TEST(AgentNetwork, a_feature_that_was_never_on_touches_no_table) {
  NetworkWorld world;
  world.config(kOff);
  world.two_pods();
  world.start();
  world.run(30);
  bool done = false;
  world.agent->stop([&done] { done = true; });
  world.env.run_for(base::seconds(6));
  EXPECT_EQ(world.network->writes, 0);
}

TEST(AgentNetwork, the_base_rate_is_the_uplinks_where_no_annotation_says_one) {
  NetworkWorld world;
  world.set_rate("");
  world.two_pods();
  world.start();
  world.run(12);
  EXPECT_EQ(world.network->rules(), "");
  EXPECT_EQ(world.message_of("NetworkQoSUnsupported"),
            "network QoS: failed to get bandwidth configs: failed to get flavor quota min rate, err: node n1 network "
            "bandwidth rate not exists, annotation volcano.sh/network-bandwidth-rate; the machine has no default "
            "route; the other features go on");
  world.run(60);
  EXPECT_EQ(world.count_of("NetworkQoSUnsupported"), 1u);  // once
  world.machine.write(
      "proc/net/route",
      "Iface Destination Gateway Flags RefCnt Use Metric Mask\neth0 00000000 0101A8C0 0003 0 0 0 00000000\n");
  for (const char* none : {"-1\n", "0\n", "", "4294967295\n", "max\n"}) {
    world.machine.write("net/eth0/speed", none);
    world.run(11);
    EXPECT_EQ(world.network->rules(), "") << none;
  }
  world.machine.write("net/eth0/speed", "1000\n");
  world.run(11);
  EXPECT_EQ(world.network->rules(), "veth1: 50000000 bytes/s");
  world.set_rate("80");
  world.run(11);
  EXPECT_EQ(world.network->rules(), "veth1: 4000000 bytes/s");
  world.set_rate("fast");
  world.run(11);
  EXPECT_EQ(world.network->rules(), "");
  EXPECT_TRUE(world.agent->trouble().empty());
}

TEST(AgentNetwork, a_pod_that_becomes_online_is_free_within_two_seconds) {
  NetworkWorld world;
  world.two_pods();
  world.start();
  world.run(3);
  ASSERT_EQ(world.network->rules(), "veth1: 4000000 bytes/s");
  world.set_level("web", "BE");
  world.run(2);
  EXPECT_EQ(world.network->rules(), "veth1 veth2: 4000000 bytes/s");
  world.set_level("batch", "LS");
  world.run(2);
  EXPECT_EQ(world.network->rules(), "veth2: 4000000 bytes/s");
  world.client.erase(resources::kPods, "a/web");
  world.run(2);
  EXPECT_EQ(world.network->rules(), "");
}

TEST(AgentNetwork, an_interface_that_vanishes_keeps_no_other_from_its_rate) {
  NetworkWorld world;
  world.two_pods();
  world.connect(world.offline("other"), "veth0");
  world.network->vanished = "veth0";
  world.start();
  world.run(3);
  EXPECT_EQ(world.network->rules(), "veth1: 4000000 bytes/s");
  EXPECT_FALSE(world.has_reason("NetworkQoSUnsupported"));
}

TEST(AgentNetwork, the_next_start_takes_over_or_takes_away_what_a_killed_one_has_left) {
  for (const char* config : {kOn, kOff}) {
    NetworkWorld world;
    world.state = world.machine.folder() + "/state";
    world.two_pods();
    world.start();
    world.run(3);
    ASSERT_NE(world.network->rules(), "");
    world.env.drop_tasks();
    world.agent.reset();
    EXPECT_NE(world.network->rules(), "");
    world.network->tables["volcano_colocation"].bytes_per_second = 7;
    world.config(config);
    world.start();
    world.run(12);
    EXPECT_EQ(world.network->rules(), config == kOn ? "veth1: 4000000 bytes/s" : "");
  }
}

TEST(AgentNetwork, a_table_that_another_took_away_comes_back) {
  NetworkWorld world;
  world.two_pods();
  world.start();
  world.run(3);
  world.network->tables.clear();  // nft flush ruleset
  world.network->tables["of others"] = {};
  world.run(11);
  EXPECT_EQ(world.network->rules(), "veth1: 4000000 bytes/s");
  EXPECT_TRUE(world.network->tables.contains("of others"));
}

TEST(AgentNetwork, a_kernel_that_cannot_is_reported_once_and_the_rest_goes_on) {
  NetworkWorld world;
  world.network->trouble = base::make_error(base::Code::kForbidden, "the kernel cannot do what was asked: EPERM");
  world.two_pods();
  world.start();
  world.run(60);
  EXPECT_EQ(world.count_of("NetworkQoSUnsupported"), 1u);
  EXPECT_EQ(world.agent->trouble(), "");
  EXPECT_NE(world.offered("kubernetes.io/batch-cpu"), "");
  world.network->trouble.reset();
  world.run(11);
  EXPECT_EQ(world.network->rules(), "veth1: 4000000 bytes/s");
  EXPECT_EQ(world.agent->report()["network"]["trouble"].as_string(), "");
}

TEST(AgentNetwork, rules_that_were_never_set_are_not_taken_away) {
  NetworkWorld world;
  world.state = world.machine.folder() + "/state";
  world.network->only_looks = true;
  world.two_pods();
  world.start();
  world.run(30);
  EXPECT_EQ(world.count_of("NetworkQoSUnsupported"), 1u);
  EXPECT_GE(world.network->attempts, 2);  // rights may come
  world.config(kOff);
  world.run(12);
  const int attempts = world.network->attempts;
  world.run(30);
  EXPECT_EQ(world.network->attempts, attempts);
  EXPECT_FALSE(std::filesystem::exists(world.state + "/network"));
  EXPECT_EQ(world.agent->report()["network"]["trouble"].as_string(), "");
}

TEST(AgentNetwork, pods_of_the_nodes_network_and_of_other_limits_are_left_alone) {
  NetworkWorld world;
  const std::string spec = "spec: {containers: [{name: c}]";
  world.connect(world.pod("host", "annotations: {volcano.sh/qos-level: BE}}\n" + spec + ", hostNetwork: true}"),
                "veth1");
  world.connect(world.pod("limited", R"(annotations: {volcano.sh/qos-level: BE, kubernetes.io/egress-bandwidth: 1M}}
)" + spec + "}"),
                "veth2");
  world.start();
  world.run(30);
  EXPECT_EQ(world.network->rules(), "");
  EXPECT_EQ(world.count_of("NetworkQoSSkipped"), 2u);
}

TEST(AgentNetwork, counters_that_make_no_sense_change_nothing) {
  NetworkWorld world;
  world.two_pods();
  world.start();
  world.run(3);
  for (const char* text : {"", "max", "-5", "9223372036854775808", "18446744073709551615", "x", "0"}) {
    world.count_text("veth2", text);
    world.env.run_for(base::milliseconds(300));
    EXPECT_EQ(world.network->rules(), "veth1: 4000000 bytes/s") << text;
  }
}

TEST(AgentNetwork, packets_that_no_rule_sees_are_reported) {
  NetworkWorld world;
  world.two_pods();
  world.start();
  world.run(15);
  world.network->counted.seen_bytes = 5 * kMega;
  world.network->counted.dropped_bytes = kMega;
  world.count("veth1", 5 * kMega);
  world.run(10);
  EXPECT_FALSE(world.has_reason("NetworkQoSUnsupported"));
  EXPECT_NE(world.metrics.text().find("volcano_agent_network_dropped_bytes_total 1000000"), std::string::npos);
  world.count("veth1", 10 * kMega);
  world.run(10);
  EXPECT_NE(world.message_of("NetworkQoSUnsupported").find("passes by the rules"), std::string::npos);
  EXPECT_NE(world.agent->report()["network"]["trouble"].as_string(), "");
  world.network->counted.seen_bytes = 6 * kMega;
  world.run(20);
  EXPECT_EQ(world.agent->report()["network"]["trouble"].as_string(), "");
}

TEST(AgentNetwork, an_agent_that_sees_no_processes_says_what_it_lacks) {
  NetworkWorld world;
  const std::string group = world.offline("batch");
  world.connect(group, "veth1");
  // The kernel shows those of other PID namespaces so.
  world.machine.write(group_folder(world.machine.tree, "cpu", group) + "/cgroup.procs", "0\n0\n");
  world.start();
  world.run(60);
  EXPECT_EQ(world.count_of("NetworkQoSUnsupported"), 1u);
  EXPECT_NE(world.message_of("NetworkQoSUnsupported").find("hostPID"), std::string::npos);
}

}  // namespace
}  // namespace colocation
