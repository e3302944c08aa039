// The loads that the product's goals name, as objects, one JSON line each, from a seed.
#include "loads.h"

#include <algorithm>

#include "base/format.h"
#include "base/random.h"
#include "objects.h"

namespace bench {
namespace {

void equal_gangs(double scale, Sink& out) {
  for (int n = 0; n < scaled(10'000, scale); ++n) {
    out += node_line(base::format("n{:05}", n), R"("cpu":"32","memory":"256Gi")",
                     base::format(",\"topology.kubernetes.io/zone\":\"z{}\"", n % 3));
  }
  for (int g = 0; g < scaled(1'000, scale); ++g) {
    const std::string group = base::format("g{:05}", g);
    out += group_line(group, 100, "default", R"("cpu":"100","memory":"100Gi")");
    for (int i = 0; i < 100; ++i)
      out += pod_line(
          {.name = base::format("{}-w-{}", group, i), .group = group, .requests = R"("cpu":"1","memory":"1Gi")"});
  }
}

void different_pods(double scale, Sink& out) {
  base::Random random(7);
  for (int q = 1; q <= 4; ++q) out += queue_line(base::format("q{}", q), q);
  for (int n = 0; n < scaled(5'000, scale); ++n) {
    out +=
        node_line(base::format("n{:05}", n), R"("cpu":"32","memory":"256Gi")", base::format(",\"zone\":\"z{}\"", n % 3),
                  n % 5 == 0 ? R"(,"taints":[{"key":"fifth","value":"yes","effect":"NoSchedule"}])" : "");
  }
  for (int g = 0; g < scaled(5'000, scale); ++g) {
    const std::string group = base::format("g{:05}", g);
    out += group_line(group, 10, base::format("q{}", 1 + g % 4));
    const bool apart = random.chance(0.1);
    for (int i = 0; i < 10; ++i) {
      PodLine pod{.name = base::format("{}-w-{}", group, i), .group = group};
      pod.requests =
          base::format(R"("cpu":"{}m","memory":"{}Ki")", 100 + random.below(3'900), 131'072 + random.below(8'257'536));
      pod.labels = base::format(R"("app":"{}")", group);
      if (random.chance(0.3)) pod.spec += base::format(R"(,"nodeSelector":{{"zone":"z{}"}})", random.below(3));
      if (random.chance(0.2)) pod.tolerations = R"({"key":"fifth","operator":"Exists"})";
      if (apart) {
        pod.spec += base::format(
            R"(,"affinity":{{"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{"labelSelector":{{"matchLabels":{{"app":"{}"}}}},"topologyKey":"kubernetes.io/hostname"}}]}}}})",
            group);
      }
      out += pod_line(pod);
    }
  }
}

// Pods are dealt to the groups evenly, those of one group together.
void running_cluster(Sink& out, int nodes, int groups, int pods) {
  for (int n = 0; n < nodes; ++n) out += node_line(base::format("n{:05}", n), R"("cpu":"64","memory":"256Gi")", "");
  int next = 0;
  for (int g = 0; g < groups; ++g) {
    const std::string group = base::format("r{:05}", g);
    const int size = static_cast<int>(std::int64_t{pods} * (g + 1) / groups - std::int64_t{pods} * g / groups);
    out += group_line(group, size, "default", "", "Running");
    for (int i = 0; i < size; ++i, ++next) {
      out += pod_line({.name = base::format("{}-w-{}", group, i),
                       .group = group,
                       .requests = R"("cpu":"1","memory":"1Gi")",
                       .node = base::format("n{:05}", next % nodes)});
    }
  }
}

void running_100000(double scale, Sink& out) {
  running_cluster(out, scaled(5'000, scale), scaled(1'000, scale), scaled(100'000, scale));
}

void steady(double scale, Sink& out) {
  running_100000(scale, out);
  out.next_phase();
  out += group_line("late", 10, "default", R"("cpu":"10")");
  for (int i = 0; i < 10; ++i)
    out += pod_line({.name = base::format("late-w-{}", i), .group = "late", .requests = R"("cpu":"1","memory":"1Gi")"});
}

// Groups that admission refuses before a full cluster, and one more arrives.
void backlog(double scale, Sink& out) {
  constexpr std::string_view kMinimum = R"("cpu":"2","memory":"2Gi")";
  const auto waiting = [&](const std::string& group) {
    out += group_line(group, 2, "default", std::string(kMinimum));
    for (int i = 0; i < 2; ++i)
      out += pod_line(
          {.name = base::format("{}-w-{}", group, i), .group = group, .requests = R"("cpu":"1","memory":"1Gi")"});
  };
  running_cluster(out, scaled(500, scale), scaled(4'000, scale), scaled(32'000, scale));
  for (int g = 0; g < scaled(20'000, scale); ++g) waiting(base::format("w{:05}", g));
  out.next_phase();
  waiting("late");
}

// Groups without minResources, which admission lets in, of pods that no node has room for; one more arrives, and fits.
void hopeless_groups(double scale, Sink& out) {
  const auto group = [&](const std::string& name, std::string_view cpu) {
    out += group_line(name, 2, "default", "");
    for (int i = 0; i < 2; ++i) {
      out += pod_line({.name = base::format("{}-w-{}", name, i),
                       .group = name,
                       .requests = base::format(R"("cpu":"{}","memory":"1Gi")", cpu)});
    }
  };
  running_cluster(out, scaled(500, scale), scaled(4'000, scale), scaled(31'000, scale));
  for (int g = 0; g < scaled(20'000, scale); ++g) group(base::format("w{:05}", g), "4");
  out.next_phase();
  group("late", "1");
}

void running_20000(double scale, Sink& out) {
  running_cluster(out, scaled(2'000, scale), scaled(1'000, scale), scaled(20'000, scale));
}

void running_150000(double scale, Sink& out) {
  running_cluster(out, scaled(5'000, scale), scaled(87'000, scale), scaled(150'000, scale));
}

// `loose` nodes run groups without a minimum; only they can be emptied.
void full_gpu_cluster(Sink& out, int nodes, const std::string& queue, int minimum, int loose = 0) {
  for (int n = 0; n < nodes; ++n)
    out += node_line(base::format("n{:05}", n), R"("cpu":"64","memory":"256Gi","nvidia.com/gpu":"8")", "");
  for (int n = 0; n < nodes; ++n) {
    const std::string group = base::format("a{:05}", n);
    out += group_line(group, n < loose ? 0 : minimum, queue, "", "Running");
    for (int i = 0; i < 8; ++i) {
      out += pod_line({.name = base::format("{}-w-{}", group, i),
                       .group = group,
                       .requests = R"("cpu":"1","memory":"1Gi","nvidia.com/gpu":"1")",
                       .node = base::format("n{:05}", n)});
    }
  }
}

// Groups of queue b, eight pods of a GPU each.
void gpu_groups(int count, Sink& out) {
  for (int g = 0; g < count; ++g) {
    const std::string group = base::format("b{:05}", g);
    out += group_line(group, 8, "b");
    for (int i = 0; i < 8; ++i) {
      out += pod_line({.name = base::format("{}-w-{}", group, i),
                       .group = group,
                       .requests = R"("cpu":"1","memory":"1Gi","nvidia.com/gpu":"1")"});
    }
  }
}

void late_gang(const char* queue, Sink& out) {
  out += group_line("late", 10, queue);
  for (int i = 0; i < 10; ++i)
    out += pod_line({.name = base::format("late-w-{}", i),
                     .group = "late",
                     .requests = R"("cpu":"1","memory":"1Gi","nvidia.com/gpu":"8")"});
}

void reclaim(double scale, Sink& out) {
  out += queue_line("a", 1) + queue_line("b", 1);
  full_gpu_cluster(out, scaled(500, scale), "a", 1);
  out.next_phase();
  gpu_groups(scaled(250, scale), out);
}

void hopeless(int nodes, Sink& out) {
  out += queue_line("a", 1) + queue_line("b", 1);
  full_gpu_cluster(out, nodes, "a", 8, 5);
  out.next_phase();
  late_gang("b", out);
}

// A gang that is no more important than what runs in its own queue; the chart's configuration with preempt and reclaim.
void equals(int nodes, Sink& out) {
  out += queue_line("a", 1) + queue_line("b", 1);
  full_gpu_cluster(out, nodes, "a", 8);
  out.next_phase();
  late_gang("a", out);
}

// Half of a full cluster of small groups goes back to the other queue: 4,000 of 8,000 pods.
void reclaim_many(double scale, Sink& out) {
  const int nodes = scaled(1'000, scale);
  const std::string half =
      base::format(R"(,"deserved":{{"cpu":"{0}","memory":"{0}Gi","nvidia.com/gpu":"{0}"}})", nodes * 4);
  out += queue_line("a", 1, half) + queue_line("b", 1, half);
  full_gpu_cluster(out, nodes, "a", 1);
  out.next_phase();
  gpu_groups(scaled(500, scale), out);
}

// Four departments, twelve teams, 48 leaves. One team in four may only hold a part of what its leaves ask for, and one
// leaf in eight has a limit of its own.
void hierarchy(double scale, Sink& out) {
  const auto limit = [](int cpus) { return base::format(R"(,"capability":{{"cpu":"{}"}})", cpus); };
  const int gangs = scaled(5'000, scale);
  const int whole = std::max(1, gangs * 10 / 48);  // CPUs that a leaf's gangs ask for
  for (int d = 0; d < 4; ++d) out += queue_line(base::format("d{}", d), 1 + d, R"(,"parent":"root")");
  for (int t = 0; t < 12; ++t) {
    out += queue_line(base::format("t{}", t), 1,
                      base::format(R"(,"parent":"d{}")", t % 4) + (t % 4 == 0 ? limit(2 * whole) : ""));
  }
  for (int l = 0; l < 48; ++l) {
    out += queue_line(base::format("l{:02}", l), 1,
                      base::format(R"(,"parent":"t{}")", l % 12) + (l % 8 == 5 ? limit(whole / 2) : ""));
  }
  for (int n = 0; n < scaled(5'000, scale); ++n)
    out += node_line(base::format("n{:05}", n), R"("cpu":"32","memory":"256Gi")", "");
  for (int g = 0; g < gangs; ++g) {
    const std::string group = base::format("g{:05}", g);
    out += group_line(group, 10, base::format("l{:02}", g % 48), R"("cpu":"10","memory":"10Gi")");
    for (int i = 0; i < 10; ++i)
      out += pod_line(
          {.name = base::format("{}-w-{}", group, i), .group = group, .requests = R"("cpu":"1","memory":"1Gi")"});
  }
}

void affinity(double scale, Sink& out) {
  for (int n = 0; n < scaled(5'000, scale); ++n) {
    out += node_line(base::format("n{:05}", n), R"("cpu":"32","memory":"256Gi")",
                     base::format(",\"zone\":\"z{}\"", n % 3));
  }
  for (int g = 0; g < scaled(100, scale); ++g) {
    const std::string group = base::format("g{:05}", g);
    const std::string spec = base::format(
        R"(,"affinity":{{"podAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":10,"podAffinityTerm":{{"labelSelector":{{"matchLabels":{{"app":"{0}"}}}},"topologyKey":"zone"}}}}]}}}},)"
        R"("topologySpreadConstraints":[{{"maxSkew":1,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"DoNotSchedule","labelSelector":{{"matchLabels":{{"app":"{0}"}}}}}},)"
        R"({{"maxSkew":50,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{{"matchLabels":{{"app":"{0}"}}}}}}])",
        group);
    out += group_line(group, 100, "default");
    for (int i = 0; i < 100; ++i) {
      out += pod_line({.name = base::format("{}-w-{}", group, i),
                       .group = group,
                       .requests = R"("cpu":"1","memory":"1Gi")",
                       .labels = base::format(R"("app":"{}")", group),
                       .spec = spec});
    }
  }
}

std::string hyper_node_line(const std::string& name, int tier, const char* type,
                            const std::vector<std::string>& members) {
  std::string list;
  for (const std::string& one : members) {
    list += base::format(R"({}{{"type":"{}","selector":{{"exactMatch":{{"name":"{}"}}}}}})", list.empty() ? "" : ",",
                         type, one);
  }
  return base::format(R"({{"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{{"name":"{}"}},)"
                      R"("spec":{{"tier":{},"members":[{}]}}}})"
                      "\n",
                      name, tier, list);
}

// 16 nodes a leaf, ten leaves a middle domain, ten middle domains a top one. A gang of 256 half nodes needs a middle
// domain.
void topology(double scale, Sink& out) {
  const int middles = scaled(60, scale);
  std::vector<std::string> middle_names;
  for (int m = 0; m < middles; ++m) {
    std::vector<std::string> leaves;
    for (int l = 0; l < 10; ++l) {
      std::vector<std::string> nodes;
      for (int n = 0; n < 16; ++n) {
        nodes.push_back(base::format("n{:05}", (m * 10 + l) * 16 + n));
        out += node_line(nodes.back(), R"("cpu":"64","memory":"512Gi","nvidia.com/gpu":"8")", "");
      }
      leaves.push_back(base::format("leaf-{:04}", m * 10 + l));
      out += hyper_node_line(leaves.back(), 1, "Node", nodes);
    }
    middle_names.push_back(base::format("middle-{:03}", m));
    out += hyper_node_line(middle_names.back(), 2, "HyperNode", leaves);
  }
  for (std::size_t m = 0; m < middle_names.size(); m += 10) {
    out += hyper_node_line(base::format("top-{:02}", m / 10), 3, "HyperNode",
                           {middle_names.begin() + static_cast<std::ptrdiff_t>(m),
                            middle_names.begin() + static_cast<std::ptrdiff_t>(std::min(m + 10, middle_names.size()))});
  }
  for (int g = 0; g < scaled(20, scale); ++g) {
    const std::string group = base::format("g{:03}", g);
    out += group_line(group, 256, "default", R"("cpu":"256","memory":"256Gi","nvidia.com/gpu":"1024")", "Pending", "",
                      R"(,"networkTopology":{"mode":"hard","highestTierAllowed":2})");
    for (int i = 0; i < 256; ++i) {
      out += pod_line({.name = base::format("{}-w-{}", group, i),
                       .group = group,
                       .requests = R"("cpu":"1","memory":"1Gi","nvidia.com/gpu":"4")"});
    }
  }
}

// The chart's default.
constexpr std::string_view kChart = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
)";

constexpr std::string_view kTopology = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: network-topology-aware
    arguments:
      hypernode.binpack.resources: nvidia.com/gpu
)";

constexpr std::string_view kEvicting = R"(actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
)";

// The chart's plugins, with the actions that evict.
std::string_view chart_evicting() {
  static const std::string kText =
      R"(actions: "enqueue, allocate, preempt, reclaim, backfill")" + std::string(kChart.substr(kChart.find('\n')));
  return kText;
}

constexpr std::string_view kCapacity = R"(actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: capacity
  - name: nodeorder
)";

// One tier, so that a gang's refusal to give is final.
constexpr std::string_view kOneTier = R"(actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: predicates
  - name: proportion
  - name: nodeorder
)";

constexpr std::string_view kHierarchy = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: capacity
    enableHierarchy: true
  - name: predicates
  - name: nodeorder
)";

}  // namespace

std::string_view chart_configuration() { return kChart; }

const std::vector<Load>& loads_of_goals() {
  using Goal = Load::Goal;
  static const std::vector<Load> kLoads = {
      {"equal-gangs", "100,000 pods in 1,000 gangs of 100 onto 10,000 nodes", Goal::kDecide, 0.2, kChart, true,
       equal_gangs},
      {"different-pods", "50,000 pods of 50,000 shapes in 5,000 gangs onto 5,000 nodes, 4 queues", Goal::kDecide, 1.5,
       kChart, true, different_pods},
      {"reclaim", "500 full nodes of 8 GPUs, 250 gangs of another queue reclaim until idle", Goal::kDecide, 0.02,
       kEvicting, true, reclaim},
      {"reclaim-capacity", "the same with capacity", Goal::kDecide, 0.02, kCapacity, true,
       [](double scale, Sink& out) { reclaim_many(scale / 2, out); }},
      {"reclaim-8000", "4,000 of 8,000 pods, proportion", Goal::kDecide, 0.04, kEvicting, true, reclaim_many},
      {"reclaim-8000-c", "4,000 of 8,000 pods, capacity", Goal::kDecide, 0.04, kCapacity, true, reclaim_many},
      {"equals-500", "a gang no more important than others, 500 full nodes", Goal::kDecide, 0.001, chart_evicting(),
       false, [](double scale, Sink& out) { equals(scaled(500, scale), out); }},
      {"equals-5000", "a gang no more important than others, 5,000 full nodes", Goal::kDecide, 0.005, chart_evicting(),
       false, [](double scale, Sink& out) { equals(scaled(5'000, scale), out); }},
      {"hopeless-500", "a gang that eviction cannot help, 500 full nodes", Goal::kDecide, 0.001, kOneTier, false,
       [](double scale, Sink& out) { hopeless(scaled(500, scale), out); }},
      {"hopeless-5000", "a gang that eviction cannot help, 5,000 full nodes", Goal::kDecide, 0.005, kOneTier, false,
       [](double scale, Sink& out) { hopeless(scaled(5'000, scale), out); }},
      {"topology", "20 gangs of 256 half nodes, hard tier 2, 9,600 nodes in 666 domains", Goal::kDecide, 0.2, kTopology,
       true, topology},
      {"steady", "one new gang of 10 among 100,000 running pods on 5,000 nodes, all cycles", Goal::kDecide, 0.001,
       kChart, true, steady},
      {"backlog", "one more gang behind 20,000 that wait for admission to 500 full nodes", Goal::kDecide, 0.02, kChart,
       false, backlog},
      {"hopeless-groups", "one gang that fits behind 20,000 that were let in and do not", Goal::kDecide, 0.02, kChart,
       false, hopeless_groups},
      {"load", "100,000 running pods on 5,000 nodes from JSON lines", Goal::kLoad, 1, kChart, false, running_100000},
      {"memory-20000", "2,000 nodes, 20,000 running pods in 1,000 groups: memory after five cycles", Goal::kMemory, 20,
       kChart, false, running_20000},
      {"memory-150000", "5,000 nodes, 150,000 running pods in 87,000 groups: memory after five cycles", Goal::kMemory,
       150, kChart, false, running_150000},
      {"affinity", "10,000 pods with zone affinity and spread on 5,000 nodes", Goal::kDecide, 1, kChart, true,
       affinity},
      {"hierarchy", "64 queues in three levels with capacity, 50,000 pods in 5,000 gangs", Goal::kDecide, 1, kHierarchy,
       true, hierarchy},
  };
  return kLoads;
}

}  // namespace bench
