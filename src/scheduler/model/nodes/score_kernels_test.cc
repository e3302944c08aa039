// Kernels over columns of scores say what a loop says.
#include "scheduler/model/nodes/score_kernels.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace scheduler {
namespace {

TEST(ScoreKernels, the_first_of_the_highest_is_chosen) {
  base::Random random(5);
  for (int round = 0; round < 500; ++round) {
    const std::size_t words = 1 + random.below(5);
    std::vector<std::uint64_t> chosen(words);
    std::vector<double> totals(words * 64);
    // Few different scores, so that ties are frequent; negative ones, too.
    for (double& total : totals) total = static_cast<double>(random.below(4)) - 2.5;
    chosen[random.below(words)] |= std::uint64_t{1} << random.below(64);
    for (std::size_t more = random.below(80); more > 0; --more)
      chosen[random.below(words)] |= std::uint64_t{1} << random.below(64);
    std::size_t expected = totals.size(), bits = 0;
    for (std::size_t i = 0; i < totals.size(); ++i) {
      if ((chosen[i / 64] >> (i % 64) & 1) == 0) continue;
      ++bits;
      if (expected == totals.size() || totals[i] > totals[expected]) expected = i;
    }
    ASSERT_EQ(first_highest(totals.data(), chosen.data(), words), expected) << "round " << round;
    ASSERT_EQ(count_bits(chosen.data(), words), bits) << "round " << round;
  }
}

TEST(ScoreKernels, weighted_columns_are_added_to_the_last_row) {
  for (std::size_t count = 0; count < 12; ++count) {
    std::vector<double> scores(count), totals(count + 1, 0.1);
    for (std::size_t i = 0; i < count; ++i) scores[i] = 0.3 * static_cast<double>(i);
    add_weighted(scores.data(), 0.7, totals.data(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(totals[i], 0.1 + 0.7 * scores[i]) << count << " " << i;
    EXPECT_EQ(totals[count], 0.1);
  }
}

}  // namespace
}  // namespace scheduler
