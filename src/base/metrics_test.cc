// Metrics: what is counted is what is read, per series, and series go when what they describe goes.
#include "base/metrics.h"

#include <gtest/gtest.h>

namespace base {
namespace {

const MetricRow kRows[] = {
    {"test_pods_total", MetricType::kCounter, {"ns", "queue"}, "Pods."},
    {"test_share", MetricType::kGauge, {}, "A share."},
    {"test_latency", MetricType::kHistogram, {}, "A latency.", {1, 10}},
};

TEST(Metrics, are_read_in_the_text_format_in_a_stable_order) {
  Metrics metrics;
  metrics.add(kRows);
  metrics.counter("test_pods_total", {"b", "q"}).add();
  const Counter counter = metrics.counter("test_pods_total", {"a", "with \"quotes\""});
  counter.add(2);
  metrics.counter("test_pods_total", {"a", "with \"quotes\""}).add();
  metrics.gauge("test_share").set(0.5);
  for (const double value : {0.5, 5.0, 50.0}) metrics.histogram("test_latency").observe(value);
  EXPECT_EQ(metrics.text(),
            "# HELP test_latency A latency.\n# TYPE test_latency histogram\n"
            "test_latency_count 3\ntest_latency_sum 55.5\n"
            "test_latency_bucket{le=\"1\"} 1\ntest_latency_bucket{le=\"10\"} 2\ntest_latency_bucket{le=\"+Inf\"} 3\n"
            "# HELP test_pods_total Pods.\n# TYPE test_pods_total counter\n"
            "test_pods_total{ns=\"a\",queue=\"with \\\"quotes\\\"\"} 3\ntest_pods_total{ns=\"b\",queue=\"q\"} 1\n"
            "# HELP test_share A share.\n# TYPE test_share gauge\ntest_share 0.5\n");
}

TEST(Metrics, without_labels_are_there_before_they_are_counted) {
  Metrics metrics;
  metrics.add(kRows);
  EXPECT_EQ(metrics.text(),
            "# HELP test_latency A latency.\n# TYPE test_latency histogram\n"
            "test_latency_count 0\ntest_latency_sum 0\n"
            "test_latency_bucket{le=\"1\"} 0\ntest_latency_bucket{le=\"10\"} 0\ntest_latency_bucket{le=\"+Inf\"} 0\n"
            "# HELP test_share A share.\n# TYPE test_share gauge\ntest_share 0\n");
}

TEST(Metrics, forget_the_series_of_what_is_gone) {
  Metrics metrics;
  metrics.add(kRows);
  metrics.counter("test_pods_total", {"a", "p"}).add();
  metrics.counter("test_pods_total", {"a", "q"}).add();
  metrics.counter("test_pods_total", {"b", "q"}).add();
  metrics.remove("test_pods_total", {"a"});
  EXPECT_EQ(metrics.text().find("ns=\"a\""), std::string::npos);
  EXPECT_NE(metrics.text().find("test_pods_total{ns=\"b\",queue=\"q\"} 1\n"), std::string::npos);
}

TEST(ExponentialBounds, grow_by_one_factor) {
  const std::vector<double> bounds = exponential_bounds(1, 1000, 4);
  ASSERT_EQ(bounds.size(), 4u);
  EXPECT_DOUBLE_EQ(bounds[1], 10);
  EXPECT_NEAR(bounds[3], 1000, 1e-6);
}

}  // namespace
}  // namespace base
