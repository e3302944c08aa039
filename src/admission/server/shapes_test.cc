// No shape of an object stops the program: values of any type at any place are answered, not CHECKed.
#include <gtest/gtest.h>

#include "admission/rules/fake_objects_for_tests.h"
#include "admission/server/review.h"
#include "api/schema/quantity.h"
#include "base/random.h"

namespace admission {
namespace {

using api::Json;
using api::Operation;

constexpr std::string_view kSeeds[] = {
    R"({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j", "namespace": "ns",
       "labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": {"minAvailable": 1, "queue": "q", "plugins": {"mpi":
       ["--master=a"], "svc": []}, "policies": [{"event": "PodFailed", "events": ["*"], "exitCode": 3, "action": "x",
       "timeout": "1s"}], "networkTopology": {"highestTierAllowed": 1, "highestTierName": "x"}, "volumes": [{"mountPath":
       "/a", "volumeClaim": {}, "volumeClaimName": "n"}], "tasks": [{"name": "a", "replicas": 2, "minAvailable": 1,
       "dependsOn": {"name": ["b"]}, "partitionPolicy": {"totalPartitions": 1, "partitionSize": 2}, "topologyPolicy":
       "restricted", "template": {"metadata": {"labels": {}}, "spec": {"hostNetwork": true, "initContainers": [{"name":
       "i"}], "containers": [{"name": "c", "image": "i", "env": [{"name": "A", "valueFrom": {"fieldRef": {}}}],
       "envFrom": [{}], "ports": [{"containerPort": 1}], "volumeMounts": [{"name": "v"}], "livenessProbe": {"httpGet":
       {"port": 1}}, "resources": {"requests": {"cpu": 1}, "limits": {"cpu": "1"}}}], "volumes": [{"name": "v",
       "secret": {"items": [{}]}}], "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
       {"nodeSelectorTerms": [{"matchExpressions": [{}]}]}}}, "tolerations": [{}]}}}]}})",
    R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "n", "annotations":
       {"volcano.sh/hierarchy": "a/b", "volcano.sh/hierarchy-weights": "1/2"}}, "spec": {"parent": "q", "weight": 1,
       "capability": {"cpu": 1, "pods": "1"}, "deserved": {"cpu": 1}, "guarantee": {"resource": {"cpu": 1}}}, "status":
       {"state": "Open", "allocated": {"pods": "1"}}})",
    R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"},
       "spec": {"queue": "default", "networkTopology": {}, "subGroupPolicy": [{"networkTopology": {}}]}})",
    R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "annotations":
       {"volcano.sh/jdb-min-available": "1", "scheduling.volcano.sh/queue-allocation-gate": "true"}}, "spec":
       {"schedulerName": "volcano", "nodeSelector": {}, "tolerations": [], "schedulingGates": [{"name": "x"}]}})"};

Json strange_value(base::Random& dice) {
  switch (dice.below(9)) {
    case 0: return {};
    case 1: return true;
    case 2: return -1;
    case 3: return 1e300;
    case 4: return "";
    case 5: return "../\xff~1{}";
    case 6: return Json::array({Json(), "x", 3});
    case 7: return Json::object({{"x", "y"}});
    default: return std::int64_t{INT64_MAX};
  }
}

// Replaces one value somewhere below `json`.
void disturb(Json& json, base::Random& dice) {
  if (json.size() == 0 || dice.chance(0.15)) {
    json = strange_value(dice);
    return;
  }
  const std::size_t index = dice.below(json.size());
  if (json.is_array()) return disturb(json.edit(index), dice);
  const std::string key(json.members()[index].name());
  disturb(json.edit(key), dice);
}

TEST(Admission, answers_objects_of_any_shape) {
  base::Random dice(7);
  FakeObjects objects;
  objects.add(api::resources::kQueues, R"({"metadata": {"name": "q"}, "spec": {"parent": "root"}})");
  Options options{.scheduling_gates_queue_admission = true};
  options.pod_rules = {PodGroupRule{.name = "x",
                                    .key = "namespace",
                                    .values = {"ns"},
                                    .scheduler_name = "s",
                                    .labels = Json::object({{"a", "b"}}),
                                    .affinity = "{}",
                                    .tolerations = Json::array({Json::object()})}};
  const auto all = hooks(options);
  for (int round = 0; round < 20000; ++round) {
    Json before = *api::parse_json(kSeeds[dice.below(std::size(kSeeds))]);
    Json after = before;
    for (std::uint64_t i = dice.below(4); i > 0; --i) disturb(after, dice);
    if (dice.chance(0.3)) disturb(before, dice);
    for (const api::AdmissionHook& hook : all)
      for (const Operation operation : {Operation::kCreate, Operation::kUpdate, Operation::kDelete})
        hook.review({.operation = operation,
                     .resource = hook.resource,
                     .kind = hook.kind,
                     .subresource = {},
                     .ns = "ns",
                     .name = "n",
                     .object = after,
                     .old_object = before},
                    objects);
    if (!after.is_object()) continue;
    ObjectSet set;
    set.put(after);
    if (round % 20 == 0) admit_manifest(after, all, set);
    EXPECT_FALSE(read_review(after).ok());
  }
}

}  // namespace
}  // namespace admission
