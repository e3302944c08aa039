// Autoscalers and their answers to the use of pods.
#include "controllers/autoscaling/autoscaler.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/autoscaling/limits.h"
#include "controllers/framework/world_for_tests.h"

namespace controllers::autoscaling {
namespace {

using api::Json;
namespace resources = api::resources;
const api::ResourceId kDeployments{"apps", "v1", "deployments"};

struct Stage {
  Stage() {
    world.use_indexes_of(*controller);
    world.now = *base::parse_rfc3339("2026-01-01T01:00:00Z");
    target(3);
  }
  void target(int replicas) {
    world.put(kDeployments, *api::parse_json(base::format(
                                R"({{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {{"name": "d",
        "namespace": "ns", "uid": "D"}}, "spec": {{"replicas": {}, "selector": {{"matchLabels": {{"app": "x"}}}}}},
        "status": {{"replicas": {}}}}})",
                                replicas, replicas)));
  }
  void scaler(std::string_view more,
              std::string_view metric = R"("target": {"type": "Utilization", "averageUtilization": 50})") {
    world.put(kAutoscalers, *api::parse_json(base::format(
                                R"({{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata":
        {{"name": "h", "namespace": "ns", "uid": "H"}}, "spec": {{"scaleTargetRef": {{"apiVersion": "apps/v1", "kind":
        "Deployment", "name": "d"}}, "minReplicas": 1, "maxReplicas": 10, "metrics": [{{"type": "Resource", "resource":
        {{"name": "cpu", {}}}}}]{}}}}})",
                                metric, more)));
  }
  // `percent` of 100m; below zero: nothing is measured. `more` of its status.
  void pod(std::string_view name, int percent, std::string_view status = R"("phase": "Running")", bool ready = true) {
    world.put(resources::kPods,
              *api::parse_json(base::format(
                  R"({{"kind": "Pod", "metadata": {{"name": "{0}", "namespace": "ns", "uid": "{0}", "labels": {{"app":
        "x"}}}}, "spec": {{"containers": [{{"name": "c", "resources": {{"requests": {{"cpu": "100m"}}}}}}]}}, "status":
        {{"startTime": "2026-01-01T00:00:00Z", "conditions": [{{"type": "Ready", "status": "{2}", "lastTransitionTime":
        "2026-01-01T00:00:10Z"}}], {1}}}}})",
                  name, status, ready ? "True" : "False")));
    if (percent < 0) return;
    api::ContainerUsage one{"c", std::string(name), {}, {}};
    one.usage.cpu_nanocores = percent * 1'000'000;
    usage->pods.push_back({"ns", std::string(name), std::string(name), {one}});
  }
  // The target's replicas after one look.
  std::int64_t look() {
    usage->at = world.now;
    usage->window = base::seconds(10);
    world.turn(*controller, "ns/h");
    const Json* target = world.find(kDeployments, "ns/d");
    return target == nullptr ? -1 : (*target)["spec"]["replicas"].as_int();
  }
  std::string finding(std::string_view type) {
    for (const Json& one : (*world.find(kAutoscalers, "ns/h"))["status"]["conditions"].items())
      if (one["type"].as_string() == type)
        return base::format("{} {}", one["status"].as_string(), one["reason"].as_string());
    return "";
  }
  std::string text(std::string_view type) {
    for (const Json& one : (*world.find(kAutoscalers, "ns/h"))["status"]["conditions"].items())
      if (one["type"].as_string() == type) return one["message"].str();
    return "";
  }
  void later(int seconds) { world.now = world.now + base::seconds(seconds); }

  TestWorld world;
  std::shared_ptr<api::NodeUsage> usage = std::make_shared<api::NodeUsage>();
  std::unique_ptr<Controller> controller = make_autoscaler_controller([this] { return usage; });
};

constexpr const char* kPending = R"("phase": "Pending")";

struct Row {
  const char* what;
  std::vector<int> used;  // of each running pod, in percent; -1: missing
  int pending;
  int expected;
};

TEST(Autoscaler, follows_what_pods_use) {
  const Row rows[] = {
      {"in the tolerance", {54, 54, 54}, 0, 3},
      {"above", {100, 100, 100}, 0, 6},
      {"above, and not faster than twice or four more", {400, 400, 400}, 0, 7},
      {"one that is missing counts as idle where more are wanted", {100, 100, -1}, 0, 4},
      {"as busy where fewer are wanted", {10, 10, -1}, 0, 3},
      {"pods that begin count as idle", {100, 100}, 1, 4},
      {"and do not matter where fewer are wanted", {50, 50}, 1, 3},
      {"nothing is known", {-1, -1, -1}, 0, 3},
  };
  for (const Row& row : rows) {
    Stage stage;
    stage.scaler(R"(, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}})");
    int index = 0;
    for (const int used : row.used) stage.pod(base::format("p{}", index++), used);
    for (int i = 0; i < row.pending; ++i) stage.pod(base::format("p{}", index++), -1, kPending);
    EXPECT_EQ(stage.look(), row.expected) << row.what;
  }
}

TEST(Autoscaler, takes_pods_away_when_less_was_wanted_for_five_minutes) {
  Stage stage;
  stage.scaler("");
  for (const char* name : {"a", "b", "c"}) stage.pod(name, 10);
  EXPECT_EQ(stage.look(), 3);
  EXPECT_EQ(stage.finding("AbleToScale"), "True ScaleDownStabilized");
  EXPECT_EQ(stage.finding("ScalingActive"), "True ValidMetricFound");
  for (int i = 0; i < 19; ++i) {
    stage.later(15);
    EXPECT_EQ(stage.look(), 3) << i;
  }
  stage.later(16);
  EXPECT_EQ(stage.look(), 1);
  EXPECT_EQ(stage.finding("AbleToScale"), "True SucceededRescale");
}

TEST(Autoscaler, looks_no_more_often_than_every_fifteen_seconds) {
  Stage stage;
  stage.scaler("");
  for (const char* name : {"a", "b", "c"}) stage.pod(name, 50);
  EXPECT_EQ(stage.look(), 3);
  for (api::PodUsage& pod : stage.usage->pods) pod.containers[0].usage.cpu_nanocores *= 2;
  EXPECT_EQ(stage.look(), 3);
  stage.later(15);
  EXPECT_EQ(stage.look(), 6);
  // A clock that is set back is not a pause; what was added just before counts as added now.
  stage.target(3);
  stage.later(-1800);
  EXPECT_EQ(stage.look(), 4);
}

TEST(Autoscaler, says_why_it_does_nothing) {
  Stage stage;
  stage.scaler("", R"("target": {"type": "AverageValue", "averageValue": "50m"})");
  stage.pod("a", 50);
  stage.world.erase(kDeployments, "ns/d");
  stage.look();
  EXPECT_EQ(stage.finding("AbleToScale"), "False FailedGetScale");
  EXPECT_EQ(stage.text("AbleToScale"),
            "the HPA controller was unable to get the target's current scale: deployments.apps \"d\" not found");
  stage.target(0);
  stage.later(15);
  EXPECT_EQ(stage.look(), 0);
  EXPECT_EQ(stage.finding("ScalingActive"), "False ScalingDisabled");
  stage.target(20);
  stage.later(15);
  EXPECT_EQ(stage.look(), 10) << "more than maxReplicas are too many, whatever they use";
  Stage other;
  other.scaler(R"(, "behavior": {"scaleUp": {"selectPolicy": "Disabled"}})");
  for (const char* name : {"a", "b", "c"}) other.pod(name, 100);
  EXPECT_EQ(other.look(), 3);
  EXPECT_EQ(other.finding("ScalingLimited"), "True ScaleUpLimit");
}

TEST(Autoscaler, two_of_one_target_leave_it_alone) {
  Stage stage;
  stage.scaler("");
  Json other = *stage.world.find(kAutoscalers, "ns/h");
  other.edit("metadata").set("name", "i");
  stage.world.put(kAutoscalers, other);
  for (const char* name : {"p0", "p1", "p2"}) stage.pod(name, 400);
  EXPECT_EQ(stage.look(), 3);
  EXPECT_EQ(stage.finding("ScalingActive"), "False AmbiguousSelector");
  EXPECT_EQ(stage.text("ScalingActive"), "Deployment d is scaled by multiple HPAs: [ns/h ns/i]");
}

TEST(Autoscaler, many_of_one_target_are_not_all_named) {
  Stage stage;
  stage.scaler("");
  for (int i = 10; i < 24; ++i) {
    Json other = *stage.world.find(kAutoscalers, "ns/h");
    other.edit("metadata").set("name", base::format("i{}", i));
    stage.world.put(kAutoscalers, other);
  }
  stage.pod("p0", 400);
  stage.look();
  EXPECT_EQ(stage.text("ScalingActive"),
            "Deployment d is scaled by multiple HPAs: [ns/h ns/i10 ns/i11 ns/i12 ns/i13 ns/i14 ns/i15 ns/i16 ns/i17 "
            "ns/i18 and 5 more]");
}

TEST(Autoscaler, scales_kinds_of_strangers_through_their_scale) {
  const api::ResourceId kWebs{"x.io", "v2", "webs"};
  api::KindInfo kind;
  kind.resource = {"x.io", "v1", "webs"};
  kind.kind = "Web";
  Stage stage;
  stage.scaler("");
  Json scaler = *stage.world.find(kAutoscalers, "ns/h");
  scaler.edit("spec").set("scaleTargetRef", Json::object({{"apiVersion", "x.io/v2"}, {"kind", "Web"}, {"name", "w"}}));
  stage.world.put(kAutoscalers, scaler);
  stage.pod("a", 100);
  stage.look();
  EXPECT_EQ(stage.text("AbleToScale"),
            "the HPA controller was unable to get the target's current scale: no matches for kind \"Web\" with a scale "
            "in \"x.io/v2\"");

  stage.controller->kind_comes(kind);
  const auto later = [&] {
    stage.later(16);
    const std::string asked = stage.world.turn(*stage.controller, "ns/h");
    EXPECT_EQ(asked, "fetch Web ns/w\n");
    stage.look();
  };
  later();
  EXPECT_EQ(stage.text("AbleToScale"),
            "the HPA controller was unable to get the target's current scale: webs.x.io \"w\" not found, or it has no "
            "scale");
  // The world's answer for the scale is the object itself.
  stage.world.put(kWebs, *api::parse_json(R"({"kind": "Web", "metadata": {"name": "w", "namespace": "ns"},
      "spec": {"replicas": 1}, "status": {"replicas": 1, "selector": "app=x"}})"));
  later();
  EXPECT_EQ((*stage.world.find(kWebs, "ns/w"))["spec"]["replicas"].as_int(), 2);
  EXPECT_EQ(stage.finding("AbleToScale"), "True SucceededRescale");

  stage.world.refuse = [](const Action& action) -> std::optional<base::Error> {
    if (action.verb != Action::Verb::kFetch) return std::nullopt;
    return base::make_error(base::Code::kForbidden, "nobody may");
  };
  later();
  EXPECT_EQ(stage.text("AbleToScale"), "the HPA controller was unable to get the target's current scale: nobody may");
  stage.world.refuse = {};
  stage.controller->kind_goes(kind.resource);
  stage.later(16);
  stage.look();
  EXPECT_NE(stage.text("AbleToScale").find("no matches for kind"), std::string::npos);
}

TEST(Autoscaler, names_metrics_that_are_not_measured_here) {
  Stage stage;
  Json scaler =
      *api::parse_json(R"({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name":
      "h", "namespace": "ns", "uid": "H"}, "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name":
      "d"}, "maxReplicas": 10, "metrics": [{"type": "Pods", "pods": {"metric": {"name": "hits"}, "target": {"type":
      "AverageValue", "averageValue": "1"}}}]}})");
  stage.world.put(kAutoscalers, scaler);
  stage.pod("a", 50);
  EXPECT_EQ(stage.look(), 3);
  EXPECT_EQ(stage.finding("ScalingActive"), "False FailedGetPodsMetric");
  EXPECT_EQ(stage.text("ScalingActive"),
            "the HPA was unable to compute the replica count: unable to get metric hits: unable to fetch metrics from "
            "custom metrics API: there is none here");
}

TEST(Autoscaler, needs_requests_for_percents) {
  Stage stage;
  stage.scaler("");
  stage.pod("a", 50);
  Json pod = *stage.world.find(resources::kPods, "ns/a");
  pod.edit("spec").edit("containers").edit(std::size_t{0}).erase("resources");
  stage.world.put(resources::kPods, pod);
  stage.look();
  EXPECT_EQ(stage.finding("ScalingActive"), "False FailedGetResourceMetric");
  EXPECT_EQ(
      stage.text("ScalingActive"),
      "the HPA was unable to compute the replica count: failed to get cpu utilization: missing request for cpu in "
      "container c of Pod a");
}

TEST(Limits, policies_bound_a_period) {
  const Json behavior = *api::parse_json(
      R"({"scaleUp": {"policies": [{"type": "Pods", "value": 2, "periodSeconds": 60}]}, "scaleDown":
         {"stabilizationWindowSeconds": 0, "policies": [{"type": "Percent", "value": 10, "periodSeconds": 60}]}})");
  const base::Time now = *base::parse_rfc3339("2026-01-01T01:00:00Z");
  Memory memory;
  EXPECT_EQ(limit(behavior, {4, 9, 1, 20}, now, memory).replicas, 6);
  memory.ups.push_back({now, 2});
  const Limited same = limit(behavior, {6, 9, 1, 20}, now + base::seconds(30), memory);
  EXPECT_EQ(same.replicas, 6) << "two were added in this minute";
  EXPECT_EQ(same.limited.reason, "ScaleUpLimit");
  EXPECT_EQ(limit(behavior, {6, 9, 1, 20}, now + base::seconds(61), memory).replicas, 8);
  Memory fresh;
  EXPECT_EQ(limit(behavior, {20, 1, 1, 20}, now, fresh).replicas, 18);
  EXPECT_EQ(limit(behavior, {20, 30, 1, 20}, now, fresh).limited.reason, "TooManyReplicas");
}

}  // namespace
}  // namespace controllers::autoscaling
