// EndpointSlices: what stands in them, how they are filled, and that a change of one pod is a write of one.
#include <gtest/gtest.h>

#include "api/network_resources.h"
#include "base/format.h"
#include "controllers/cluster/cluster.h"
#include "controllers/framework/world_for_tests.h"

namespace controllers::cluster {
namespace {

using api::Json;
namespace resources = api::resources;

struct Stage {
  Stage() { world.use_indexes_of(*controller); }
  std::string turn() { return world.turn(*controller, "ns/s"); }
  void service(std::string_view spec) {
    world.put(resources::kServices,
              *api::parse_json(base::format(R"({{"apiVersion": "v1", "kind": "Service", "metadata": {{"name": "s",
                  "namespace": "ns", "uid": "uid-s", "labels": {{"of": "anna"}}}}, "spec": {}}})",
                                            spec)));
  }
  void pod(std::string_view name, std::string_view ip, bool ready, std::string_view more = "") {
    world.put(
        resources::kPods,
        *api::parse_json(base::format(
            R"({{"kind": "Pod", "metadata": {{"name": "{0}", "namespace": "ns", "uid": "{0}", "labels": {{"app": "x"}}{3}}},
                  "spec": {{"hostname": "{0}", "subdomain": "s", "nodeName": "n",
                            "containers": [{{"ports": [{{"name": "web", "containerPort": 8080}}]}}]}},
                  "status": {{"phase": "Running", "podIP": "{1}", "conditions": [{{"type": "Ready", "status": "{2}"}}]}}}})",
            name, ip, ready ? "True" : "False", more)));
  }
  std::vector<const Json*> slices() { return world.all(resources::kEndpointSlices); }

  TestWorld world;
  std::unique_ptr<Controller> controller = make_endpoint_slice_controller();
};

constexpr std::string_view kWeb =
    R"({"clusterIP": "10.96.0.9", "selector": {"app": "x"}, "ports": [{"name": "http", "port": 80, "targetPort": "web"}]})";

TEST(EndpointSlices, say_who_is_ready_who_serves_and_who_ends) {
  Stage stage;
  stage.service(kWeb);
  EXPECT_EQ(stage.turn(), "create EndpointSlice ns/s-uid-s0\n");  // nobody is there
  EXPECT_EQ(stage.slices().at(0)->find("endpoints")->size(), 0u);
  EXPECT_EQ(stage.turn(), "");
  stage.pod("a", "10.0.0.1", true);
  stage.pod("b", "10.0.0.2", false);
  stage.pod("c", "10.0.0.3", true, R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")");
  stage.pod("d", "", true);
  EXPECT_EQ(stage.turn(), "create EndpointSlice ns/s-uid-s1\ndelete EndpointSlice ns/s-uid-s0\n");
  ASSERT_EQ(stage.slices().size(), 1u);
  const Json& slice = *stage.slices().front();
  EXPECT_EQ(slice["metadata"]["labels"].sorted().dump(),
            R"({"endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io",)"
            R"("kubernetes.io/service-name":"s","of":"anna"})");
  EXPECT_EQ(slice["ports"].dump(), R"([{"name":"http","port":8080,"protocol":"TCP"}])");
  std::string text;
  for (const Json& one : slice["endpoints"].items())
    text += one["addresses"].dump() + one["conditions"].dump() + one["hostname"].str() + "\n";
  EXPECT_EQ(text,
            "[\"10.0.0.1\"]{\"ready\":true,\"serving\":true,\"terminating\":false}a\n"
            "[\"10.0.0.2\"]{\"ready\":false,\"serving\":false,\"terminating\":false}b\n"
            "[\"10.0.0.3\"]{\"ready\":false,\"serving\":true,\"terminating\":true}c\n");
  EXPECT_EQ(slice["endpoints"].items().front()["targetRef"].dump(),
            R"({"kind":"Pod","name":"a","namespace":"ns","uid":"a"})");
  EXPECT_EQ(stage.turn(), "");
  stage.pod("b", "10.0.0.2", true);
  EXPECT_EQ(stage.turn(), "update EndpointSlice ns/s-uid-s1\n");
  EXPECT_EQ(stage.turn(), "");
}

TEST(EndpointSlices, hold_a_hundred_each_and_change_one_at_a_time) {
  Stage stage;
  stage.service(kWeb);
  for (int i = 0; i < 250; ++i) stage.pod(base::format("p{}", i), base::format("10.0.1.{}", i), true);
  stage.turn();
  std::size_t all = 0;
  for (const Json* slice : stage.slices()) {
    EXPECT_LE((*slice)["endpoints"].size(), 100u);
    all += (*slice)["endpoints"].size();
  }
  EXPECT_EQ(stage.slices().size(), 3u);
  EXPECT_EQ(all, 250u);
  EXPECT_EQ(stage.turn(), "");
  stage.world.erase(resources::kPods, "ns/p0");  // the first of them: the others stay where they are
  const std::string text = stage.turn();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST(EndpointSlices, are_for_pods_with_equal_ports) {
  Stage stage;
  stage.service(kWeb);
  stage.pod("a", "10.0.0.1", true);
  stage.pod("b", "10.0.0.2", true);
  stage.world.edit(resources::kPods, "ns/b")
      ->edit("spec")
      .set("containers", *api::parse_json(R"([{"ports": [{"name": "web", "containerPort": 9090}]}])"));
  stage.turn();
  ASSERT_EQ(stage.slices().size(), 2u);
  EXPECT_NE((*stage.slices()[0])["ports"], (*stage.slices()[1])["ports"]);
}

TEST(EndpointSlices, publish_those_that_are_not_ready_where_the_service_says_so) {
  Stage stage;
  stage.service(R"({"clusterIP": "None", "publishNotReadyAddresses": true, "selector": {"app": "x"}})");
  stage.pod("a", "10.0.0.1", false);
  stage.turn();
  const Json& slice = *stage.slices().front();
  EXPECT_TRUE(slice["endpoints"].items().front()["conditions"]["ready"].as_bool());
  EXPECT_EQ(api::label_of(slice, "service.kubernetes.io/headless"), "");
  EXPECT_TRUE(slice["metadata"]["labels"].has("service.kubernetes.io/headless"));
}

TEST(EndpointSlices, mirror_endpoints_that_somebody_made) {
  Stage stage;
  stage.service(R"({"clusterIP": "10.96.0.9", "ports": [{"port": 5432}]})");
  stage.world.put_text(resources::kEndpoints, R"({"apiVersion": "v1", "kind": "Endpoints",
      "metadata": {"name": "s", "namespace": "ns", "uid": "uid-e"},
      "subsets": [{"addresses": [{"ip": "192.0.2.5"}], "ports": [{"port": 5432}]}]})");
  EXPECT_EQ(stage.turn(), "create EndpointSlice ns/s-uid-e0\n");
  const Json& slice = *stage.slices().front();
  EXPECT_EQ(slice["endpoints"].items().front()["addresses"].dump(), R"(["192.0.2.5"])");
  EXPECT_EQ(api::label_of(slice, resources::kManagedByLabel), "endpointslicemirroring-controller.k8s.io");
  EXPECT_EQ(stage.turn(), "");
  stage.world.edit(resources::kEndpoints, "ns/s")
      ->edit_path({"metadata", "labels"})
      .set("endpointslice.kubernetes.io/skip-mirror", "true");
  EXPECT_EQ(stage.turn(), "delete EndpointSlice ns/s-uid-e0\n");
}

TEST(EndpointSlices, are_found_by_their_ports_and_numbered_one_after_the_other) {
  Stage stage;
  stage.service(R"({"clusterIP": "10.96.0.9", "ports": [{"port": 5432}]})");
  const auto subsets = [&](std::initializer_list<int> ports) {
    Json all = Json::array();
    for (const int port : ports)
      all.push_back(*api::parse_json(
          base::format(R"({{"addresses": [{{"ip": "192.0.2.5"}}], "ports": [{{"port": {}}}]}})", port)));
    Json endpoints = *api::parse_json(R"({"apiVersion": "v1", "kind": "Endpoints",
        "metadata": {"name": "s", "namespace": "ns", "uid": "uid-e"}})");
    endpoints.set("subsets", std::move(all));
    stage.world.put(resources::kEndpoints, std::move(endpoints));
  };
  subsets({1001, 1002, 1003});
  EXPECT_EQ(stage.turn(),
            "create EndpointSlice ns/s-uid-e0\ncreate EndpointSlice ns/s-uid-e1\ncreate EndpointSlice ns/s-uid-e2\n");
  EXPECT_EQ(stage.turn(), "");
  Json* slice = stage.world.edit(resources::kEndpointSlices, "ns/s-uid-e1");
  slice->set("ports", Json::array({*api::parse_json(R"({"protocol": "TCP", "port": 1002, "name": ""})")}));
  EXPECT_EQ(stage.turn(), "") << "the order of the fields says nothing";
  subsets({1001, 1003, 1004});
  EXPECT_EQ(stage.turn(), "create EndpointSlice ns/s-uid-e3\ndelete EndpointSlice ns/s-uid-e1\n");
  EXPECT_EQ(stage.turn(), "");
}

TEST(EndpointSlices, of_others_are_left_alone_and_our_own_go_with_the_service) {
  Stage stage;
  stage.service(kWeb);
  stage.world.put_text(resources::kEndpointSlices, R"({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
      "metadata": {"name": "theirs", "namespace": "ns", "labels": {"kubernetes.io/service-name": "s"}},
      "addressType": "IPv4", "endpoints": []})");
  stage.turn();
  EXPECT_EQ(stage.slices().size(), 2u);
  stage.world.erase(resources::kServices, "ns/s");
  EXPECT_EQ(stage.turn(), "delete EndpointSlice ns/s-uid-s0\n");
  EXPECT_EQ(stage.slices().size(), 1u);
}

}  // namespace
}  // namespace controllers::cluster
