// Services of type LoadBalancer: whose they are, and who has which port of the machine.
#include <gtest/gtest.h>

#include "api/network_resources.h"
#include "base/format.h"
#include "controllers/cluster/cluster.h"
#include "controllers/cluster/stage_for_tests.h"

namespace controllers::cluster {
namespace {

using api::Json;
namespace resources = api::resources;

struct Machine : Stage {
  Machine() : Stage(make_load_balancer_controller("n1")) {
    world.put_text(resources::kNodes, R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "uid": "n"},
      "status": {"addresses": [{"type": "Hostname", "address": "n1"}, {"type": "InternalIP", "address": "192.0.2.7"}]}})");
  }
  void service(const char* name, int created, const std::string& spec) {
    world.put_text(
        resources::kServices,
        base::format(R"({{"apiVersion": "v1", "kind": "Service", "metadata": {{"name": "{0}", "namespace": "ns",
        "uid": "{0}", "creationTimestamp": "2026-01-01T00:00:{1:02}Z"}}, "spec": {2}, "status": {{"loadBalancer": {{}}}}}})",
                     name, created, spec));
  }
  std::string address(const std::string& name) const {
    return (*world.find(resources::kServices, "ns/" + name))["status"]["loadBalancer"].dump();
  }
};

constexpr const char* kHere = R"({"ingress":[{"ip":"192.0.2.7","ipMode":"VIP"}]})";
constexpr const char* kEighty = R"({"type": "LoadBalancer", "ports": [{"port": 80}]})";

TEST(LoadBalancers, HaveTheMachinesAddress) {
  Machine machine;
  machine.service("web", 1, kEighty);
  machine.service("plain", 1, R"({"type": "ClusterIP", "ports": [{"port": 80}]})");
  machine.service("other", 1, R"({"type": "LoadBalancer", "loadBalancerClass": "x/y", "ports": [{"port": 81}]})");
  EXPECT_NE(machine.turn("services"), "");
  EXPECT_EQ(machine.address("web"), kHere);
  EXPECT_EQ(machine.address("plain"), "{}");
  EXPECT_EQ(machine.address("other"), "{}");
  EXPECT_EQ(machine.turn("services"), "") << "nothing is written twice";
}

TEST(LoadBalancers, TheOldestHasAPortAndTheNextOneGetsIt) {
  Machine machine;
  machine.service("young", 2, R"({"type": "LoadBalancer", "ports": [{"port": 443}, {"port": 80}]})");
  machine.service("old", 1, kEighty);
  machine.service("udp", 3, R"({"type": "LoadBalancer", "ports": [{"port": 80, "protocol": "UDP"}]})");
  machine.turn("services");
  EXPECT_EQ(machine.address("old"), kHere);
  EXPECT_EQ(machine.address("young"), "{}");
  EXPECT_EQ(machine.address("udp"), kHere);
  ASSERT_EQ(machine.world.events.size(), 1u);
  EXPECT_EQ(machine.world.events.front(),
            "LoadBalancerPending: port 80 (TCP) of this machine is that of Service ns/old");
  machine.turn("services");
  EXPECT_EQ(machine.world.events.size(), 1u);
  machine.world.erase(resources::kServices, "ns/old");
  machine.turn("services");
  EXPECT_EQ(machine.address("young"), kHere);
}

TEST(LoadBalancers, NodePortsAreTakenAndRangesAreNotOpenedToAll) {
  Machine machine;
  machine.service("ports", 5, R"({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]})");
  machine.service("late", 1, R"({"type": "LoadBalancer", "ports": [{"port": 30080}]})");
  machine.service("some", 1,
                  R"({"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.0/8"], "ports": [{"port": 81}]})");
  machine.service("self", 1, R"({"type": "LoadBalancer", "ports": [{"port": 30081, "nodePort": 30081}]})");
  machine.turn("services");
  EXPECT_EQ(machine.address("late"), "{}");
  EXPECT_EQ(machine.address("some"), "{}");
  EXPECT_EQ(machine.address("self"), kHere);
}

TEST(LoadBalancers, AServiceThatIsNoneAnyMoreHasNoAddress) {
  Machine machine;
  machine.service("web", 1, kEighty);
  machine.turn("services");
  machine.world.edit(resources::kServices, "ns/web")->edit("spec").set("type", "ClusterIP");
  machine.turn("services");
  EXPECT_EQ(machine.address("web"), "{}");
}

}  // namespace
}  // namespace controllers::cluster
