// Binpack by columns says the same as binpack node by node, to the last bit.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/random.h"
#include "scheduler/plugins/binpack/binpack_kernel.h"

namespace scheduler {
namespace {

// spec/scheduler 5 (binpack): cpu 2 of 4 and memory 4 of 8 in use, the pod asks for 1 and 2, weights 1 and 3.
TEST(Binpack, is_the_weighted_mean_of_what_is_in_use) {
  const std::vector<std::int64_t> cpu{4, 4, 0, 2}, cpu_used{2, 4, 0, 2}, memory{8, 8, 8, 8}, memory_used{4, 0, 2, 0};
  const BinpackTerm terms[] = {{cpu.data(), cpu_used.data(), 1, 1}, {memory.data(), memory_used.data(), 2, 3}};
  EXPECT_DOUBLE_EQ(binpack_score(terms, 4, 1, 0), (0.75 * 1 + 0.75 * 3) / 4 * 100);
  EXPECT_EQ(binpack_score(terms, 4, 1, 1), 0) << "cpu does not suffice";
  EXPECT_DOUBLE_EQ(binpack_score(terms, 4, 2, 2), 0.5 * 3 / 4 * 100 * 2) << "no cpu is offered";
  EXPECT_EQ(binpack_score(terms, 4, 1, 3), 0);
  const BinpackTerm free[] = {{cpu.data(), cpu_used.data(), 1, 1, true}, {memory.data(), memory_used.data(), 2, 3}};
  EXPECT_DOUBLE_EQ(binpack_score(free, 4, 1, 0), (0.25 * 1 + 0.75 * 3) / 4 * 100) << "of cpu what stays free";
}

TEST(Binpack, by_columns_is_bit_equal) {
  base::Random random(11);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 4 * (1 + random.below(40));
    const bool huge = random.chance(0.2);
    std::vector<std::vector<std::int64_t>> columns;
    std::vector<BinpackTerm> terms;
    const std::size_t kinds = 1 + random.below(4);
    for (std::size_t k = 0; k < kinds; ++k) {
      std::vector<std::int64_t> capacity(count), used(count);
      for (std::size_t n = 0; n < count; ++n) {
        const std::uint64_t range = huge && random.chance(0.1) ? (1ULL << 62) : (1ULL << (1 + random.below(51)));
        capacity[n] = random.chance(0.1) ? 0 : static_cast<std::int64_t>(random.below(range));
        used[n] = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(capacity[n]) + 1));
      }
      columns.push_back(std::move(capacity));
      columns.push_back(std::move(used));
    }
    double divisor = 0;
    for (std::size_t k = 0; k < kinds; ++k) {
      const auto weight = static_cast<double>(1 + random.below(10));
      const auto amount = static_cast<std::int64_t>(1 + random.below(huge ? 1ULL << 60 : 1ULL << 20));
      terms.push_back({columns[2 * k].data(), columns[2 * k + 1].data(), amount, weight, random.chance(0.3)});
      divisor += weight;
    }
    std::vector<double> totals(count, 0.25), expected = totals;
    add_binpack_scores(terms, divisor, 5, totals.data(), count);
    for (std::size_t n = 0; n < count; ++n) expected[n] += binpack_score(terms, divisor, 5, n);
    ASSERT_EQ(std::memcmp(totals.data(), expected.data(), count * sizeof(double)), 0) << "round " << round;
  }
}

}  // namespace
}  // namespace scheduler
