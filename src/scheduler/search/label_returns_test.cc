// A search's memory of a class of pods ends with the meaning of its label set's id.
#include <gtest/gtest.h>

#include <vector>

#include "base/format.h"
#include "scheduler/actions/all.h"
#include "scheduler/cache/intake.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"

namespace scheduler {
namespace {

using api::Json;

Json json(std::string_view text) { return *api::parse_json(text); }

class LabelReturns : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(decider_.configure("actions: allocate\ntiers:\n- plugins:\n  - name: predicates\n").ok());
    intake_.set(api::resources::kQueues, json(R"({"metadata":{"name":"default"},"status":{"state":"Open"}})"));
    intake_.set(api::resources::kNodes,
                json(R"({"metadata":{"name":"n","labels":{"kubernetes.io/hostname":"n"}},"status":{"allocatable":
                    {"cpu":"99","memory":"100Gi","pods":"100"},"capacity":{"cpu":"99","memory":"100Gi","pods":"100"}}})"));
    intake_.set(api::resources::kPodGroups, json(R"({"metadata":{"namespace":"a","name":"g"},
        "spec":{"minMember":1,"queue":"default"},"status":{"phase":"Inqueue"}})"));
  }

  // Pods that are equal but for name, labels and node, and want to be away from pods that have `app` as given.
  Json pod(const std::string& name, const std::string& app, const std::string& away_from, bool placed = false) {
    return json(base::format(
        R"({{"metadata":{{"namespace":"a","name":"{0}","uid":"{0}","labels":{{"app":"{1}"}},"annotations":)"
        R"({{"scheduling.k8s.io/group-name":"g"}}}},"spec":{{"schedulerName":"volcano"{3},"affinity":{{"podAntiAffinity":)"
        R"({{"requiredDuringSchedulingIgnoredDuringExecution":[{{"topologyKey":"kubernetes.io/hostname",)"
        R"("labelSelector":{{"matchExpressions":[{{"key":"app","operator":"In","values":["{2}","{2}2"]}}]}}}}]}}}},)"
        R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"{4}"}}}})",
        name, app, away_from, placed ? R"(,"nodeName":"n")" : "", placed ? "Running" : "Pending"));
  }
  // Many pods of a class, so that it is remembered, come, and go again: how many found the node.
  std::size_t place_blue_ones() {
    std::vector<Json> pods;
    for (int i = 0; i < kPods; ++i) pods.push_back(pod(base::format("blue-{}", i), "blue", "nobody"));
    for (const Json& one : pods) intake_.set(api::resources::kPods, one);
    const std::size_t placed = decider_.run_cycle(base::Time{} + base::seconds(1)).plan.binds.size();
    for (const Json& one : pods) intake_.remove(api::resources::kPods, one);
    return placed;
  }

  static constexpr int kPods = 64;
  Model model_;
  Ledger ledger_;
  Intake intake_{model_, ledger_, {}};
  Decider decider_{model_, ledger_, {all_plugins(), all_actions()}, 1, "volcano"};
};

TEST_F(LabelReturns, AClassIsMadeAnew) {
  intake_.set(api::resources::kPods, pod("guard", "guard", "red", true));
  intake_.set(api::resources::kPods, pod("peer", "peer", "nobody", true));  // nothing new is owned when blue comes
  ASSERT_EQ(place_blue_ones(), std::size_t{kPods});
  // Other labels take the ids of blue's, some of them such as the guard wants to be away from.
  for (int i = 0; i < 300; ++i)
    model_.pods.label_set_for(model_.symbols.intern("a"),
                              Labels{{model_.symbols.intern("n"), model_.symbols.intern(std::to_string(i))}});
  ASSERT_GT(model_.pods.label_sets().returns(), 0u);
  const std::size_t before = model_.pods.label_sets().capacity();
  for (int i = 0; i < 300; ++i) {
    Labels labels{{model_.symbols.intern("app"), model_.symbols.intern("red")},
                  {model_.symbols.intern("z"), model_.symbols.intern(std::to_string(i))}};
    model_.pods.use_labels(model_.pods.label_set_for(model_.symbols.intern("a"), labels), 1);
  }
  ASSERT_LT(model_.pods.label_sets().capacity(), before + 300);
  EXPECT_EQ(place_blue_ones(), std::size_t{kPods});
}

}  // namespace
}  // namespace scheduler
