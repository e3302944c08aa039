// Rules of services: when the kernel is told, what it refuses, and what is left out.
#include <gtest/gtest.h>

#include "api/network_resources.h"
#include "base/format.h"
#include "node/agent/agent_world_for_tests.h"

namespace node {
namespace {

using api::Json;
using made_up::World;

TEST(AgentServices, RulesAreSetWhenTheyChangeAndAgainAfterAFailure) {
  World world;
  world.machine.proxy = true;
  world.server.put(
      api::resources::kServices,
      *api::parse_yaml("{metadata: {name: s, namespace: ns}, spec: {clusterIP: 10.96.0.9, ports: [{port: 80}]}}"));
  world.start();
  EXPECT_EQ(world.machine.rules, (std::vector<std::string>{""}));
  const auto slice = [&](const std::string& more) {
    world.server.put(api::resources::kEndpointSlices,
                     *api::parse_yaml("{metadata: {name: s-1, namespace: ns, labels: {kubernetes.io/service-name: s}}, "
                                      "addressType: IPv4, ports: [{port: 8080}], endpoints: [{addresses: [10.0.0.9]}]" +
                                      more + "}"));
    world.env.run_for(base::milliseconds(100));
  };
  world.machine.rules_fail = true;
  slice("");
  EXPECT_EQ(world.machine.rules, (std::vector<std::string>{"", "10.96.0.9 . tcp . 80; ", ""}));
  world.machine.rules_fail = false;
  world.env.run_for(base::seconds(2));
  EXPECT_EQ(world.machine.rules.size(), 4u) << "once more after the failure";
  slice(", ignored: true");
  world.env.run_for(base::minutes(2));
  EXPECT_EQ(world.machine.rules.size(), 4u) << "nothing changed";
}

TEST(AgentServices, ANamespaceWhoseRulesTheKernelRefusesHoldsUpNoOther) {
  World world;
  world.machine.proxy = true;
  world.machine.rules_refused = "10.96.0.2 . tcp . 80";
  for (int i = 1; i <= 4; ++i) {
    world.server.put(api::resources::kServices,
                     *api::parse_yaml(base::format(
                         "{{metadata: {{name: s, namespace: ns{0}}}, spec: {{clusterIP: 10.96.0.{0}, ports: [{{port: "
                         "80}}]}}}}",
                         i)));
    world.server.put(api::resources::kEndpointSlices,
                     *api::parse_yaml(base::format(
                         "{{metadata: {{name: s-1, namespace: ns{}, labels: {{kubernetes.io/service-name: s}}}}, "
                         "addressType: IPv4, ports: [{{port: 8080}}], endpoints: [{{addresses: [10.0.0.9]}}]}}",
                         i)));
  }
  world.start();
  EXPECT_EQ(world.machine.rules.back(), "10.96.0.1 . tcp . 80; 10.96.0.3 . tcp . 80; 10.96.0.4 . tcp . 80; ");
}

TEST(AgentServices, AServiceOfWhichTargetsAreLeftOutIsTold) {
  World world;
  world.machine.proxy = true;
  std::string endpoints;
  for (int i = 1; i <= 200; ++i) endpoints += base::format("{{addresses: [10.0.0.{}]}}, ", i);
  std::string ports, targets;
  for (int i = 1; i <= 200; ++i) {
    ports += base::format("{{name: p{0}, port: {0}}}, ", i);
    targets += base::format("{{name: p{0}, port: {0}}}, ", i);
  }
  world.server.put(
      api::resources::kServices,
      *api::parse_yaml(
          "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: ns}, spec: {clusterIP: 10.96.0.9, ports: [" +
          ports + "]}}"));
  world.server.put(api::resources::kEndpointSlices,
                   *api::parse_yaml("{metadata: {name: s-1, namespace: ns, labels: {kubernetes.io/service-name: s}}, "
                                    "addressType: IPv4, ports: [" +
                                    targets + "], endpoints: [" + endpoints + "]}"));
  world.start();
  world.env.run_for(base::minutes(3));
  int warned = 0;
  for (const auto& [key, event] : world.server.table(api::resources::kEvents)) {
    if (event["reason"].as_string() != "TooManyTargets") continue;
    ++warned;
    EXPECT_EQ(event["involvedObject"]["kind"].as_string(), "Service");
    EXPECT_EQ(
        event["message"].as_string(),
        "The ports of the service times their endpoints are 40000, of which this node takes 32600: each port leads "
        "to 163 of its endpoints");
  }
  EXPECT_EQ(warned, 1);
}

TEST(AgentServices, ASecondPodCannotHaveAHostPort) {
  World world;
  world.machine.proxy = true;
  world.start();
  const std::string spec =
      "{nodeName: n1, containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 8080}]}]}";
  world.put(spec, ", uid: u1");
  EXPECT_EQ(world.machine.rules.back(), "port tcp . 8080; ");
  world.server.put(api::resources::kPods,
                   *api::parse_yaml("{metadata: {name: q, namespace: ns, uid: u2}, spec: " + spec + "}"));
  world.env.run_for(base::milliseconds(100));
  const Json* second = world.server.find(api::resources::kPods, "ns/q");
  EXPECT_EQ((*second)["status"]["phase"].as_string(), "Failed");
  EXPECT_EQ((*second)["status"]["reason"].as_string(), "NodePorts");
  EXPECT_EQ((*second)["status"]["message"].as_string(),
            "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports");
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Running");
}

}  // namespace
}  // namespace node
