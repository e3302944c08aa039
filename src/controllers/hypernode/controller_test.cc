// The controller's steps: what is configured, found, written and said.
#include "controllers/hypernode/controller.h"

#include <gtest/gtest.h>

#include "api/meta/resource.h"
#include "base/base64.h"
#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/hypernode/discovery.h"

namespace controllers::hypernode {
namespace {

using api::Json;
namespace resources = api::resources;

class HyperNodes : public ::testing::Test {
 protected:
  HyperNodes() : controller(make_hypernode_controller({})) { world.use_indexes_of(*controller); }

  void configure(std::string_view entries) {
    Json map = Json::object(
        {{"kind", "ConfigMap"},
         {"metadata", Json::object({{"name", "volcano-controller-configmap"}, {"namespace", "volcano-system"}})}});
    map.set("data",
            Json::object({{"volcano-controller.conf", base::format("networkTopologyDiscovery: [{}]\n", entries)}}));
    world.put(resources::kConfigMaps, map);
  }
  void node(std::string_view name, std::string_view labels) {
    world.put_text(resources::kNodes,
                   base::format(R"({{"metadata": {{"name": "{}", "labels": {{{}}}}}}})", name, labels));
  }
  void credentials() {
    world.put(resources::kSecrets, Json::object({{"metadata", Json::object({{"name", "cred"}, {"namespace", "sys"}})},
                                                 {"data", Json::object({{"username", base::base64_encode("u")},
                                                                        {"password", base::base64_encode("p")}})}}));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const Json* one : world.all(resources::kHyperNodes)) out.emplace_back(api::name_of(*one));
    return out;
  }
  // Until the talk with the server rests; the number of turns.
  int talk() {
    for (int turns = 1; turns < 10; ++turns) {
      const Plan plan = controller->step(world, "source ufm", {.now = world.now});
      controller->finished("source ufm", world.apply(plan));
      if (!plan.look_again() || plan.look_again()->ns > 0) return turns;
    }
    return 0;
  }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

constexpr std::string_view kLabels =
    "{source: label, enabled: true, config: {networkTopologyTypes: {a: [{nodeLabel: spine}, {nodeLabel: leaf}, "
    "{nodeLabel: host}]}}}";
constexpr std::string_view kUfm =
    "{source: ufm, enabled: true, interval: 10m, credentials: {secretRef: {name: cred, namespace: sys}}, config: "
    "{endpoint: 'http://ufm:80/x/'}}";
constexpr std::string_view kPorts = "ufm:80/x/ufmRest/resources/ports";

TEST_F(HyperNodes, follow_the_labels) {
  node("n1", R"("leaf": "l1", "spine": "s1")");
  EXPECT_EQ(world.turn(*controller, "source label"), "");  // nothing is enabled
  configure(kLabels);
  world.turn(*controller, "source label");
  ASSERT_EQ(names().size(), 2u);
  EXPECT_EQ(world.turn(*controller, "source label"), "");
  const std::vector<std::string> before = names();
  node("n2", R"("leaf": "l1", "spine": "s1")");
  EXPECT_EQ(world.turn(*controller, "source label"), base::format("update HyperNode {}\n", before[0]));
  EXPECT_EQ(names(), before);
  node("n1", R"("leaf": "l2")");
  node("n2", R"("leaf": "l2")");
  world.turn(*controller, "source label");
  EXPECT_EQ(names().size(), 1u);
  // A source that is switched off leaves what it found.
  configure("");
  world.erase(resources::kNodes, "n1");
  EXPECT_EQ(world.turn(*controller, "source label"), "");
}

TEST_F(HyperNodes, tell_how_many_members_they_have) {
  node("n1", R"("a": "b")");
  world.put_text(resources::kHyperNodes, R"({"metadata": {"name": "h"}, "spec": {"tier": 1, "members": [{"type": "Node",
    "selector": {"labelMatch": {"matchLabels": {"a": "b"}}}}]}})");
  EXPECT_EQ(world.turn(*controller, "status h"), "status HyperNode h {\"nodeCount\":1}\n");
  EXPECT_EQ(world.turn(*controller, "status h"), "");
  node("n2", R"("a": "b")");
  const Wake nodes = controller->wakes_on()[1];
  EXPECT_EQ(nodes.keys(world, Json()), (Keys{"source label", "status h"}));
  EXPECT_EQ(world.turn(*controller, "status h"), "status HyperNode h {\"nodeCount\":2}\n");
}

TEST_F(HyperNodes, come_from_a_ufm_server) {
  configure(kUfm);
  credentials();
  world.pages[std::string(kPorts)] =
      R"([{"description": "Computer IB Port", "system_name": "n1", "peer_node_name": "leaf"}])";
  EXPECT_EQ(talk(), 4);
  EXPECT_EQ(names(), (std::vector<std::string>{"leaf-hn-0", "spine-hn"}));
  EXPECT_EQ(talk(), 1);  // rests
  world.now = world.now + base::minutes(11);
  world.pages[std::string(kPorts)] = "[]";
  talk();
  EXPECT_EQ(names(), std::vector<std::string>());
  EXPECT_EQ(talk(), 1);
  world.now = world.now - base::hours(3);  // the clock is set back
  EXPECT_EQ(talk(), 4);
}

TEST_F(HyperNodes, stay_when_the_ufm_server_fails) {
  configure(kUfm);
  credentials();
  world.pages[std::string(kPorts)] =
      R"([{"description": "Computer IB Port", "system_name": "n1", "peer_node_name": "leaf"}])";
  talk();
  struct Row {
    std::string_view page;
    std::string_view event;
  };
  const Row rows[] = {{"", "source ufm: connection refused"},
                      {"{}", "source ufm: the answer is not a list of ports"},
                      {"[1]", "source ufm: 1 ports have no usable names of a node and a leaf; they are left out"}};
  for (const Row& row : rows) {
    world.now = world.now + base::minutes(11);
    world.events.clear();
    world.pages.clear();
    if (!row.page.empty()) world.pages[std::string(kPorts)] = row.page;
    talk();
    ASSERT_EQ(world.events.size(), 1u) << row.event;
    EXPECT_EQ(world.events[0], base::format("NetworkTopologyDiscoveryFailed: {}", row.event));
    EXPECT_EQ(names().size(), row.page == "[1]" ? 0u : 2u) << row.event;
  }
  world.now = world.now + base::minutes(11);
  world.events.clear();
  // A Secret that cannot be asked for now is asked for again.
  for (int turn = 0; turn < 2; ++turn) {
    const Plan plan = controller->step(world, "source ufm", {.now = world.now});
    controller->finished("source ufm", turn == 0 ? world.apply(plan) : Ending{.succeeded = false, .fetched = {Json()}});
  }
  EXPECT_EQ(controller->step(world, "source ufm", {.now = world.now}).text(), "fetch Secret sys/cred\n");
  EXPECT_TRUE(world.events.empty());
  world.erase(resources::kSecrets, "sys/cred");
  talk();
  EXPECT_EQ(world.events.at(0),
            "NetworkTopologyDiscoveryFailed: source ufm: the Secret of credentials.secretRef does not exist");
  // It comes a little after what names it: nobody waits for the next time.
  world.now = world.now + base::seconds(31);
  talk();
  EXPECT_EQ(world.events.size(), 1u) << "said once";
  credentials();
  world.now = world.now + base::seconds(31);
  world.pages[std::string(kPorts)] =
      R"([{"description": "Computer IB Port", "system_name": "n1", "peer_node_name": "leaf"}])";
  talk();
  EXPECT_EQ(names(), (std::vector<std::string>{"leaf-hn-0", "spine-hn"}));
}

TEST_F(HyperNodes, of_somebody_else_are_left_alone_and_named_once) {
  configure(kUfm);
  credentials();
  world.put_text(resources::kHyperNodes, R"({"metadata": {"name": "leaf-hn-0"}, "spec": {"tier": 7}})");
  world.pages[std::string(kPorts)] =
      R"([{"description": "Computer IB Port", "system_name": "n1", "peer_node_name": "leaf"}])";
  talk();
  EXPECT_EQ((*world.find(resources::kHyperNodes, "leaf-hn-0"))["spec"]["tier"].as_int(), 7);
  ASSERT_EQ(world.events.size(), 1u);
  EXPECT_EQ(world.events[0],
            "NameTaken: the source ufm found a HyperNode of this name, which belongs to nobody; it is left as it is");
}

TEST_F(HyperNodes, say_what_is_wrong_with_the_configuration_once) {
  configure("{source: roce, enabled: true}");
  for (int i = 0; i < 2; ++i) world.turn(*controller, "config");
  EXPECT_EQ(world.events, std::vector<std::string>{
                              "InvalidNetworkTopologyDiscovery: source roce: unsupported discoverer type: roce"});
  world.events.clear();
  configure("5]\n- [");
  world.turn(*controller, "config");
  EXPECT_EQ(world.events.size(), 1u);
}

TEST_F(HyperNodes, a_configmap_that_goes_away_is_named_once_and_what_was_found_stays) {
  world.turn(*controller, "config");
  EXPECT_TRUE(world.events.empty()) << "there was none";
  configure(kLabels);
  node("n1", R"("spine": "s", "leaf": "l", "host": "n1")");
  world.turn(*controller, "config");
  world.turn(*controller, "source label");
  ASSERT_EQ(names().size(), 2u);
  for (int times = 1; times <= 2; ++times) {
    world.erase(resources::kConfigMaps, "volcano-system/volcano-controller-configmap");
    for (int turns = 0; turns < 2; ++turns) world.turn(*controller, "config");
    world.turn(*controller, "source label");
    ASSERT_EQ(world.events.size(), static_cast<std::size_t>(times)) << "once each time";
    EXPECT_EQ(world.events.back(),
              "ConfigMapGone: ConfigMap volcano-system/volcano-controller-configmap is gone: HyperNodes are not looked "
              "for until it is back; those that were found stay");
    EXPECT_EQ(names().size(), 2u);
    configure(kLabels);
    world.turn(*controller, "config");
  }
}

// Writes fail, the process ends, nodes and HyperNodes come and go: at the end there is what the nodes say, and no more.
TEST(HyperNode, converges) {
  const std::string config = base::format("networkTopologyDiscovery: [{}]", kLabels);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Trial trial(seed, [] { return make_hypernode_controller({}); });
    TestWorld& world = trial.world;
    world.put(resources::kConfigMaps, Json::object({{"metadata", Json::object({{"name", "volcano-controller-configmap"},
                                                                               {"namespace", "volcano-system"}})},
                                                    {"data", Json::object({{"volcano-controller.conf", config}})}}));
    world.put_text(resources::kHyperNodes, R"({"metadata": {"name": "mine"}, "spec": {"tier": 1}})");
    for (int step = 0; step < 30; ++step) {
      const auto name = base::format("n{}", world.dice.below(4));
      if (world.dice.chance(0.8))
        world.put_text(resources::kNodes,
                       base::format(R"({{"metadata": {{"name": "{}", "labels": {{"leaf": "l{}", "spine": "s{}"}}}}}})",
                                    name, world.dice.below(3), world.dice.below(2)));
      else
        world.erase(resources::kNodes, name);
      auto& all = world.objects[resources::kHyperNodes];
      if (world.dice.chance(0.1) && all.size() > 1) all.erase(all.begin());
      trial.look("source label");
    }
    ASSERT_TRUE(trial.comes_to_rest("source label")) << "seed " << seed;
    const auto found = discover_by_label({{"a", {"spine", "leaf", "host"}}}, world.all(resources::kNodes),
                                         world.all(resources::kHyperNodes));
    EXPECT_EQ(world.all(resources::kHyperNodes).size(),
              found.size() + (world.find(resources::kHyperNodes, "mine") ? 1 : 0))
        << "seed " << seed;
    for (const Found& one : found) {
      const Json* object = world.find(resources::kHyperNodes, one.name);
      ASSERT_NE(object, nullptr) << "seed " << seed;
      EXPECT_EQ((*object)["spec"], to_object(one, "label")["spec"]) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace controllers::hypernode
