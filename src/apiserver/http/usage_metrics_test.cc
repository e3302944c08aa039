// Measurements as objects of metrics.k8s.io.
#include "apiserver/http/usage_metrics.h"

#include <gtest/gtest.h>

namespace apiserver {
namespace {

using api::Json;

api::NodeUsage measured() {
  api::NodeUsage usage;
  usage.at = *base::parse_rfc3339("2026-01-01T00:00:10Z");
  usage.window = base::milliseconds(10'020);
  usage.node = "n1";
  usage.machine.cpu_nanocores = 1'500'000'000;
  usage.machine.working_set_bytes = 2 << 20;
  api::ContainerUsage known{"a", "1", {}, {}}, fresh{"b", "2", {}, {}};
  known.usage.cpu_nanocores = 250'000'000;
  known.usage.working_set_bytes = 4096;
  usage.pods.push_back({"ns", "p", "u", {known, fresh}});
  return usage;
}

TEST(UsageMetrics, are_objects_with_the_labels_of_what_they_are_about) {
  const api::NodeUsage usage = measured();
  const Json node = node_metrics(usage, *api::parse_json(R"({"metadata": {"name": "n1", "labels": {"a": "b"}}})"));
  EXPECT_EQ(
      node.dump(),
      R"({"kind":"NodeMetrics","apiVersion":"metrics.k8s.io/v1beta1","metadata":{"name":"n1","creationTimestamp":)"
      R"("2026-01-01T00:00:10Z","labels":{"a":"b"}},"timestamp":"2026-01-01T00:00:10Z","window":"10.02s",)"
      R"("usage":{"cpu":"1500000000n","memory":"2048Ki"}})");
  const Json pod =
      pod_metrics(usage, usage.pods[0], *api::parse_json(R"({"metadata": {"name": "p", "namespace": "ns"}})"));
  EXPECT_EQ(pod["containers"].dump(), R"([{"name":"a","usage":{"cpu":"250000000n","memory":"4Ki"}}])");
  EXPECT_EQ(pod["metadata"]["namespace"].as_string(), "ns");
}

TEST(UsageMetrics, are_not_there_without_a_mean) {
  api::NodeUsage usage = measured();
  usage.machine.cpu_nanocores = -1;
  usage.pods[0].containers[0].usage.cpu_nanocores = -1;
  EXPECT_TRUE(node_metrics(usage, Json::object()).is_null());
  EXPECT_TRUE(pod_metrics(usage, usage.pods[0], Json::object()).is_null());
}

}  // namespace
}  // namespace apiserver
