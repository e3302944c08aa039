// Facts of every random small cluster with a network topology: the search that leaves domains out decides as trying
// each of them does, groups keep to their tiers, and nothing stays behind.
#include <gtest/gtest.h>

#include <map>

#include "base/format.h"
#include "base/random.h"
#include "scheduler/actions/all.h"
#include "scheduler/cache/intake.h"
#include "scheduler/model/domain_sums.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"
#include "scheduler/session/plain_twin_for_tests.h"

namespace scheduler {
namespace {

constexpr std::uint64_t kNodes = 9;

api::Json parse(const std::string& text) {
  auto out = api::parse_json(text);
  EXPECT_TRUE(out.ok()) << text;
  return out.ok() ? *out : api::Json();
}

const char* kConfigs[] = {
    "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins: [{name: priority}, {name: gang}]\n- plugins: [{name: "
    "predicates}, "
    "{name: nodeorder}, {name: network-topology-aware}]\n",
    "actions: \"enqueue, allocate, gangpreempt\"\ntiers:\n- plugins: [{name: priority}, {name: gang}, {name: "
    "conformance}]\n- plugins: "
    "[{name: predicates}, {name: proportion}, {name: network-topology-aware, arguments: {weight: 3, "
    "hypernode.binpack.normal-pod.fading: 2}}]\n",
    "actions: \"gangreclaim, allocate\"\ntiers:\n- plugins: [{name: gang}]\n- plugins: [{name: predicates}, {name: "
    "capacity}, {name: "
    "binpack}, {name: network-topology-aware, enabledHyperNodeOrder: false}]\n",
    "actions: \"allocate\"\ntiers:\n- plugins: [{name: priority}, {name: gang, enabledSubJobReady: false}]\n- plugins: "
    "[{name: "
    "predicates}, {name: nodeorder}]\n",
    "actions: \"allocate, preempt\"\ntiers:\n- plugins: [{name: gang, enableJobReady: false}]\n- plugins: [{name: "
    "predicates}, {name: "
    "network-topology-aware, arguments: {hypernode.binpack.normal-pod.enable: false}}]\nconfigurations:\n- name: "
    "preempt\n  "
    "arguments: {enableTopologyAwarePreemption: true}\n",
};

constexpr std::uint64_t kWithoutGradients = 3;  // of kConfigs: has no plugin that enforces tiers

class World {
 public:
  explicit World(std::uint64_t seed, bool is_plain = false)
      : random(seed),
        intake(model, ledger, {}),
        decider(model, ledger, registry(is_plain), seed, "volcano"),
        is_plain_(is_plain) {
    const auto config = random.below(std::size(kConfigs));
    enforces_tiers = config != kWithoutGradients;
    EXPECT_TRUE(decider.configure(kConfigs[config]).ok());
    for (const char* queue : {"default", "other"}) {
      intake.set(api::resources::kQueues,
                 parse(base::format(R"({{"metadata":{{"name":"{0}","uid":"{0}"}},"spec":{{"weight":1,"deserved":)"
                                    R"({{"cpu":"{1}"}}}},"status":{{"state":"Open"}}}})",
                                    queue, 4 + random.below(12))));
    }
    for (const char* name : {"high", "low"}) {
      intake.set(api::resources::kPriorityClasses,
                 parse(base::format(R"({{"metadata":{{"name":"{}"}},"value":{}}})", name,
                                    std::string_view(name) == "high" ? 10 : 1)));
    }
    for (std::uint64_t n = 0; n < kNodes; ++n) change_node(n);
    for (int i = 0; i < 6; ++i) change_domain();
  }

  void step() {
    switch (random.below(12)) {
      case 0: change_node(random.below(kNodes)); break;
      case 1:
        if (random.chance(0.3)) change_domain();
        break;
      case 2: end_pod(); break;
      case 3:
      case 4:
      case 5:
      case 6: add_group(); break;
      default: run_cycle(); break;
    }
  }

  void change_node(std::uint64_t n) {
    const std::string text =
        base::format(R"({{"metadata":{{"name":"n{}","labels":{{"rack":"r{}"}}}},"status":{{"allocatable":)"
                     R"({{"cpu":"{}","memory":"64Gi","pods":"{}"}}}}}})",
                     n, random.below(3), 2 + random.below(6), 3 + random.below(8));
    if (random.chance(0.05))
      intake.remove(api::resources::kNodes, parse(text));
    else
      intake.set(api::resources::kNodes, parse(text));
  }

  // Leaves l0 to l3 of named, matched or labelled nodes; m0 and m1 above them; sometimes a contradiction.
  void change_domain() {
    const bool middle = random.chance(0.4);
    const std::string name = middle ? base::format("m{}", random.below(2)) : base::format("l{}", random.below(4));
    std::string members;
    const auto add = [&](const char* type, const std::string& selector) {
      members += base::format(R"({}{{"type":"{}","selector":{{{}}}}})", members.empty() ? "" : ",", type, selector);
    };
    if (middle) {
      for (int l = 0; l < 4; ++l) {
        const bool mine = (l / 2 == 0) == (name == "m0");
        if (random.chance(mine ? 0.9 : 0.03)) add("HyperNode", base::format(R"("exactMatch":{{"name":"l{}"}})", l));
      }
    } else if (random.chance(0.2)) {
      add("Node", base::format(R"("labelMatch":{{"matchLabels":{{"rack":"r{}"}}}})", random.below(3)));
    } else if (random.chance(0.2)) {
      add("Node", base::format(R"("regexMatch":{{"pattern":"n[{}{}]"}})", random.below(kNodes), random.below(kNodes)));
    } else {
      for (std::uint64_t n = 0; n < kNodes; ++n) {
        if (random.chance(n / 2 == static_cast<std::uint64_t>(name[1] - '0') ? 0.9 : 0.05))
          add("Node", base::format(R"("exactMatch":{{"name":"n{}"}})", n));
      }
    }
    const std::string text =
        base::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"tier":{},"tierName":"t{}","members":[{}]}}}})", name,
                     middle ? 2 : 1, middle ? 2 : 1, members);
    if (random.chance(0.1))
      intake.remove(api::resources::kHyperNodes, parse(text));
    else
      intake.set(api::resources::kHyperNodes, parse(text));
  }

  std::string random_topology() {
    if (random.chance(0.25)) return R"({"mode":"soft"})";
    if (random.chance(0.2)) return base::format(R"({{"mode":"hard","highestTierName":"t{}"}})", 1 + random.below(3));
    return base::format(R"({{"mode":"hard","highestTierAllowed":{}}})", 1 + random.below(3));
  }

  void add_group() {
    const std::string name = base::format("g{}", next_++);
    const auto size = static_cast<int>(1 + random.below(6));
    const auto min = static_cast<int>(random.below(static_cast<std::uint64_t>(size) + 1));
    std::string spec;
    if (random.chance(0.6)) spec += base::format(R"(,"networkTopology":{})", random_topology());
    if (random.chance(0.35)) {
      spec += base::format(
          R"(,"subGroupPolicy":[{{"name":"p","subGroupSize":{},"minSubGroups":{},"matchLabelKeys":["part"]{}}}])",
          1 + random.below(3), random.below(3), random.chance(0.6) ? ",\"networkTopology\":" + random_topology() : "");
    }
    if (random.chance(0.4)) spec += base::format(R"(,"minResources":{{"cpu":"{}"}})", min);
    intake.set(
        api::resources::kPodGroups,
        parse(base::format(
            R"({{"metadata":{{"name":"{0}","namespace":"n","uid":"{0}"}},"spec":{{"minMember":{1},"queue":"{2}",)"
            R"("priorityClassName":"{3}"{4}}},"status":{{"phase":"Pending"}}}})",
            name, min, random.chance(0.5) ? "default" : "other", random.chance(0.5) ? "high" : "low", spec)));
    const std::string cpu = base::format("{}m", 500 * (1 + random.below(6)));
    for (int i = 0; i < size; ++i) {
      const std::string pod = base::format("{}-w-{}", name, i);
      pods[pod] = base::format(
          R"({{"metadata":{{"name":"{0}","namespace":"n","uid":"{0}","labels":{{"part":"{3}"}},"annotations":)"
          R"({{"scheduling.k8s.io/group-name":"{1}"}}}},"spec":{{"schedulerName":"volcano","priority":{4},"containers":)"
          R"([{{"name":"c","resources":{{"requests":{{"cpu":"{2}"}}}}}}]}}}})",
          pod, name, cpu, i / 2, random.below(3));
      intake.set(api::resources::kPods, parse(pods[pod]));
    }
  }

  void end_pod() {
    if (pods.empty()) return;
    auto at = pods.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random.below(pods.size())));
    intake.remove(api::resources::kPods, parse(at->second));
    pods.erase(at);
  }

  void run_cycle() {
    decided.clear();
    for (const std::string& key : leaving_) {
      if (const TaskId task = model.find_task(key); task.is_set()) model.remove_task(task);
    }
    leaving_.clear();
    if (is_plain_) begin_plain_cycle(decider);
    const CycleReport report = decider.run_cycle(base::Time{} + base::seconds(1'700'000'000));
    std::map<std::string, std::vector<NodeId>> started;
    for (const PlannedBind& bind : report.plan.binds) {
      const TaskId task = model.find_task(bind.ns + "/" + bind.pod);
      model.move(task, TaskStatus::kRunning, model.task(task).node);
      started[model.job(model.task(task).job).key.str()].push_back(model.task(task).node);
      decided += bind.pod + " " + bind.node + "\n";
    }
    for (const PlannedEviction& one : report.plan.evictions) {
      decided += one.pod + " evicted\n";
      leaving_.push_back(one.ns + "/" + one.pod);
      pods.erase(one.pod);
    }
    for (const auto& [pod, node] : report.pipelined) decided += pod + " held " + node + "\n";
    for (const PlannedGroupStatus& one : report.plan.groups) {
      decided += one.name + " " + one.allocated_domain.value_or("-") + "\n";
      for (const GroupCondition& condition : one.status.conditions) decided += condition.message.str() + "\n";
    }
    for (const PlannedPodCondition& one : report.plan.pod_conditions)
      decided += one.pod + " " + one.message + " " + one.nominated_node + "\n";
    check_tiers(started);
  }

  // A group that started in this cycle under a hard tier lies in one domain of at most that tier.
  void check_tiers(const std::map<std::string, std::vector<NodeId>>& started) {
    const DomainTree& tree = model.hyper_nodes.tree();
    for (const auto& [key, nodes] : started) {
      const Job& job = model.job(model.find_job(key));
      const bool all_new = job.allocated_count() == static_cast<std::int32_t>(nodes.size());
      if (!enforces_tiers || !all_new || !job.topology || !job.topology->constraint.hard) continue;
      bool found = false;
      for (std::uint32_t d = 0; d < tree.size(); ++d) {
        const NodeSet& inside = tree.set_of(DomainId{d});
        bool holds = tree[DomainId{d}].tier <= job.topology->constraint.allowed;
        for (const NodeId node : nodes) holds = holds && inside.has(node.index);
        found |= holds;
      }
      EXPECT_TRUE(found) << key;
      ++checked;
    }
  }

  base::Random random;
  Model model;
  Ledger ledger;
  Intake intake;
  Decider decider;
  std::map<std::string, std::string> pods;
  std::string decided;
  bool enforces_tiers = true;
  std::size_t checked = 0;

 private:
  static Registry registry(bool is_plain) {
    const Registry usual{all_plugins(), all_actions()};
    return is_plain ? plain_registry(usual) : usual;
  }

  bool is_plain_;
  std::vector<std::string> leaving_;
  int next_ = 0;
};

TEST(TopologyProperties, domains_are_chosen_as_by_trying_each_of_them) {
  std::size_t words = 0, checked = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    World fast(seed), plain(seed, true);
    for (int i = 0; i < 60; ++i) {
      fast.step();
      plain.step();
      ASSERT_EQ(fast.decided, plain.decided) << "seed " << seed << " step " << i;
      ASSERT_EQ(fast.model.hash(), plain.model.hash()) << "seed " << seed << " step " << i;
      words += fast.decided.size();
    }
    checked += fast.checked;
  }
  EXPECT_GT(words, 100'000u);  // something was decided
  EXPECT_GT(checked, 100u);
}

// Live sums per domain are what adding up the nodes gives.
TEST(TopologyProperties, sums_of_domains_follow_every_change) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    World world(seed);
    DomainSums lived(world.model);
    for (int i = 0; i < 60; ++i) {
      world.step();
      world.model.trim_touched();
      lived.open();
      const DomainTree& tree = world.model.hyper_nodes.tree();
      for (std::uint32_t d = 0; d < tree.size(); ++d) {
        std::int64_t idle = 0, future = 0, all = 0;
        for (const std::uint32_t n : tree[DomainId{d}].nodes) {
          idle += world.model.nodes.idle(kCpu)[n];
          future += world.model.nodes.future_idle(kCpu, n);
          all += world.model.nodes.allocatable(kCpu)[n];
        }
        ASSERT_EQ(lived.idle_at_open(DomainId{d}, kCpu), idle) << "seed " << seed << " step " << i;
        ASSERT_EQ(lived.future_at_open(DomainId{d}, kCpu), future) << "seed " << seed << " step " << i;
        ASSERT_EQ(lived.allocatable(DomainId{d}, kCpu), all) << "seed " << seed << " step " << i;
      }
    }
  }
}

}  // namespace
}  // namespace scheduler
