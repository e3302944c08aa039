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
    const auto answer = rehearse(row.cluster, {.workloads = {row.job}}, {});
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
  const auto refusal = [](std::vector<Json> objects) {
    return rehearse(cluster(1), {.workloads = std::move(objects)}, {}).error().message;
  };
  EXPECT_EQ(refusal({job(0, "1")}), "no object has pods to place");
  EXPECT_EQ(refusal({job(5'001, "1")}), "Job new: 5001 pods are more than the 5000 that are rehearsed");
  EXPECT_EQ(refusal({job(2'501, "1"), job(2'500, "1")}),
            "Job new: 5001 pods are more than the 5000 that are rehearsed");
  Json large = job(5'000, "1");
  large.edit_path({"spec"}).edit("tasks").edit(0).edit_path({"template", "metadata", "annotations", "note"}) =
      std::string(100'000, 'x');
  EXPECT_EQ(refusal({large}), "Job new: the pods together have more than the 64 MiB that are rehearsed");
  EXPECT_FALSE(rehearse("{", {.workloads = {job(1, "1")}}, {}).ok());
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
  EXPECT_EQ((*rehearse(with_class, {{asks}, {claim}}, {}))["starting"].as_int(), 1);
  const auto without = rehearse(with_class, {.workloads = {asks}}, {});
  EXPECT_EQ((*without)["starting"].as_int(), 0);
  EXPECT_NE((*without)["reason"]["message"].str().find("data"), std::string::npos) << without->dump();
}

Json parsed(std::string_view text) {
  auto json = api::parse_json(text);
  EXPECT_TRUE(json.ok()) << text;
  return json.ok() ? *json : Json();
}

std::string pod_spec(std::string_view cpu, std::string_view container = "c", std::string_view scheduler = "volcano") {
  return base::format(
      R"("spec":{{"schedulerName":"{}","containers":[{{"name":"{}","image":"i","resources":{{"requests":{{"cpu":"{}"}}}}}}]}})",
      scheduler, container, cpu);
}

std::string metadata(std::string_view name, std::string_view more = "") {
  return base::format(
      R"("metadata":{{"namespace":"default","name":"{0}","uid":"u-{0}","creationTimestamp":"2026-01-01T00:00:00Z"{1}}})",
      name, more);
}

constexpr std::string_view kOfGang = R"(,"annotations":{"scheduling.k8s.io/group-name":"gang"})";

Json group(int members) {
  return parsed(
      base::format(R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",{},"spec":{{"minMember":{}}}}})",
                   metadata("gang"), members));
}
Json pod(std::string_view name, std::string_view cpu, std::string_view more = "",
         std::string_view scheduler = "volcano") {
  return parsed(
      base::format(R"({{"apiVersion":"v1","kind":"Pod",{},{}}})", metadata(name, more), pod_spec(cpu, "c", scheduler)));
}
Json batch_job(int parallelism, std::string_view cpu, std::string_view more = "", std::string_view of_pods = "",
               std::string_view fields = "") {
  return parsed(base::format(
      R"({{"apiVersion":"batch/v1","kind":"Job",{},"spec":{{"parallelism":{},{}"template":{{"metadata":{{"labels":{{"a":"b"}}{}}},{}}}}}}})",
      metadata("plain", more), parallelism, fields, of_pods, pod_spec(cpu)));
}
// Workers beside one master, which asks for as much as each of them.
Json training_job(int workers, std::string_view cpu, std::string_view policy = "{}") {
  const std::string spec = pod_spec(cpu, "pytorch", "");
  return parsed(base::format(
      R"({{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob",{0},"spec":{{"runPolicy":{3},"pytorchReplicaSpecs":{{"Master":{{"replicas":1,"template":{{{1}}}}},"Worker":{{"replicas":{2},"template":{{{1}}}}}}}}}}})",
      metadata("train"), spec, workers, policy));
}

// The cluster has two nodes of four CPUs each.
TEST(Rehearsal, asks_for_the_pods_of_every_kind_that_the_scheduler_places) {
  struct Row {
    std::string_view name;
    std::vector<Json> objects;
    std::int64_t pods, starting;
    std::string_view reason;
  };
  const Row rows[] = {
      {"a training job", {training_job(3, "2")}, 4, 4, ""},
      {"a training job that is too large", {training_job(4, "2")}, 5, 0, "cpu"},
      {"a training job of which a part is enough",
       {training_job(4, "2", R"({"schedulingPolicy":{"minAvailable":3}})")},
       5,
       4,
       ""},
      {"pods of a group", {group(2), pod("a", "2", kOfGang), pod("b", "2", kOfGang)}, 2, 2, ""},
      {"pods of a group that is too large",
       {group(3), pod("a", "4", kOfGang), pod("b", "4", kOfGang), pod("d", "4", kOfGang)},
       3,
       0,
       "cpu"},
      {"a pod without a group", {pod("a", "2")}, 1, 1, ""},
      {"pods of which each is alone", {pod("a", "4"), pod("b", "4"), pod("d", "4")}, 3, 2, "cpu"},
      {"a Job of pods that come as they can", {batch_job(3, "4")}, 3, 2, ""},
      {"a Job whose pods start together",
       {batch_job(3, "4", R"(,"annotations":{"scheduling.volcano.sh/group-min-member":"3"})")},
       3,
       0,
       "cpu"},
      {"a Job of a native gang",
       {batch_job(3, "4", "", "", R"("scheduling":{"schedulingPolicy":{"gang":{}}},)")},
       3,
       0,
       "cpu"},
      {"a Job of a native gang with a minimum",
       {batch_job(3, "4", "", "", R"("scheduling":{"schedulingPolicy":{"gang":{"minCount":2}}},)")},
       3,
       2,
       ""},
      {"a Job of a group", {group(2), batch_job(2, "4", "", kOfGang)}, 2, 2, ""},
      {"a Job with less to do than it may", {batch_job(3, "1", "", "", R"("completions":2,)")}, 2, 2, ""},
      {"several at once", {job(1, "4"), training_job(1, "2")}, 3, 3, ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto answer = rehearse(cluster(2), {.workloads = row.objects}, {});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ((*answer)["pods"].as_int(), row.pods);
    EXPECT_EQ((*answer)["starting"].as_int(), row.starting) << answer->dump();
    const std::string message = (*answer)["reason"]["message"].str();
    EXPECT_EQ(message.empty(), row.reason.empty()) << message;
    EXPECT_NE(message.find(row.reason), std::string::npos) << message;
  }
}

TEST(Rehearsal, says_whose_pods_it_cannot_ask_about) {
  const std::pair<Json, std::string_view> rows[] = {
      {pod("a", "1", "", "default-scheduler"),
       "Pod a: the scheduler \"default-scheduler\" places its pods, and is not asked here"},
      {parsed(
           R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"namespace":"n","name":"a","uid":"u"},)"
           R"("spec":{"tasks":[{"name":"t","replicas":1,"template":{"spec":{"containers":[{"name":"c"}]}}}]}})"),
       "Job a: the scheduler \"default-scheduler\" places its pods, and is not asked here"},
      {batch_job(1, "1", "", "", R"("suspend":true,)"), "no object has pods to place"},
      {training_job(1, "1", R"({"suspend":true})"), "no object has pods to place"},
      {group(1), "no object has pods to place"},
      {parsed(base::format(R"({{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob",{},"spec":{{"pytorchReplicaSpecs":)"
                           R"({{"Worker":{{"replicas":1,"template":{{{}}}}}}}}}}})",
                           metadata("odd"), pod_spec("1", "other"))),
       "PyTorchJob odd: "},
  };
  for (const auto& [object, message] : rows) {
    const auto answer = rehearse(cluster(1), {.workloads = {object}}, {});
    ASSERT_FALSE(answer.ok()) << object.dump();
    EXPECT_TRUE(answer.error().message.starts_with(message)) << answer.error().message;
  }
}

}  // namespace
}  // namespace volcano_main
