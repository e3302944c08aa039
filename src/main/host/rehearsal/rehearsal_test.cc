// A job that does not exist yet, on small clusters: it starts, waits for a reason, evicts, or is too large.
#include "main/host/rehearsal/rehearsal.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace volcano_main {
namespace {

using api::Json;

constexpr std::string_view kPreempting =
    "actions: \"enqueue, allocate, preempt\"\ntiers:\n- plugins:\n  - name: priority\n  - name: gang\n    "
    "enablePreemptable: false\n"
    "  - name: conformance\n"
    "- plugins:\n  - name: predicates\n  - name: nodeorder\n";

std::string cluster(int nodes, std::string_view more = "") {
  std::string items = Json::object({{"apiVersion", "scheduler.volcano.sh/v1"},
                                    {"kind", "SchedulerState"},
                                    {"now", "2026-01-01T00:00:00Z"},
                                    {"configuration", kPreempting}})
                          .dump();
  for (int i = 0; i < nodes; ++i) {
    items += base::format(
        R"(,{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"n{0}","uid":"n{0}"}},"status":{{"allocatable":{{"cpu":"4","memory":"8Gi","pods":"110"}},"capacity":{{"cpu":"4","memory":"8Gi","pods":"110"}},"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
        i);
  }
  items +=
      R"(,{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"default","uid":"q"},"spec":{"weight":1},"status":{"state":"Open"}})"
      R"(,{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high","uid":"h"},"value":1000})";
  return base::format(R"({{"apiVersion":"v1","kind":"List","items":[{}{}]}})", items, more);
}

// A group of one running pod that takes three CPUs of a node.
std::string running(int i) {
  return base::format(
      R"(,{{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{{"namespace":"default","name":"old{0}","uid":"g{0}"}},"spec":{{"minMember":1,"queue":"default"}},"status":{{"phase":"Running"}}}},{{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"default","name":"old{0}","uid":"p{0}","annotations":{{"scheduling.k8s.io/group-name":"old{0}","volcano.sh/preemptable":"true"}}}},"spec":{{"schedulerName":"volcano","nodeName":"n{0}","containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"3"}}}}}}]}},"status":{{"phase":"Running"}}}})",
      i);
}

Json job(std::int64_t replicas, std::string_view cpu, std::string_view priority = "") {
  Json pod_spec = Json::object(
      {{"containers",
        Json::array({Json::object({{"name", "c"},
                                   {"image", "i"},
                                   {"resources", Json::object({{"requests", Json::object({{"cpu", cpu}})}})}})})}});
  Json spec = Json::object(
      {{"minAvailable", replicas},
       {"queue", "default"},
       {"schedulerName", "volcano"},
       {"tasks", Json::array({Json::object({{"name", "main"},
                                            {"replicas", replicas},
                                            {"template", Json::object({{"spec", std::move(pod_spec)}})}})})}});
  if (!priority.empty()) spec.set("priorityClassName", priority);
  return Json::object(
      {{"apiVersion", "batch.volcano.sh/v1alpha1"},
       {"kind", "Job"},
       {"metadata",
        Json::object(
            {{"namespace", "default"}, {"name", "new"}, {"uid", "u"}, {"creationTimestamp", "2026-01-01T00:00:00Z"}})},
       {"spec", std::move(spec)}});
}

TEST(Rehearsal, tells_what_would_become_of_a_job) {
  struct Row {
    std::string_view name;
    std::string cluster;
    Json job;
    std::int64_t starting, nodes, evictions;
    std::string_view reason;  // part of the message; empty: nothing waits
  };
  const Row rows[] = {
      {"an empty cluster", cluster(2), job(4, "2"), 4, 2, 0, ""},
      {"a gang that is too large", cluster(2), job(5, "2"), 0, 0, 0, "cpu"},
      {"a pod that is too large", cluster(2), job(1, "5"), 0, 0, 0, "cpu"},
      {"a full cluster", cluster(1, running(0)), job(1, "2"), 0, 0, 0, "cpu"},
      {"a full cluster and a priority", cluster(1, running(0)), job(1, "2", "high"), 1, 1, 1, ""},
      {"a queue that is not there", cluster(1),
       [] {
         Json other = job(1, "1");
         other.edit_path({"spec", "queue"}) = "nowhere";
         return other;
       }(),
       0, 0, 0, "nowhere"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto answer = rehearse(row.cluster, row.job, {}, {});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ((*answer)["starting"].as_int(), row.starting) << answer->dump();
    EXPECT_EQ((*answer)["nodes"].as_int(), row.nodes);
    EXPECT_EQ((*answer)["evictions"].as_int(), row.evictions);
    const std::string message = (*answer)["reason"]["message"].str();
    EXPECT_EQ(message.empty(), row.reason.empty()) << message;
    EXPECT_NE(message.find(row.reason), std::string::npos) << message;
  }
}

TEST(Rehearsal, refuses_a_job_that_it_cannot_place) {
  EXPECT_EQ(rehearse(cluster(1), job(0, "1"), {}, {}).error().message, "spec.tasks: the job has no pods to place");
  EXPECT_EQ(rehearse(cluster(1), job(5'001, "1"), {}, {}).error().message,
            "spec.tasks: 5001 pods are more than the 5000 that are rehearsed");
  Json large = job(5'000, "1");
  large.edit_path({"spec"}).edit("tasks").edit(0).edit_path({"template", "metadata", "annotations", "note"}) =
      std::string(100'000, 'x');
  EXPECT_EQ(rehearse(cluster(1), large, {}, {}).error().message,
            "spec.tasks: the pods together have more than the 64 MiB that are rehearsed");
  EXPECT_FALSE(rehearse("{", job(1, "1"), {}, {}).ok());
}

TEST(Rehearsal, knows_the_claims_that_come_with_a_job) {
  Json asks = job(1, "1");
  Json& spec = asks.edit_path({"spec"}).edit("tasks").edit(0).edit_path({"template", "spec"});
  spec.set(
      "volumes",
      Json::array({Json::object({{"name", "v"}, {"persistentVolumeClaim", Json::object({{"claimName", "data"}})}})}));
  const Json claim =
      api::parse_json(
          R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"namespace":"default","name":"data"},"spec":{"storageClassName":"local","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}},"status":{"phase":"Pending"}})")
          .value();
  const std::string with_class = cluster(
      1,
      R"(,{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"local","uid":"s"},"provisioner":"p","volumeBindingMode":"WaitForFirstConsumer"})");
  EXPECT_EQ((*rehearse(with_class, asks, {claim}, {}))["starting"].as_int(), 1);
  const auto without = rehearse(with_class, asks, {}, {});
  EXPECT_EQ((*without)["starting"].as_int(), 0);
  EXPECT_NE((*without)["reason"]["message"].str().find("data"), std::string::npos) << without->dump();
}

}  // namespace
}  // namespace volcano_main
