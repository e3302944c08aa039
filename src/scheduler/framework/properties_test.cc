// Facts of every random small cluster, whatever is decided.
#include <gtest/gtest.h>

#include <map>

#include "base/format.h"
#include "base/random.h"
#include "scheduler/actions/all.h"
#include "scheduler/cache/intake.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"
#include "scheduler/session/plain_twin_for_tests.h"

namespace scheduler {
namespace {

api::Json parse(const std::string& text) {
  auto out = api::parse_json(text);
  EXPECT_TRUE(out.ok()) << text;
  return out.ok() ? *out : api::Json();
}

const char* kConfigs[] = {
    "",
    "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins: [{name: gang}, {name: predicates}, {name: "
    "binpack}]\n",
    "actions: \"allocate\"\ntiers:\n- plugins: [{name: priority}, {name: gang}]\n- plugins: [{name: drf}, {name: "
    "predicates}, {name: proportion}, {name: nodeorder}]\n",
    "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins: [{name: gang}, {name: pdb}]\n- plugins: [{name: drf, "
    "enableHierarchy: true}, "
    "{name: resourcequota}, {name: task-topology}, {name: predicates}, {name: nodegroup, arguments: {strict: false}}, "
    "{name: resource-strategy-fit}, {name: usage}]\n",
};

// A cluster that lives: objects come and go, pods run and end.
class World {
 public:
  explicit World(std::uint64_t seed, bool is_plain = false)
      : random(seed),
        intake(model, ledger, {}),
        decider(model, ledger, registry(is_plain), seed, "volcano"),
        is_plain_(is_plain) {
    if (const std::string config = kConfigs[random.below(std::size(kConfigs))]; !config.empty()) {
      EXPECT_TRUE(decider.configure(config).ok());
    }
    for (const char* queue : {"default", "other"}) {
      intake.set(api::resources::kQueues,
                 parse(base::format(
                     R"({{"metadata":{{"name":"{}","uid":"{}"}},"spec":{{"weight":{}}},"status":{{"state":"Open"}}}})",
                     queue, queue, 1 + random.below(3))));
    }
  }

  void step() {
    switch (random.below(6)) {
      case 0:
      case 1: add_group(); break;
      case 2: change_node(); break;
      case 3: end_pod(); break;
      default: run_cycle(); break;
    }
  }

  void add_group() {
    const std::string name = base::format("g{}", next_++);
    const auto size = static_cast<int>(1 + random.below(7));
    const auto min = static_cast<int>(random.below(static_cast<std::uint64_t>(size) + 1));
    intake.set(
        api::resources::kPodGroups,
        parse(base::format(
            R"({{"metadata":{{"name":"{0}","namespace":"n","uid":"{0}"}},"spec":{{"minMember":{1},"queue":"{2}",)"
            R"("minResources":{{"cpu":"{1}"}}}},"status":{{"phase":"Pending"}}}})",
            name, min, random.chance(0.5) ? "default" : "other")));
    const std::string selector =
        random.chance(0.3) ? base::format(R"(,"nodeSelector":{{"zone":"z{}"}})", random.below(2)) : "";
    std::string apart;
    if (random.chance(0.2)) {
      apart = base::format(
          R"(,"affinity":{{"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{"labelSelector":)"
          R"({{"matchLabels":{{"app":"a{}"}}}},"topologyKey":"zone"}}]}}}})",
          random.below(3));
    }
    std::string preferences;
    if (random.chance(0.2) && apart.empty()) {
      preferences = base::format(
          R"(,"affinity":{{"nodeAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":{},"preference":)"
          R"({{"matchExpressions":[{{"key":"zone","operator":"In","values":["z{}"]}}]}}}}]}},)"
          R"("podAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":5,"podAffinityTerm":)"
          R"({{"labelSelector":{{"matchLabels":{{"app":"a{}"}}}},"topologyKey":"zone"}}}}]}}}})",
          1 + random.below(50), random.below(2), random.below(3));
    }
    if (random.chance(0.2)) {
      preferences +=
          base::format(R"(,"topologySpreadConstraints":[{{"maxSkew":{},"topologyKey":"zone","whenUnsatisfiable":"{}",)"
                       R"("labelSelector":{{"matchLabels":{{"app":"a{}"}}}}}}])",
                       1 + random.below(2), random.chance(0.5) ? "DoNotSchedule" : "ScheduleAnyway", random.below(3));
    }
    apart += preferences;
    const std::string cpu = base::format("{}m", 500 * (1 + random.below(4)));
    for (int i = 0; i < size; ++i) {
      const std::string pod = base::format("{}-w-{}", name, i);
      pods[pod] = base::format(
          R"({{"metadata":{{"name":"{0}","namespace":"n","uid":"{0}","labels":{{"app":"a{5}"}},"annotations":)"
          R"({{"scheduling.k8s.io/group-name":"{1}"}}}},"spec":{{"schedulerName":"volcano"{3}{4},"containers":)"
          R"([{{"name":"c","resources":{{"requests":{{"cpu":"{2}"}}}}}}]}}}})",
          pod, name, cpu, selector, apart, random.below(3));
      intake.set(api::resources::kPods, parse(pods[pod]));
    }
  }

  void change_node() {
    const auto n = random.below(6);
    const std::string text = base::format(
        R"({{"metadata":{{"name":"n{0}","labels":{{"zone":"z{1}"}}}},"spec":{{"unschedulable":{2}{5}}},)"
        R"("status":{{"allocatable":{{"cpu":"{3}","memory":"64Gi","pods":"{4}"}}}}}})",
        n, random.below(2), random.chance(0.1) ? "true" : "false", 2 + random.below(6), 2 + random.below(8),
        random.chance(0.2) ? R"(,"taints":[{"key":"slow","effect":"PreferNoSchedule"}])" : "");
    if (random.chance(0.1))
      intake.remove(api::resources::kNodes, parse(text));
    else
      intake.set(api::resources::kNodes, parse(text));
  }

  void end_pod() {
    if (pods.empty()) return;
    auto at = pods.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random.below(pods.size())));
    intake.remove(api::resources::kPods, parse(at->second));
    pods.erase(at);
  }

  void run_cycle() {
    const std::vector<std::string> over_before = overcommitted();
    last_binds.clear();
    if (is_plain_) begin_plain_cycle(decider);
    const CycleReport report = decider.run_cycle(base::Time{} + base::seconds(1'700'000'000));
    std::map<std::string, int> started;
    for (const PlannedBind& bind : report.plan.binds) {
      const TaskId task = model.find_task(bind.ns + "/" + bind.pod);
      ASSERT_TRUE(task.is_set());
      EXPECT_EQ(model.task(task).status, TaskStatus::kBinding);
      model.move(task, TaskStatus::kRunning, model.task(task).node);
      started[model.job(model.task(task).job).key.str()]++;
      last_binds += bind.pod + " " + bind.node + "\n";
    }
    // Operations that were not committed leave nothing.
    for (std::uint32_t i = 0; i < model.task_capacity(); ++i) {
      const Task& task = model.task(TaskId{i});
      EXPECT_TRUE(!task.in_use || (task.status != TaskStatus::kAllocated && task.status != TaskStatus::kPipelined));
    }
    // A gang starts whole.
    for (const auto& [key, count] : started)
      EXPECT_GE(model.job(model.find_job(key)).ready_count(), model.job(model.find_job(key)).min_available) << key;
    EXPECT_EQ(overcommitted(), over_before);
  }

  std::vector<std::string> overcommitted() const {
    std::vector<std::string> out;
    for (std::uint32_t n = 0; n < model.nodes.size(); ++n) {
      if (!model.nodes.known().has(n)) continue;
      for (const Dim d : {kCpu, kMemory, kPods}) {
        if (model.nodes.idle(d)[n] < 0) out.push_back(model.nodes[NodeId{n}].name + " " + model.dimensions.name(d));
      }
    }
    return out;
  }

  base::Random random;
  Model model;
  Ledger ledger;
  Intake intake;
  Decider decider;
  std::map<std::string, std::string> pods;
  std::string last_binds;

 private:
  static Registry registry(bool is_plain) {
    const Registry usual{all_plugins(), all_actions()};
    return is_plain ? plain_registry(usual) : usual;
  }

  bool is_plain_;
  int next_ = 0;
};

TEST(Properties, gangs_are_whole_nodes_are_not_overcommitted_and_nothing_stays_behind) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    World world(seed);
    for (int i = 0; i < 60; ++i) world.step();
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

// Classes, frontiers, wide vectors and plugins that live on decide as nested loops over fresh plugins do.
TEST(Properties, the_fast_scheduler_agrees_with_the_plain_one) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    World fast(seed), plain(seed, true);
    for (int i = 0; i < 60; ++i) {
      fast.step();
      plain.step();
      ASSERT_EQ(fast.last_binds, plain.last_binds) << "seed " << seed << " step " << i;
    }
  }
}

// Plugins that live for many cycles decide as plugins that were just made.
TEST(Properties, live_plugins_agree_with_fresh_ones) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    World lived(seed), fresh(seed);
    for (int i = 0; i < 60; ++i) {
      lived.step();
      fresh.decider.use(Config(fresh.decider.config()));
      fresh.step();
      ASSERT_EQ(lived.last_binds, fresh.last_binds) << "seed " << seed << " step " << i;
      ASSERT_EQ(lived.model.hash(), fresh.model.hash()) << "seed " << seed << " step " << i;
    }
  }
}

TEST(Properties, what_is_rolled_back_leaves_every_sum_bit_equal) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    World world(seed);
    for (int i = 0; i < 40; ++i) world.step();
    Model& model = world.model;
    std::vector<std::tuple<TaskId, TaskStatus, NodeId>> moved;
    const std::uint64_t before = model.hash();
    for (int i = 0; i < 30; ++i) {
      const TaskId id{static_cast<std::uint32_t>(world.random.below(std::max<std::size_t>(model.task_capacity(), 1)))};
      if (id.index >= model.task_capacity() || !model.task(id).in_use || model.nodes.size() == 0) continue;
      const NodeId node{static_cast<std::uint32_t>(world.random.below(model.nodes.size()))};
      if (model.nodes[node].name.empty()) continue;
      const auto status = static_cast<TaskStatus>(world.random.below(kTaskStatusCount));
      moved.emplace_back(id, model.task(id).status, model.task(id).node);
      model.move(id, status, status == TaskStatus::kPending ? NodeId{} : node);
    }
    while (!moved.empty()) {
      const auto [id, status, node] = moved.back();
      model.move(id, status, node);
      moved.pop_back();
    }
    EXPECT_EQ(model.hash(), before) << "seed " << seed;
  }
}

}  // namespace
}  // namespace scheduler
