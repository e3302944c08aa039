// Which controllers --controllers switches on.
#include "controllers/all.h"

#include <gtest/gtest.h>

#include "controllers/framework/metrics.h"

namespace controllers {
namespace {

TEST(Selection, the_first_hit_decides) {
  struct Row {
    std::vector<std::string> list;
    bool enabled;
  };
  const Row rows[] = {
      {{}, true},     {{"*"}, true},  {{"*", "-x"}, false}, {{"x", "-x"}, true}, {{"-x", "x"}, false},
      {{"+x"}, true}, {{"y"}, false}, {{"y", "*"}, true},   {{"-y"}, false},     {{"*", "-sharding-controller"}, true}};
  for (const Row& row : rows) EXPECT_EQ(is_enabled(row.list, "x"), row.enabled);
}

TEST(Metrics, are_written_as_prometheus_reads_them) {
  EXPECT_EQ(metric_labels({{"a", "x"}, {"b", "q\"\\\n"}}), "{a=\"x\",b=\"q\\\"\\\\\\n\"}");
  Histogram histogram({1, 10});
  for (const double value : {0.5, 5.0, 50.0}) histogram.observe(value);
  EXPECT_EQ(histogram.text("m"),
            "m_bucket{le=\"1\"} 1\nm_bucket{le=\"10\"} 2\nm_bucket{le=\"+Inf\"} 3\nm_sum 55.5\nm_count 3\n");
  const auto bounds = exponential_bounds(50, 60000, 30);
  EXPECT_EQ(bounds.size(), 30u);
  EXPECT_DOUBLE_EQ(bounds.front(), 50);
  EXPECT_NEAR(bounds.back(), 60000, 1e-6);
}

}  // namespace
}  // namespace controllers
