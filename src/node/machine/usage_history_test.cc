// A bounded number of points over any time.
#include "node/machine/usage_history.h"

#include <gtest/gtest.h>

namespace node {
namespace {

api::NodeUsage reading(std::int64_t second, double cores) {
  api::NodeUsage usage;
  usage.at = base::Time{second * 1'000'000'000};
  usage.machine.cpu_nanocores = static_cast<std::int64_t>(cores * 1e9);
  usage.machine.working_set_bytes = second * 100;
  usage.devices = static_cast<std::int64_t>(cores);
  return usage;
}

TEST(UsageHistory, KeepsEachReadingUntilItIsFullAndThenMeansOfTwo) {
  UsageHistory history(4);
  api::NodeUsage without_mean = reading(5, 0);
  without_mean.machine.cpu_nanocores = -1;
  history.add(without_mean);
  EXPECT_EQ(history.json().dump(), R"({"points":[]})");
  for (const std::int64_t second : {10, 20, 30}) history.add(reading(second, static_cast<double>(second) / 10));
  EXPECT_EQ(history.json().dump(), R"({"points":[[10,1,1000,1],[20,2,2000,2],[30,3,3000,3]]})");
  history.add(reading(40, 4));
  EXPECT_EQ(history.json().dump(), R"({"points":[[20,1.5,1500,1.5],[40,3.5,3500,3.5]]})");
  history.add(reading(50, 5));  // half a point
  EXPECT_EQ(history.json()["points"].size(), 2U);
  history.add(reading(60, 6));
  EXPECT_EQ(history.json().dump(), R"({"points":[[20,1.5,1500,1.5],[40,3.5,3500,3.5],[60,5.5,5500,5.5]]})");
}

TEST(UsageHistory, AYearOfReadingsStaysBounded) {
  UsageHistory history;
  for (std::int64_t i = 1; i <= 3'153'600; ++i) history.add(reading(i * 10, 1));
  const api::Json points = history.json()["points"];
  EXPECT_GE(points.size(), 359U);
  EXPECT_LT(points.size(), 720U);
  EXPECT_LT(points[std::size_t{0}][std::size_t{0}].as_double(), 31'536'000.0 / 300);
}

}  // namespace
}  // namespace node
