// Groups of scheduling.k8s.io: the group of ours, its pods, and the condition.
#include "controllers/podgroup/native_groups.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/podgroup/controller.h"

namespace controllers::podgroup {
namespace {

using api::Json;
namespace resources = api::resources;

struct NativeGroups : ::testing::Test {
  NativeGroups() : controller(make_native_group_controller({"volcano"})) { world.use_indexes_of(*controller); }

  void native(std::string_view policy, std::string_view more = "", std::string_view annotations = "{}") {
    world.put_text(
        kNativePodGroups,
        base::format(R"({{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {{"name":
      "g", "namespace": "ns", "uid": "G", "annotations": {}}}, "spec": {{"schedulingPolicy": {}{}}}}})",
                     annotations, policy, more));
  }
  void pod(std::string_view name, std::string_view scheduler = "volcano") {
    world.put_text(resources::kPods, base::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{}",
      "namespace": "ns"}}, "spec": {{"schedulerName": "{}", "schedulingGroup": {{"podGroupName": "g"}},
      "containers": [{{"resources": {{"requests": {{"cpu": "500m"}}}}}}]}}}})",
                                                  name, scheduler));
  }
  void status_of_group(std::string_view status) {
    world.edit(resources::kPodGroups, "ns/g")->set("status", *api::parse_json(status));
  }
  const Json& condition() { return (*world.find(kNativePodGroups, "ns/g"))["status"]["conditions"][std::size_t{0}]; }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST_F(NativeGroups, make_a_group_of_ours_with_the_first_pod) {
  pod("p-0");
  EXPECT_EQ(world.turn(*controller, "ns/g"), "") << "its PodGroup is not there";
  native(R"({"gang": {"minCount": 3}})", R"(, "priorityClassName": "high")");
  world.erase(resources::kPods, "ns/p-0");
  EXPECT_EQ(world.turn(*controller, "ns/g"), "") << "it has no pods";
  pod("p-0");
  pod("p-1");
  pod("other", "default-scheduler");
  EXPECT_EQ(world.turn(*controller, "ns/g"),
            "patch Pod ns/p-0 {\"metadata\":{\"annotations\":{\"scheduling.k8s.io/group-name\":\"g\"}}}\n"
            "patch Pod ns/p-1 {\"metadata\":{\"annotations\":{\"scheduling.k8s.io/group-name\":\"g\"}}}\n"
            "--\ncreate PodGroup ns/g\n");
  const Json group = *world.find(resources::kPodGroups, "ns/g");
  EXPECT_EQ(group["spec"]["minMember"].as_int(), 3);
  EXPECT_EQ(group["spec"]["minResources"]["cpu"].as_string(), "1500m");
  EXPECT_EQ(group["spec"]["priorityClassName"].as_string(), "high");
  EXPECT_EQ(api::controller_of(group)["uid"].as_string(), "G");
  EXPECT_EQ(api::controller_of(group)["apiVersion"].as_string(), "scheduling.k8s.io/v1beta1");
  EXPECT_EQ(world.turn(*controller, "ns/g"), "");
}

TEST_F(NativeGroups, grow_and_shrink_with_their_minimum) {
  native(R"({"gang": {"minCount": 3}})");
  pod("p");
  world.turn(*controller, "ns/g");
  native(R"({"gang": {"minCount": 5}})");
  EXPECT_EQ(world.turn(*controller, "ns/g"), "update PodGroup ns/g\n");
  const Json& spec = (*world.find(resources::kPodGroups, "ns/g"))["spec"];
  EXPECT_EQ(spec["minMember"].as_int(), 5);
  EXPECT_EQ(spec["minResources"]["cpu"].as_string(), "2500m");
  EXPECT_EQ(world.turn(*controller, "ns/g"), "");
}

TEST_F(NativeGroups, begin_alone_where_the_policy_is_basic) {
  native(R"({"basic": {}})");
  pod("p");
  world.turn(*controller, "ns/g");
  EXPECT_EQ((*world.find(resources::kPodGroups, "ns/g"))["spec"]["minMember"].as_int(), 1);
}

TEST_F(NativeGroups, hand_their_disruption_mode_and_preemption_policy_on) {
  struct Row {
    std::string_view given, mode, policy;
  };
  for (const Row& row : {Row{"", "single", ""}, Row{R"(, "disruptionMode": {"single": {}})", "single", ""},
                         Row{R"(, "disruptionMode": {"all": {}}, "preemptionPolicy": "Never")", "all", "Never"}}) {
    native(R"({"gang": {"minCount": 1}})", row.given);
    pod("p");
    world.turn(*controller, "ns/g");
    const Json group = *world.find(resources::kPodGroups, "ns/g");
    EXPECT_EQ(api::annotation_of(group, "volcano.sh/disruption-mode"), row.mode) << row.given;
    EXPECT_EQ(api::annotation_of(group, "volcano.sh/preemption-policy"), row.policy) << row.given;
    world.erase(resources::kPodGroups, "ns/g");
  }
}

// As kube-scheduler has it, the priority of a pod does not count where its group has one.
TEST_F(NativeGroups, hand_their_priority_and_the_label_of_their_domain_on) {
  native(R"({"gang": {"minCount": 1}})");
  pod("p");
  world.edit(resources::kPods, "ns/p")->edit("spec").set("priorityClassName", "of-the-pod");
  world.turn(*controller, "ns/g");
  Json group = *world.find(resources::kPodGroups, "ns/g");
  EXPECT_FALSE(group["metadata"]["annotations"].has("volcano.sh/group-priority"));
  EXPECT_FALSE(group["metadata"]["annotations"].has("volcano.sh/topology-key"));
  EXPECT_FALSE(group["spec"].has("priorityClassName"));
  world.erase(resources::kPodGroups, "ns/g");
  native(R"({"gang": {"minCount": 1}})", R"(, "priority": 1000, "priorityClassName": "urgent",
    "schedulingConstraints": {"topology": [{"key": "example.com/rack"}]})");
  world.turn(*controller, "ns/g");
  group = *world.find(resources::kPodGroups, "ns/g");
  EXPECT_EQ(api::annotation_of(group, "volcano.sh/group-priority"), "1000");
  EXPECT_EQ(api::annotation_of(group, "volcano.sh/topology-key"), "example.com/rack");
  EXPECT_EQ(group["spec"]["priorityClassName"].as_string(), "urgent");
}

TEST_F(NativeGroups, take_their_queue_from_the_group_or_its_workload) {
  world.put_text(kNativeWorkloads, R"({"metadata": {"name": "w", "namespace": "ns", "annotations":
    {"scheduling.volcano.sh/queue-name": "of-workload"}}})");
  native(R"({"basic": {}})", R"(, "workloadRef": {"workloadName": "w", "templateName": "t"})");
  pod("p");
  world.turn(*controller, "ns/g");
  EXPECT_EQ((*world.find(resources::kPodGroups, "ns/g"))["spec"]["queue"].as_string(), "of-workload");
  world.erase(resources::kPodGroups, "ns/g");
  native(R"({"basic": {}})", "", R"({"scheduling.volcano.sh/queue-name": "own"})");
  world.turn(*controller, "ns/g");
  EXPECT_EQ((*world.find(resources::kPodGroups, "ns/g"))["spec"]["queue"].as_string(), "own");
}

TEST_F(NativeGroups, say_how_their_first_start_went) {
  native(R"({"gang": {"minCount": 2}})");
  pod("p-0");
  world.turn(*controller, "ns/g");
  status_of_group(R"({"phase": "Pending", "conditions": [{"type": "Unschedulable", "status": "True", "reason":
    "NotEnoughResources", "message": "1/2 tasks in gang unschedulable"}]})");
  EXPECT_NE(world.turn(*controller, "ns/g"), "");
  EXPECT_EQ(condition()["type"].as_string(), "PodGroupInitiallyScheduled");
  EXPECT_EQ(condition()["status"].as_string(), "False");
  EXPECT_EQ(condition()["reason"].as_string(), "Unschedulable");
  EXPECT_EQ(condition()["message"].as_string(), "1/2 tasks in gang unschedulable");
  EXPECT_EQ(world.turn(*controller, "ns/g"), "");
  status_of_group(R"({"phase": "Running"})");
  EXPECT_NE(world.turn(*controller, "ns/g"), "");
  EXPECT_EQ(condition()["status"].as_string(), "True");
  EXPECT_EQ(condition()["reason"].as_string(), "Scheduled");
  status_of_group(R"({"phase": "Pending", "conditions": [{"type": "Unschedulable", "status": "True"}]})");
  EXPECT_EQ(world.turn(*controller, "ns/g"), "") << "it tells of the first start";
}

TEST_F(NativeGroups, leave_a_group_of_somebody_else_alone) {
  native(R"({"gang": {"minCount": 2}})");
  pod("p-0");
  world.put_text(resources::kPodGroups, R"({"metadata": {"name": "g", "namespace": "ns"}, "spec": {"minMember": 1}})");
  EXPECT_NE(world.turn(*controller, "ns/g").find("GroupNameTaken"), std::string::npos);
  EXPECT_EQ(world.turn(*controller, "ns/g"), "") << "it is told once";
}

TEST_F(NativeGroups, have_pods_that_get_no_other_group) {
  native(R"({"gang": {"minCount": 2}})");
  pod("p-0");
  EXPECT_EQ(world.turn(*make_podgroup_controller({}), "ns/p-0"), "");
}

}  // namespace
}  // namespace controllers::podgroup
