// The statuses of budgets about their pods.
#include "controllers/workloads/disruption.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"

namespace controllers::workloads {
namespace {

using api::Json;
namespace resources = api::resources;

struct Stage {
  Stage() {
    world.use_indexes_of(*controller);
    world.put_text(resources::kReplicaSets, R"({"kind": "ReplicaSet", "metadata": {"name": "rs", "namespace": "ns",
        "uid": "RS"}, "spec": {"replicas": 4}})");
  }
  void budget(std::string_view spec) {
    world.put(resources::kPodDisruptionBudgets,
              *api::parse_json(base::format(R"({{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {{"name": "b", "namespace": "ns", "uid": "B", "generation": 2}}, "spec": {}}})",
                                            spec)));
  }
  void pod(std::string_view name, bool ready, std::string_view more = "") {
    world.put(
        resources::kPods,
        *api::parse_json(base::format(
            R"({{"kind": "Pod", "metadata": {{"name": "{}", "namespace": "ns", "labels": {{"app": "x"}}, "ownerReferences":
                  [{{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "RS", "controller": true}}]{}}},
                  "status": {{"phase": "Running", "conditions": [{{"type": "Ready", "status": "{}"}}]}}}})",
            name, more, ready ? "True" : "False")));
  }
  // allowed, healthy, desired, expected
  std::string numbers() {
    world.turn(*controller, "ns/b");
    const Json& status = (*world.find(resources::kPodDisruptionBudgets, "ns/b"))["status"];
    std::string text;
    for (const char* field : {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"})
      text += status[field].dump() + " ";
    return text + status["conditions"][std::size_t{0}]["reason"].str();
  }
  TestWorld world;
  std::unique_ptr<Controller> controller = make_disruption_controller();
};

struct Row {
  const char* spec;
  const char* numbers;
};
TEST(Disruption, allows_what_the_budget_leaves) {
  for (const Row& row :
       {Row{R"({"minAvailable": 2, "selector": {"matchLabels": {"app": "x"}}})", "1 3 2 4 SufficientPods"},
        Row{R"({"minAvailable": 3, "selector": {"matchLabels": {"app": "x"}}})", "0 3 3 4 InsufficientPods"},
        Row{R"({"minAvailable": "50%", "selector": {"matchLabels": {"app": "x"}}})", "1 3 2 4 SufficientPods"},
        Row{R"({"minAvailable": "51%", "selector": {"matchLabels": {"app": "x"}}})", "0 3 3 4 InsufficientPods"},
        Row{R"({"maxUnavailable": 1, "selector": {"matchLabels": {"app": "x"}}})", "0 3 3 4 InsufficientPods"},
        Row{R"({"maxUnavailable": "50%", "selector": {"matchLabels": {"app": "x"}}})", "1 3 2 4 SufficientPods"},
        Row{R"({"maxUnavailable": 9, "selector": {}})", "3 3 0 4 SufficientPods"},
        Row{R"({"maxUnavailable": 1})", "0 0 0 0 InsufficientPods"},
        Row{R"({"minAvailable": 1, "selector": {"matchLabels": {"app": "y"}}})", "0 0 1 0 InsufficientPods"}}) {
    Stage stage;
    for (const char* name : {"a", "b", "c"}) stage.pod(name, true);
    stage.pod("d", false);
    stage.budget(row.spec);
    EXPECT_EQ(stage.numbers(), row.numbers) << row.spec;
    EXPECT_EQ(stage.world.turn(*stage.controller, "ns/b"), "") << row.spec;
  }
}

TEST(Disruption, counts_the_evicted_as_gone_for_two_minutes) {
  Stage stage;
  for (const char* name : {"a", "b", "c"}) stage.pod(name, true);
  stage.budget(R"({"minAvailable": 1, "selector": {}})");
  EXPECT_EQ(stage.numbers(), "2 3 1 3 SufficientPods");
  stage.world.edit(resources::kPodDisruptionBudgets, "ns/b")
      ->edit("status")
      .set("disruptedPods",
           Json::object({{"a", base::format_rfc3339(stage.world.now)}, {"gone", "2026-01-01T00:00:00Z"}}));
  EXPECT_EQ(stage.numbers(), "1 2 1 3 SufficientPods");
  const auto disrupted = [&] {
    return (*stage.world.find(resources::kPodDisruptionBudgets, "ns/b"))["status"]["disruptedPods"].size();
  };
  EXPECT_EQ(disrupted(), 1u);
  stage.world.now = stage.world.now + base::minutes(3);
  EXPECT_EQ(stage.numbers(), "2 3 1 3 SufficientPods");
  EXPECT_EQ(disrupted(), 0u);
}

TEST(Disruption, sets_that_own_each_other_have_nobody_above_them) {
  for (const char* owner : {"rs", "other"}) {
    Stage stage;
    for (const auto& [name, above] : {std::pair{"other", "rs"}, {"rs", owner}})
      stage.world.put_text(resources::kReplicaSets, base::format(R"({{"kind": "ReplicaSet", "metadata": {{"name": "{0}",
          "namespace": "ns", "uid": "{2}", "ownerReferences": [{{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "{1}",
          "uid": "{3}", "controller": true}}]}}, "spec": {{"replicas": 4}}}})",
                                                                 name, above, name == std::string("rs") ? "RS" : "O",
                                                                 above == std::string("rs") ? "RS" : "O"));
    stage.pod("a", true);
    stage.budget(R"({"maxUnavailable": 1, "selector": {"matchLabels": {"app": "x"}}})");
    EXPECT_EQ(stage.numbers(), "0 1 3 4 InsufficientPods") << owner;
  }
}

TEST(Disruption, a_pod_wakes_the_budgets_that_select_it) {
  Stage stage;
  stage.pod("a", true);
  for (const auto& [name, spec] :
       {std::pair{"everything", R"({"selector": {}})"},
        {"nothing", "{}"},
        {"other", R"({"selector": {"matchLabels": {"app": "y"}}})"},
        {"spoilt", R"({"selector": {"matchExpressions": [{"key": "app", "operator": "?"}]}})"},
        {"x", R"({"selector": {"matchLabels": {"app": "x"}}})"}}) {
    stage.budget(spec);
    Json budget = *stage.world.find(resources::kPodDisruptionBudgets, "ns/b");
    budget.edit("metadata").set("name", name);
    stage.world.erase(resources::kPodDisruptionBudgets, "ns/b");
    stage.world.put(resources::kPodDisruptionBudgets, std::move(budget));
  }
  for (const Wake& one : stage.controller->wakes_on()) {
    if (one.resource != resources::kPods) continue;
    EXPECT_EQ(one.keys(stage.world, *stage.world.find(resources::kPods, "ns/a")), (Keys{"ns/everything", "ns/x"}));
  }
}

TEST(Disruption, a_deployment_says_how_many_its_sets_want) {
  Stage stage;
  stage.world.put_text({"apps", "v1", "deployments"},
                       R"({"kind": "Deployment", "metadata": {"name": "d", "namespace": "ns",
      "uid": "D"}, "spec": {"replicas": 10}})");
  stage.world.edit(resources::kReplicaSets, "ns/rs")
      ->edit("metadata")
      .set("ownerReferences",
           *api::parse_json(
               R"([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "D", "controller": true}])"));
  stage.pod("a", true);
  stage.budget(R"({"maxUnavailable": "20%", "selector": {}})");
  EXPECT_EQ(stage.numbers(), "0 1 8 10 InsufficientPods");
}

}  // namespace
}  // namespace controllers::workloads
