// Shapes, matchers and lists of matchers are given back, and who saw many of them decides as who saw none.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "scheduler/actions/all.h"
#include "scheduler/cache/intake.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"

namespace scheduler {
namespace {

using api::Json;

Json json(std::string_view text) { return *api::parse_json(text); }

constexpr std::string_view kConfig =
    "actions: enqueue, allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n  - name: nodeorder\n";
constexpr int kNodes = 12;

struct World {
  World() {
    EXPECT_TRUE(decider.configure(std::string(kConfig)).ok());
    intake.set(api::resources::kQueues, json(R"({"metadata":{"name":"default"},"status":{"state":"Open"}})"));
    for (int i = 0; i < kNodes; ++i) {
      intake.set(api::resources::kNodes, json(base::format(R"({{"metadata":{{"name":"n{0:02}","labels":{{
          "kubernetes.io/hostname":"n{0:02}","zone":"z{1}"}}}},"status":{{"allocatable":{{"cpu":"{2}","memory":"100Gi",
          "pods":"100"}},"capacity":{{"cpu":"{2}","memory":"100Gi","pods":"100"}}}}}})",
                                                           i, i % 3, 20 + i)));
    }
  }
  void set(const std::map<std::string, Json>& objects) {
    for (const auto& [key, object] : objects) set(object);
  }
  void set(const Json& object) { intake.set(resource_of(object), object); }
  void remove(const Json& object) { intake.remove(resource_of(object), object); }
  static api::ResourceId resource_of(const Json& object) {
    return object["spec"].has("containers") ? api::resources::kPods : api::resources::kPodGroups;
  }
  std::map<std::string, std::string> binds(int second) {
    std::map<std::string, std::string> out;
    for (const auto& one : decider.run_cycle(base::Time{} + base::seconds(second)).plan.binds) out[one.pod] = one.node;
    return out;
  }

  Model model;
  Ledger ledger;
  Intake intake{model, ledger, {}};
  Decider decider{model, ledger, {all_plugins(), all_actions()}, 1, "volcano"};
};

// The terms of pods of job `number` about other pods: of their own job, of an earlier one, or of one of five kinds that
// all jobs are of.
std::string preferences(int number, std::uint64_t dice) {
  const auto job = [](int of) { return base::format(R"({{"matchLabels":{{"job":"j{}"}}}})", of); };
  const std::string kind =
      base::format(R"({{"matchExpressions":[{{"key":"kind","operator":"In","values":["{}","x"]}}]}})", dice / 7 % 5);
  const int earlier = number - 1 - static_cast<int>(dice / 1024 % 40);
  const std::string whom = dice / 64 % 4 == 0 ? kind : job(dice / 64 % 4 == 1 ? number : earlier);
  const std::string term = base::format(R"({{"topologyKey":"{}","labelSelector":{}}})",
                                        dice / 512 % 2 == 0 ? "kubernetes.io/hostname" : "zone", whom);
  switch (dice % 5) {
    case 0:
      return base::format(
          R"("affinity":{{"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}},)", term);
    case 1:
      return base::format(R"("affinity":{{"podAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[
          {{"weight":50,"podAffinityTerm":{}}}]}}}},)",
                          term);
    case 2:
      return base::format(R"("affinity":{{"podAntiAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[
          {{"weight":50,"podAffinityTerm":{}}}]}}}},)",
                          term);
    case 3:
      return base::format(R"("topologySpreadConstraints":[{{"maxSkew":1,"topologyKey":"zone",
          "whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}}],)",
                          whom);
    default: return base::format(R"("nodeSelector":{{"zone":"z{}"}},)", dice / 7 % 3);
  }
}

// A group and its pods, some of them placed already.
std::map<std::string, Json> job(int number, base::Random& random) {
  std::map<std::string, Json> out;
  const std::string name = base::format("j{}", number);
  out[name] = json(base::format(R"({{"metadata":{{"namespace":"a","name":"{0}","uid":"{0}"}},
      "spec":{{"minMember":1,"queue":"default"}},"status":{{"phase":"Running"}}}})",
                                name));
  const std::string asks = preferences(number, random.next());
  const std::uint64_t pods = 1 + random.below(3);
  for (std::uint64_t i = 0; i < pods; ++i) {
    const std::string pod = base::format("{}-{}", name, i);
    const bool is_placed = random.below(3) > 0;
    const std::string node = base::format(R"("nodeName":"n{:02}",)", random.below(kNodes));
    out[pod] =
        json(base::format(R"({{"metadata":{{"namespace":"a","name":"{0}","uid":"{0}","labels":{{"job":"{1}",
        "kind":"{2}"}},"annotations":{{"scheduling.k8s.io/group-name":"{1}"}}}},"spec":{{"schedulerName":"volcano",{3}{4}
        "containers":[{{"name":"c","resources":{{"requests":{{"cpu":"250m"}}}}}}]}},"status":{{"phase":"{5}"}}}})",
                          pod, name, number % 5, is_placed ? node : "", asks, is_placed ? "Running" : "Pending"));
  }
  return out;
}

TEST(ShapeReturns, who_saw_many_jobs_decides_as_who_saw_none) {
  base::Random random(7);
  World old;
  std::map<int, std::map<std::string, Json>> jobs;
  int decided = 0;
  for (int number = 0; number < 4000; ++number) {
    old.set(jobs[number] = job(number, random));
    if (jobs.size() > 60) {
      const auto gone = std::next(jobs.begin(), static_cast<std::ptrdiff_t>(random.below(jobs.size())));
      for (const auto& [key, object] : gone->second) old.remove(object);
      jobs.erase(gone);
    }
    if (number % 200 != 199) continue;
    World fresh;
    for (const auto& [id, objects] : jobs) fresh.set(objects);
    const auto binds = old.binds(number);
    EXPECT_EQ(binds, fresh.binds(number)) << "after job " << number;
    decided += static_cast<int>(binds.size());
    // The decisions did not happen: the server says what it said before.
    for (const auto& [id, objects] : jobs) {
      for (const auto& [key, object] : objects) old.remove(object);
    }
    for (const auto& [id, objects] : jobs) old.set(objects);
    EXPECT_LT(old.model.shape_count(), 700u);
    EXPECT_LT(old.model.pods.matcher_count(), 700u);
  }
  EXPECT_GT(decided, 200);
}

TEST(ShapeReturns, a_class_is_made_anew_when_its_shape_means_another) {
  World world;
  const auto place = [&](const std::string& name, const std::string& zone, int second) {
    std::map<std::string, Json> objects;
    objects[name] = json(base::format(R"({{"metadata":{{"namespace":"a","name":"{0}","uid":"{0}"}},
        "spec":{{"minMember":1,"queue":"default"}},"status":{{"phase":"Inqueue"}}}})",
                                      name));
    for (int i = 0; i < 64; ++i) {  // so many that the search remembers what it found
      const std::string pod = base::format("{}-{}", name, i);
      objects[pod] = json(base::format(R"({{"metadata":{{"namespace":"a","name":"{0}","uid":"{0}","annotations":{{
          "scheduling.k8s.io/group-name":"{1}"}}}},"spec":{{"schedulerName":"volcano","nodeSelector":{{"zone":"{2}"}},
          "containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1m","memory":"{3}"}}}}}}]}},
          "status":{{"phase":"Pending"}}}})",
                                       pod, name, zone, second));
    }
    world.set(objects);
    const auto binds = world.binds(second);
    for (const auto& [key, object] : objects) world.remove(object);
    std::size_t there = 0;
    for (const auto& [pod, node] : binds) there += base::format("z{}", std::stoi(node.substr(1)) % 3) == zone ? 1 : 0;
    return there;
  };
  ASSERT_EQ(place("first", "z0", 1), 64u);
  std::uint64_t returns = world.model.id_returns();
  for (int i = 0; returns == world.model.id_returns(); ++i) {
    ASSERT_LT(i, 1000);
    world.model.shape_for(json(base::format(R"({{"spec":{{"nodeSelector":{{"x":"{}"}},"containers":[]}}}})", i)));
  }
  const std::size_t before = world.model.shape_texts().size();
  for (int i = 0; i < 600; ++i)
    EXPECT_EQ(place(base::format("next-{}", i), base::format("z{}", 1 + i % 2), 2 + i), 64u) << i;
  EXPECT_EQ(world.model.shape_texts().size(), before) << "ids are used again";
}

}  // namespace
}  // namespace scheduler
