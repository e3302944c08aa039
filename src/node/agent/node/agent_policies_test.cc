// Rules of NetworkPolicies: when the kernel is told, and which pods wait for it.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "node/agent/agent_world_for_tests.h"
#include "node/policies/policy_book.h"

namespace node {
namespace {

using api::Json;
using made_up::World;

constexpr const char* kPod = "{nodeName: n1, containers: [{name: main, image: i}]}";

void put_policy(World& world, const std::string& spec) {
  world.server.put(
      api::resources::kNetworkPolicies,
      *api::parse_yaml(base::format("{{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {{name: deny, "
                                    "namespace: ns}}, spec: {}}}",
                                    spec)));
  world.env.run_for(base::milliseconds(100));
}

std::size_t place_of(const World& world, const std::string& word) {
  return static_cast<std::size_t>(std::ranges::find(world.machine.log, word) - world.machine.log.begin());
}

TEST(AgentPolicies, APodBeginsWhenTheKernelKnowsItsRules) {
  World world;
  world.machine.policies = true;
  world.start();
  put_policy(world, "{podSelector: {}, policyTypes: [Ingress]}");
  world.put(kPod);
  EXPECT_LT(place_of(world, "prepare p"), place_of(world, "policies 10.0.0.9; "));
  EXPECT_LT(place_of(world, "policies 10.0.0.9; "), place_of(world, "start main"));
  EXPECT_LT(place_of(world, "start main"), world.machine.log.size());
}

TEST(AgentPolicies, FollowPodsAndPoliciesAndNothingElse) {
  World world;
  world.machine.policies = true;
  world.start();
  EXPECT_EQ(world.machine.isolated, (std::vector<std::string>{""}));
  world.put(kPod, ", labels: {app: web}");
  put_policy(world, "{podSelector: {matchLabels: {app: web}}}");
  EXPECT_EQ(world.machine.isolated.back(), "10.0.0.9; ");
  const std::size_t count = world.machine.isolated.size();
  world.env.run_for(base::minutes(5));
  put_policy(world, "{podSelector: {matchLabels: {app: web}}}");
  EXPECT_EQ(world.machine.isolated.size(), count) << "nothing changed";
  Json pod = world.pod();
  pod.edit("metadata").set("labels", *api::parse_yaml("{app: db}"));
  world.server.put(api::resources::kPods, pod);
  world.env.run_for(base::milliseconds(100));
  EXPECT_EQ(world.machine.isolated.back(), "");
}

TEST(AgentPolicies, AnIsolatedPodWaitsForAKernelThatRefusesAndAnotherDoesNot) {
  for (const char* selector : {"{}", "{matchLabels: {app: other}}"}) {
    World world;
    world.machine.policies = true;
    world.start();
    put_policy(world, base::format("{{podSelector: {}}}", selector));
    world.machine.rules_fail = true;
    world.put(kPod);
    world.env.run_for(base::seconds(5));
    const bool isolated = selector == std::string("{}");
    EXPECT_EQ(place_of(world, "start main") == world.machine.log.size(), isolated) << selector;
    EXPECT_EQ(world.reasons().contains("FailedCreatePodSandBox"), isolated) << selector;
    world.machine.rules_fail = false;
    world.env.run_for(base::minutes(3));
    EXPECT_LT(place_of(world, "start main"), world.machine.log.size()) << selector;
  }
}

TEST(AgentPolicies, PodsOnTheHostsNetworkAreTheNode) {
  World world;
  world.machine.policies = true;
  world.start();
  put_policy(world, "{podSelector: {}}");
  world.put("{nodeName: n1, hostNetwork: true, containers: [{name: main, image: i}]}");
  world.env.run_for(base::seconds(1));
  EXPECT_LT(place_of(world, "start main"), world.machine.log.size());
  EXPECT_EQ(world.machine.isolated, (std::vector<std::string>{""}));
}

TEST(AgentPolicies, APolicyWithTooManyRulesIsTold) {
  World world;
  world.machine.policies = true;
  world.start();
  std::string peers;
  for (std::size_t i = 0; i <= kRulesOfANamespace; ++i)
    peers += base::format("{{podSelector: {{matchLabels: {{app: p{}}}}}}}, ", i);
  put_policy(world, "{podSelector: {}, ingress: [{from: [" + peers + "{podSelector: {}}]}]}");
  world.env.run_for(base::seconds(2));
  EXPECT_TRUE(world.reasons().contains("TooManyRules"));
}

}  // namespace
}  // namespace node
