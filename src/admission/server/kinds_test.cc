// Admission of Queues, PodGroups and Pods: webhooks.md 6 to 9.
#include <gtest/gtest.h>

#include "admission/rules/fake_objects_for_tests.h"
#include "base/format.h"

namespace admission {
namespace {

using api::Json;
using api::Operation;

Json queue(std::string_view name, std::string_view spec, std::string_view annotations = "{}",
           std::string_view status = "{}") {
  return json(base::format(R"({{"metadata": {{"name": "{}", "annotations": {}}}, "spec": {}, "status": {}}})", name,
                           annotations, spec, status));
}

TEST(QueueDefaults, reclaimable_weight_and_rooted_hierarchy) {
  const auto answer = ask(
      "/queues/mutate", Operation::kCreate,
      queue("q", R"({"weight": 0})", R"({"volcano.sh/hierarchy": "a/b", "volcano.sh/hierarchy-weights": "1/2"})"), {});
  EXPECT_EQ((*answer.object)["spec"].dump(), R"({"weight":1,"reclaimable":true})");
  EXPECT_EQ((*answer.object)["metadata"]["annotations"].dump(),
            R"({"volcano.sh/hierarchy":"root/a/b","volcano.sh/hierarchy-weights":"1/1/2"})");
  EXPECT_EQ(ask("/queues/mutate", Operation::kUpdate, queue("q", "{}"), {}).message,
            "invalid operation `UPDATE`, expect operation to be `CREATE`");
}

TEST(QueueDefaults, leave_what_has_a_wrong_type_to_the_schema) {
  constexpr std::string_view kWrong = R"({"reclaimable":"false","weight":"5"})";
  EXPECT_EQ((*ask("/queues/mutate", Operation::kCreate, queue("q", kWrong), {}).object)["spec"].dump(), kWrong);
  EXPECT_FALSE(ask("/queues/mutate", Operation::kCreate, queue("q", R"("x")"), {}).object);
}

FakeObjects tree() {
  FakeObjects objects;
  for (const Json& one :
       {queue("root", "{}"), queue("default", R"({"parent": "root"})"),
        queue("a", R"({"parent": "root", "capability": {"cpu": 10, "memory": "10Gi"}, "deserved": {"cpu": 8},
                       "guarantee": {"resource": {"cpu": 6}}})"),
        queue("b", R"({"parent": "a", "deserved": {"cpu": 5}, "guarantee": {"resource": {"cpu": 4}},
                       "capability": {"cpu": 9}})"),
        queue("c", R"({"parent": "b"})"), queue("d", R"({"parent": "c"})"), queue("e", R"({"parent": "d"})"),
        queue("busy", R"({"parent": "root"})", "{}", R"({"allocated": {"pods": "3"}})"),
        queue("h", "{}", R"({"volcano.sh/hierarchy": "root/x/y", "volcano.sh/hierarchy-weights": "1/1/1"})")})
    objects.objects[api::resources::kQueues].push_back(one);
  return objects;
}

struct QueueRow {
  std::string_view name;
  std::string_view spec;
  std::string_view message;
};

TEST(QueueValidation, of_one_queue_and_of_the_tree) {
  constexpr QueueRow kRows[] = {
      {"n", R"({"weight": 1})", ""},
      {"n", R"({"capability": {"cpu": "-1"}})",
       "requestBody.spec.capability.cpu: Invalid value: \"-1\": must be greater than or equal to 0"},
      {"n", R"({"capability": {"pods": "1500m"}})",
       "requestBody.spec.capability.pods: Invalid value: \"1500m\": must be an integer"},
      {"n", R"({"guarantee": {"resource": {"cpu": 2}}})",
       "requestBody.spec.deserved.cpu: Invalid value: \"<nil>\": deserved[cpu] must be >= guarantee[cpu]=2"},
      {"n", R"({"guarantee": {"resource": {"cpu": 2}}, "deserved": {"cpu": 1}})",
       "requestBody.spec.deserved.cpu: Invalid value: \"1\": deserved[cpu]=1 must be >= guarantee[cpu]=2"},
      {"n", R"({"deserved": {"cpu": 2}, "capability": {"cpu": 1}})",
       "requestBody.spec.deserved.cpu: Invalid value: \"2\": deserved[cpu]=2 must be <= capability[cpu]=1"},
      {"n", R"({"capability": {"cpu": "-1", "memory": "-1"}})",
       "[requestBody.spec.capability.cpu: Invalid value: \"-1\": must be greater than or equal to 0, "
       "requestBody.spec.capability.memory: Invalid value: \"-1\": must be greater than or equal to 0]"},
      {"n", R"({"parent": "n"})", "queue n cannot use itself as parent"},
      {"n", R"({"parent": "d"})", ""},
      {"n", R"({"parent": "e"})", "queue n exceeds the maximum allowed depth of 5"},
      {"n", R"({"parent": "nobody"})",
       "failed to get parent queue nobody of queue n: queue.scheduling.volcano.sh \"nobody\" not found"},
      {"n", R"({"parent": "busy"})",
       "queue busy cannot be the parent queue of queue n because it has allocated Pods: 3"},
      {"n", R"({"parent": "a", "capability": {"cpu": 11}})",
       "queue n capability[cpu]=11 exceeds its ancestor's capability=10"},
      {"n", R"({"parent": "a", "capability": {"memory": "9e18"}})",
       "queue n capability[memory]=8789062500000000Ki exceeds its ancestor's capability=10Gi"},
      {"n", R"({"parent": "a", "capability": {"memory": "1e30"}})",
       "queue n capability[memory]=9223372036854775807 exceeds its ancestor's capability=10Gi"},
      {"n", R"({"parent": "a", "guarantee": {"resource": {"cpu": 3}}, "deserved": {"cpu": 3}})",
       "parent queue a validation failed: sum of children's guarantee (cpu 7000.00, memory 0.00) exceeds parent's "
       "guarantee limit (cpu 6000.00, memory 0.00)"},
      {"n", R"({"parent": "a", "deserved": {"cpu": 4}})",
       "parent queue a validation failed: sum of children's deserved (cpu 9000.00, memory 0.00) exceeds parent's "
       "deserved limit (cpu 8000.00, memory 0.00)"},
      {"a",
       R"({"parent": "root", "capability": {"cpu": 8}, "deserved": {"cpu": 8}, "guarantee": {"resource": {"cpu": 6}}})",
       "queue a capability[cpu]=8 is smaller than its descendants' max capability=9"},
      {"a",
       R"({"parent": "root", "capability": {"cpu": 10}, "deserved": {"cpu": 8}, "guarantee": {"resource": {"cpu": 1}}})",
       "queue a validation failed: sum of children's guarantee (cpu 4000.00, memory 0.00) exceeds parent's guarantee "
       "limit (cpu 1000.00, memory 0.00)"},
      {"a",
       R"({"parent": "root", "capability": {"cpu": 10}, "deserved": {"cpu": 4}, "guarantee": {"resource": {"cpu": 4}}})",
       "queue a validation failed: sum of children's deserved (cpu 5000.00, memory 0.00) exceeds parent's deserved "
       "limit "
       "(cpu 4000.00, memory 0.00)"},
  };
  for (const QueueRow& row : kRows)
    EXPECT_EQ(ask("/queues/validate", Operation::kCreate, queue(row.name, row.spec), tree()).message, row.message)
        << row.name << " " << row.spec;
}

TEST(QueueValidation, state_and_hierarchy) {
  EXPECT_EQ(ask("/queues/validate", Operation::kCreate, queue("n", "{}", "{}", R"({"state": "Odd"})"), tree()).message,
            "requestBody.spec.state: Invalid value: \"Odd\": queue state must be in [Open Closed]");
  struct Row {
    std::string_view annotations;
    std::string_view message;
  };
  constexpr Row kRows[] = {
      {R"({"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1"})",
       "requestBody.metadata.annotations: Invalid value: \"root/a\": volcano.sh/hierarchy must have the same length "
       "with "
       "volcano.sh/hierarchy-weights"},
      {R"({"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/x"})",
       "requestBody.metadata.annotations: Invalid value: \"1/x\": x in the 1/x is invalid number: strconv.ParseFloat: "
       "parsing \"x\": invalid syntax"},
      {R"({"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/0"})",
       "requestBody.metadata.annotations: Invalid value: \"1/0\": 0 in the 1/0 must be larger than 0"},
      {R"({"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/1e400"})",
       "requestBody.metadata.annotations: Invalid value: \"1/1e400\": 1e400 in the 1/1e400 is invalid number: "
       "strconv.ParseFloat: parsing \"1e400\": value out of range"},
      {R"({"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/0x10"})",
       "requestBody.metadata.annotations: Invalid value: \"1/0x10\": 0x10 in the 1/0x10 is invalid number: "
       "strconv.ParseFloat: parsing \"0x10\": invalid syntax"},
      {R"({"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/\t2"})",
       "requestBody.metadata.annotations: Invalid value: \"1/\\t2\": \t2 in the 1/\t2 is invalid number: "
       "strconv.ParseFloat: parsing \"\\t2\": invalid syntax"},
      {R"({"volcano.sh/hierarchy": "root/x", "volcano.sh/hierarchy-weights": "1/2"})",
       "requestBody.metadata.annotations: Invalid value: \"root/x\": root/x is not allowed to be in the sub path of "
       "root/x/y of queue h"},
      {R"({"volcano.sh/hierarchy": "root/z", "volcano.sh/hierarchy-weights": "1/2"})", ""},
      {R"({"volcano.sh/hierarchy": "root/z", "volcano.sh/hierarchy-weights": "1/1_000"})", ""},
      {R"({"volcano.sh/hierarchy": "root/z", "volcano.sh/hierarchy-weights": "1/1__0"})",
       "requestBody.metadata.annotations: Invalid value: \"1/1__0\": 1__0 in the 1/1__0 is invalid number: "
       "strconv.ParseFloat: parsing \"1__0\": invalid syntax"},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(ask("/queues/validate", Operation::kCreate, queue("n", "{}", row.annotations), tree()).message,
              row.message);
}

TEST(QueueValidation, root_keeps_its_resources) {
  const Json before = queue("root", "{}");
  const Json after = queue("root", R"({"capability": {"cpu": 1}})");
  EXPECT_EQ(ask("/queues/validate", Operation::kUpdate, after, tree(), {}, before).message,
            "root queue's resource attributes (capability, deserved, guarantee) cannot be modified");
  EXPECT_EQ(
      ask("/queues/validate", Operation::kUpdate, after, tree(), {.root_queue_protection = false}, before).message, "");
  // An amount of 0 is an amount.
  const Json zero = queue("root", R"({"capability": {"cpu": 0}})");
  for (const auto& [from, to] : {std::pair(before, zero), std::pair(zero, before)})
    EXPECT_FALSE(ask("/queues/validate", Operation::kUpdate, to, tree(), {}, from).allowed);
  EXPECT_TRUE(ask("/queues/validate", Operation::kUpdate, queue("root", R"({"capability": {}, "guarantee": {}})"),
                  tree(), {}, before)
                  .allowed);
  EXPECT_FALSE(ask("/queues/validate", Operation::kUpdate,
                   queue("n", R"({"parent": "a", "deserved": {"nvidia.com/gpu": 0}})"), tree(), {},
                   queue("n", R"({"parent": "a"})"))
                   .allowed);
}

TEST(QueueValidation, deletion) {
  struct Row {
    std::string_view name;
    std::string_view message;
  };
  constexpr Row kRows[] = {{"default", "`default` queue can not be deleted"},
                           {"root", "`root` queue can not be deleted"},
                           {"nobody", "queue.scheduling.volcano.sh \"nobody\" not found"},
                           {"a", "queue a can not be deleted because it has 1 child queues: b"},
                           {"busy", ""},
                           {"e", ""}};
  for (const Row& row : kRows)
    EXPECT_EQ(ask("/queues/validate", Operation::kDelete, {}, tree(), {}, {}, std::string(row.name)).message,
              row.message);
  EXPECT_EQ(
      ask("/queues/validate", Operation::kDelete, {}, tree(), {.queue_allocated_pods_check = true}, {}, "busy").message,
      "queue busy cannot be deleted because it has allocated Pods: 3");
  EXPECT_EQ(ask("/queues/validate", Operation::kConnect, {}, tree(), {}, {}, "x").message,
            "invalid operation `CONNECT`, expect operation to be `CREATE`, `UPDATE` or `DELETE`");
}

Json group(std::string_view spec) {
  return json(base::format(R"({{"metadata": {{"name": "g", "namespace": "ml"}}, "spec": {}}})", spec));
}

TEST(PodGroups, take_their_namespace_s_queue) {
  FakeObjects objects;
  objects.add(api::resources::kNamespaces,
              R"({"metadata": {"name": "ml", "annotations": {"scheduling.volcano.sh/queue-name": "research"}}})");
  EXPECT_EQ(
      (*ask("/podgroups/mutate", Operation::kCreate, group(R"({"queue": "default"})"), objects).object)["spec"].dump(),
      R"({"queue":"research"})");
  EXPECT_FALSE(ask("/podgroups/mutate", Operation::kCreate, group(R"({"queue": "own"})"), objects).object);
  EXPECT_FALSE(ask("/podgroups/mutate", Operation::kCreate, group(R"({"queue": "default"})"), {}).object);
}

TEST(PodGroups, need_an_open_queue_and_one_tier) {
  FakeObjects objects = tree();
  objects.add(api::resources::kQueues, R"({"metadata": {"name": "shut"}, "status": {"state": "Closing"}})");
  struct Row {
    std::string_view spec;
    std::string_view message;
  };
  constexpr Row kRows[] = {
      {R"({"queue": "a"})", ""},
      {R"({"queue": "nobody"})", "unable to find queue: queue.scheduling.volcano.sh \"nobody\" not found"},
      {R"({"queue": "shut"})",
       "can only submit PodGroup to queue with state `Open`, queue `shut` status is `Closing`."},
      {R"({"queue": "nobody", "networkTopology": {"highestTierAllowed": 1, "highestTierName": "r"}})",
       "unable to find queue: queue.scheduling.volcano.sh \"nobody\" not found; must not specify 'highestTierAllowed' "
       "and "
       "'highestTierName' in networkTopology simultaneously."},
      {R"({"queue": "a", "subGroupPolicy": [{"name": "s", "networkTopology": {"highestTierAllowed": 1,
          "highestTierName": "r"}}]})",
       "in subGroupPolicy 's': must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology "
       "simultaneously."},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(ask("/podgroups/validate", Operation::kCreate, group(row.spec), objects).message, row.message);
  EXPECT_EQ(ask("/podgroups/validate", Operation::kDelete, group("{}"), objects).message,
            "unsupported operation DELETE");
}

Json pod(std::string_view annotations, std::string_view scheduler = "volcano") {
  return json(base::format(
      R"({{"metadata": {{"name": "p", "namespace": "ml", "annotations": {}}}, "spec": {{"schedulerName": "{}"}}}})",
      annotations, scheduler));
}

TEST(Pods, disruption_annotations) {
  struct Row {
    std::string_view annotations;
    std::string_view message;
  };
  constexpr Row kRows[] = {
      {"{}", ""},
      {R"({"volcano.sh/jdb-min-available": "2"})", ""},
      {R"({"volcano.sh/jdb-min-available": "50%"})", ""},
      {R"({"volcano.sh/jdb-min-available": "0"})",
       "invalid value <\"0\"> for volcano.sh/jdb-min-available, it must be a positive integer"},
      {R"({"volcano.sh/jdb-max-unavailable": "100%"})",
       "invalid value <\"100%\"> for volcano.sh/jdb-max-unavailable, it must be a valid percentage which between 1% ~ "
       "99%"},
      {R"({"volcano.sh/jdb-min-available": "99999999999999999999"})",
       "invalid value strconv.Atoi: parsing \"99999999999999999999\": value out of range for "
       "volcano.sh/jdb-min-available"},
      {R"({"volcano.sh/jdb-min-available": "+-5"})",
       "invalid value strconv.Atoi: parsing \"+-5\": invalid syntax for volcano.sh/jdb-min-available"},
      {R"({"volcano.sh/jdb-min-available": "abc"})",
       "invalid value strconv.Atoi: parsing \"abc\": invalid syntax for volcano.sh/jdb-min-available"},
      {R"({"volcano.sh/jdb-min-available": "1", "volcano.sh/jdb-max-unavailable": "1"})",
       "not allow configure multiple annotations <[volcano.sh/jdb-min-available volcano.sh/jdb-max-unavailable]> at "
       "same "
       "time"},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(ask("/pods/validate", Operation::kCreate, pod(row.annotations), {}).message, row.message);
  EXPECT_EQ(
      ask("/pods/validate", Operation::kCreate, pod(R"({"volcano.sh/jdb-min-available": "0"})", "other"), {}).message,
      "");
  EXPECT_EQ(ask("/pods/validate", Operation::kDelete, pod("{}"), {}).message, "expect operation to be 'CREATE'");
  EXPECT_EQ(ask("/pods/mutate", Operation::kUpdate, pod("{}"), {}).message, "expect operation to be 'CREATE' ");
}

TEST(Pods, follow_the_first_resource_group_that_matches) {
  auto rules = parse_pod_rules(R"(
resourceGroups:
- resourceGroup: gpu
  object: {key: namespace, value: [ml]}
  schedulerName: volcano
  labels: {pool: gpu}
  tolerations: [{key: gpu, operator: Exists, effect: NoSchedule, tolerationseconds: 5}]
- resourceGroup: late
  object: {key: "", value: []}
  schedulerName: never
)");
  ASSERT_TRUE(rules.ok());
  const Options options{.scheduling_gates_queue_admission = true, .pod_rules = *rules};
  const auto answer = ask("/pods/mutate", Operation::kCreate,
                          pod(R"({"scheduling.volcano.sh/queue-allocation-gate": "true"})", "x"), {}, options);
  EXPECT_EQ((*answer.object)["spec"].sorted().dump(),
            R"({"nodeSelector":{"pool":"gpu"},"schedulerName":"volcano","schedulingGates":[{"name":)"
            R"("scheduling.volcano.sh/queue-allocation-gate"}],"tolerations":[{"effect":"NoSchedule","key":"gpu",)"
            R"("operator":"Exists","tolerationSeconds":5}]})");
  EXPECT_FALSE(ask("/pods/mutate", Operation::kCreate, pod("{}"), {}).object);
}

TEST(Pods, an_affinity_that_is_no_map_is_left_out) {
  for (const auto& [text, spec] :
       {std::pair{"[1]", R"({"schedulerName":"volcano"})"}, std::pair{"7", R"({"schedulerName":"volcano"})"},
        std::pair{"{", R"({"schedulerName":"volcano"})"},
        std::pair{"{}", R"({"affinity":{},"schedulerName":"volcano"})"}}) {
    auto rules =
        parse_pod_rules(base::format("resourceGroups: [{{object: {{key: annotation, value: ['wanted: true']}}, "
                                     "schedulerName: volcano, affinity: '{}'}}]",
                                     text));
    ASSERT_TRUE(rules.ok()) << text;
    const auto answer =
        ask("/pods/mutate", Operation::kCreate, pod(R"({"wanted": "true"})"), {}, {.pod_rules = *rules});
    ASSERT_TRUE(answer.object) << text;
    EXPECT_EQ((*answer.object)["spec"].sorted().dump(), spec);
  }
}

TEST(Pods, resource_groups_of_another_shape_are_refused) {
  const std::pair<const char*, const char*> kCases[] = {
      {"7", "the file must be a map, not 7"},
      {"resourceGroups: 7", "resourceGroups must be a list, not 7"},
      {"resourceGroups: [x]", "resourceGroups[0] must be a map, not \"x\""},
      {"resourceGroups: [{labels: [a]}]", "resourceGroups[0].labels must be a map, not [\"a\"]"},
      {"resourceGroups: [{object: namespace}]", "resourceGroups[0].object must be a map, not \"namespace\""},
      {"resourceGroups: [{object: {key: namespace, value: ml}}]",
       "resourceGroups[0].object.value must be a list, not \"ml\""},
      {"resourceGroups: [{}, {tolerations: {}}]", "resourceGroups[1].tolerations must be a list, not {}"},
      {"resourceGroups: [{affinity: {a: 1}}]", "resourceGroups[0].affinity must be a text, not {\"a\":1}"},
  };
  for (const auto& [text, problem] : kCases) {
    const auto rules = parse_pod_rules(text);
    ASSERT_FALSE(rules.ok()) << text;
    EXPECT_EQ(rules.error().message, problem);
  }
  for (const char* text : {"", "# nothing", "resourceGroups:"}) EXPECT_TRUE(parse_pod_rules(text).ok()) << text;
}

TEST(Pods, resource_groups_hold_text_however_it_was_written) {
  auto rules = parse_pod_rules(R"(
resourceGroups:
- resourceGroup: 1
  object: {key: annotation, value: ["wanted: true"]}
  labels: {pool: 7}
  tolerations: [{key: gpu, value: true}]
)");
  ASSERT_TRUE(rules.ok());
  const auto answer = ask("/pods/mutate", Operation::kCreate, pod(R"({"wanted": "true"})"), {}, {.pod_rules = *rules});
  ASSERT_TRUE(answer.object);
  EXPECT_EQ((*answer.object)["spec"].sorted().dump(),
            R"({"nodeSelector":{"pool":"7"},"schedulerName":"volcano","tolerations":[{"key":"gpu","value":"true"}]})");
}

}  // namespace
}  // namespace admission
