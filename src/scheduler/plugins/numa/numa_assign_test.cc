// Which CPUs does a pod get: the best set of NUMA nodes is the one that looking at every set finds.
#include "scheduler/plugins/numa/numa_assign.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/random.h"

namespace scheduler {
namespace {

// NUMA nodes of the given sizes; CPUs are numbered one NUMA node after the other.
NumaNode machine(const std::vector<std::int32_t>& sizes, std::string policy) {
  NumaNode out;
  out.cpu_policy = "static";
  out.topology_policy = std::move(policy);
  for (std::size_t numa = 0; numa < sizes.size(); ++numa) {
    for (std::int32_t i = 0; i < sizes[numa]; ++i) {
      const auto id = static_cast<std::int32_t>(out.cpus.size()), at = static_cast<std::int32_t>(numa);
      out.cpus.push_back({id, at, at / 8, id});
    }
  }
  return out;
}

CpuSet all_of(const NumaNode& node) {
  CpuSet out;
  for (const Cpu& cpu : node.cpus) out.push_back(cpu.id);
  return out;
}

std::optional<NumaResult> assign(const NumaNode& node, const CpuSet& free, int cpus, std::string* refusal = nullptr) {
  std::string text;
  const ContainerAsk ask{.name = "main", .init = false, .cpu = cpus * 1000, .devices = {}};
  auto out = assign_cpus(node, free, {ask}, text);
  if (refusal != nullptr) *refusal = text;
  return out;
}

// The NUMA nodes of the best set, by docs/spec/scheduler 5.17: a set that suffices is preferred when no smaller one
// could hold as many in an empty node; then the fewest NUMA nodes count, then the lowest mask.
std::optional<std::uint32_t> best_mask(const NumaNode& node, const CpuSet& free, std::size_t numas, int count) {
  int smallest = static_cast<int>(numas);
  std::vector<std::uint32_t> enough;
  for (std::uint32_t mask = 1; mask < 1U << numas; ++mask) {
    int could = 0, can = 0;
    for (const Cpu& cpu : node.cpus) {
      if ((mask >> cpu.numa & 1) == 0) continue;
      ++could;
      can += std::binary_search(free.begin(), free.end(), cpu.id) ? 1 : 0;
    }
    if (could >= count) smallest = std::min(smallest, std::popcount(mask));
    if (can >= count) enough.push_back(mask);
  }
  std::stable_sort(enough.begin(), enough.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int one = std::popcount(a), other = std::popcount(b);
    if ((one == smallest) != (other == smallest)) return one == smallest;
    return one < other;
  });
  if (enough.empty()) return std::nullopt;
  const int width = std::popcount(enough.front());
  if (node.topology_policy != "best-effort" && width != smallest) return std::nullopt;
  if (node.topology_policy == "single-numa-node" && width != 1) return std::nullopt;
  return enough.front();
}

TEST(NumaAssign, the_best_set_is_found_without_looking_at_all) {
  base::Random random(17);
  int admitted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::int32_t> sizes(1 + random.below(8));
    for (std::int32_t& size : sizes) size = static_cast<std::int32_t>(1 + random.below(random.chance(0.5) ? 4 : 2));
    const char* policies[] = {"best-effort", "restricted", "single-numa-node"};
    const NumaNode node = machine(sizes, policies[random.below(3)]);
    CpuSet free = all_of(node);
    std::erase_if(free, [&](std::int32_t) { return random.chance(0.3); });
    const int count = static_cast<int>(1 + random.below(node.cpus.size()));
    const auto expected = best_mask(node, free, sizes.size(), count);
    const auto result = assign(node, free, count);
    if (static_cast<std::size_t>(count) > free.size()) {
      EXPECT_FALSE(result) << round;
      continue;
    }
    ASSERT_EQ(result.has_value(), expected.has_value()) << round;
    if (!result) continue;
    ++admitted;
    for (const std::int32_t cpu : result->all)
      EXPECT_TRUE(*expected >> node.cpus[static_cast<std::size_t>(cpu)].numa & 1) << round;
  }
  EXPECT_GT(admitted, 1000);
}

TEST(NumaAssign, machines_with_many_numa_nodes) {
  for (const std::size_t numas : {13UL, 32UL, 63UL, 64UL}) {
    const NumaNode node = machine(std::vector<std::int32_t>(numas, 4), "single-numa-node");
    const auto total = static_cast<std::int32_t>(4 * numas);
    // Only the last has four.
    CpuSet free;
    for (std::int32_t cpu = 0; cpu < total; ++cpu) {
      if (cpu % 4 != 0 || cpu >= total - 4) free.push_back(cpu);
    }
    const auto result = assign(node, free, 4);
    ASSERT_TRUE(result) << numas;
    EXPECT_EQ(result->all, (CpuSet{total - 4, total - 3, total - 2, total - 1}));
    EXPECT_FALSE(assign(node, free, 5)) << numas;
    const NumaNode all = machine(std::vector<std::int32_t>(numas, 4), "restricted");
    EXPECT_EQ(assign(all, all_of(all), total)->numa_nodes, static_cast<int>(numas));
  }
}

TEST(NumaAssign, more_than_a_word_of_numa_nodes_is_refused) {
  const NumaNode node = machine(std::vector<std::int32_t>(65, 1), "best-effort");
  std::string refusal;
  EXPECT_FALSE(assign(node, all_of(node), 1, &refusal));
  EXPECT_EQ(refusal, "container main cannot be assigned by numa: the node has 65 NUMA nodes, more than 64");
  EXPECT_TRUE(assign(node, all_of(node), 0)) << "who pins none needs none";
}

}  // namespace
}  // namespace scheduler
