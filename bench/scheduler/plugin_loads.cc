// Loads of single plugins whose work grew faster than the load once.
#include "base/format.h"
#include "loads.h"
#include "objects.h"

namespace bench {
namespace {

// Each placement changes what all nodes are worth to the rest of the group.
void task_topology(double scale, Sink& out) {
  for (int n = 0; n < scaled(1'000, scale); ++n)
    out += node_line(base::format("n{:05}", n), R"("cpu":"4","memory":"16Gi")", "");
  const int pods = scaled(2'000, scale);
  out += group_line("g", pods, "default", "", "Pending", "", "", R"("volcano.sh/task-topology-affinity":"w")");
  for (int i = 0; i < pods; ++i)
    out += pod_line({.name = base::format("g-w-{:05}", i), .group = "g", .requests = R"("cpu":"1","memory":"1Gi")"});
}

// Each placement changes the shares of the queues above it, which decide whose turn it is.
void shares(double scale, Sink& out) {
  for (int q = 0; q < 100; ++q) {
    out += queue_line(base::format("q{:02}", q), 1, "",
                      base::format(R"("volcano.sh/hierarchy":"root/a{}/b{}","volcano.sh/hierarchy-weights":"1/{}/{}")",
                                   q / 10, q % 10, 1 + q / 10 % 3, 1 + q % 2));
  }
  for (int n = 0; n < scaled(1'000, scale); ++n)
    out += node_line(base::format("n{:05}", n), R"("cpu":"8","memory":"16Gi")", "");
  for (int g = 0; g < scaled(4'000, scale); ++g) {
    const std::string group = base::format("g{:05}", g);
    out += group_line(group, 1, base::format("q{:02}", g % 100));
    for (int i = 0; i < 2; ++i)
      out += pod_line(
          {.name = base::format("{}-w-{}", group, i), .group = group, .requests = R"("cpu":"1","memory":"256Mi")"});
  }
}

// Single pods that pin CPUs, four sizes of them, on machines of two sockets in eight NUMA nodes.
void pinned_cpus(double scale, Sink& out) {
  std::string cpus;
  for (int cpu = 0; cpu < 128; ++cpu) {
    cpus += base::format(R"({}"{}":{{"numa":{},"socket":{},"core":{}}})", cpu == 0 ? "" : ",", cpu, cpu / 16, cpu / 64,
                         cpu / 2);
  }
  for (int n = 0; n < scaled(200, scale); ++n) {
    const std::string name = base::format("n{:05}", n);
    out += node_line(name, R"("cpu":"128","memory":"1024Gi")", "");
    out += base::format(
        R"({{"apiVersion":"nodeinfo.volcano.sh/v1alpha1","kind":"Numatopology","metadata":{{"name":"{}"}},"spec":{{"policies":)"
        R"({{"CPUManagerPolicy":"static","TopologyManagerPolicy":"best-effort"}},"resReserved":{{"cpu":"2"}},"numares":)"
        R"({{"cpu":{{"allocatable":"0-127","capacity":128}}}},"cpuDetail":{{{}}}}}}})"
        "\n",
        name, cpus);
  }
  for (int g = 0; g < scaled(400, scale); ++g) {
    const std::string group = base::format("g{:05}", g);
    const std::string amounts = base::format(R"("cpu":"{}","memory":"4Gi")", 2 << g % 4);
    out += group_line(group, 1, "default", "");
    out += pod_line({.name = group + "-w-0",
                     .group = group,
                     .requests = amounts + "},\"limits\":{" + amounts,
                     .annotations = R"(,"volcano.sh/numa-topology-policy":"best-effort")"});
  }
}

// Queues keep to four of ten groups of nodes each, up to a limit.
void node_groups(double scale, Sink& out) {
  for (int q = 0; q < 4; ++q) {
    std::string limits;
    for (int i = 0; i < 4; ++i) limits += base::format(R"({}\"g{}\":{{\"cpu\":\"100000\"}})", i == 0 ? "" : ",", q + i);
    out += base::format(
        R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{{"name":"q{0}","annotations":{{)"
        R"("volcano.sh/nodegroup-resource-limits":"{{{1}}}"}}}},"spec":{{"weight":1,"affinity":{{"nodeGroupAffinity":{{)"
        R"("requiredDuringSchedulingIgnoredDuringExecution":["g{0}","g{2}"],"preferredDuringSchedulingIgnoredDuringExecution":)"
        R"(["g{3}","g{4}"]}}}}}},"status":{{"state":"Open"}}}})"
        "\n",
        q, limits, q + 1, q + 2, q + 3);
  }
  for (int n = 0; n < scaled(2'000, scale); ++n) {
    out += node_line(base::format("n{:05}", n), R"("cpu":"64","memory":"256Gi")",
                     base::format(R"(,"volcano.sh/nodegroup-name":"g{}")", n % 10));
  }
  for (int g = 0; g < scaled(1'000, scale); ++g) {
    const std::string group = base::format("g{:05}", g);
    out += group_line(group, 10, base::format("q{}", g % 4), "");
    for (int i = 0; i < 10; ++i)
      out += pod_line(
          {.name = base::format("{}-w-{}", group, i), .group = group, .requests = R"("cpu":"1","memory":"1Gi")"});
  }
}

constexpr std::string_view kTaskTopology = R"(actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: task-topology
- plugins:
  - name: predicates
  - name: nodeorder
)";

constexpr std::string_view kShares = R"(actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: drf
    enableHierarchy: true
- plugins:
  - name: predicates
  - name: nodeorder
)";

constexpr std::string_view kPinning = R"(actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
- plugins:
  - name: predicates
  - name: nodeorder
  - name: numa-aware
    arguments:
      weight: 10
)";

constexpr std::string_view kGrouped = R"(actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
- plugins:
  - name: predicates
  - name: nodeorder
  - name: nodegroup
)";

}  // namespace

const std::vector<Load>& loads_of_plugins() {
  using Goal = Load::Goal;
  static const std::vector<Load> kLoads = {
      {"pinned-cpus", "400 pods that pin CPUs onto 200 nodes of 8 NUMA nodes", Goal::kDecide, 0.1, kPinning, false,
       pinned_cpus},
      {"node-groups", "10,000 pods of 4 queues with limits onto 2,000 nodes in 10 groups", Goal::kDecide, 0.25,
       kGrouped, false, node_groups},
      {"task-topology", "one group of 2,000 pods with task affinity onto 1,000 nodes", Goal::kDecide, 1, kTaskTopology,
       true, task_topology},
      {"shares", "100 queues in three levels with drf, 8,000 pods in 4,000 groups", Goal::kDecide, 0.2, kShares, true,
       shares},
  };
  return kLoads;
}

}  // namespace bench
