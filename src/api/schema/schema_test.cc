// Pruning, defaulting and validation along schemas; selectors.
#include "api/schema/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "api/batch/v1alpha1/job.h"
#include "api/flow/v1alpha1/jobflow.h"
#include "api/kinds.h"
#include "api/scheduling/v1beta1/queue.h"
#include "api/selector.h"
#include "api/topology/v1alpha1/hypernode.h"

namespace api {
namespace {

Json parse(std::string_view text) { return *parse_json(text); }

TEST(Schema, unknown_fields_are_pruned_and_named) {
  Json job = parse(
      R"({"apiVersion":"v","kind":"Job","metadata":{"name":"j","foo":1},"spec":
         {"tasks":[{"template":{"metadata":{"labels":{"a":"b"},"uid":"x"},"spec":{"containers":[{"name":"c","imag":"x"}]}}}],"bar":1}})");
  std::vector<std::string> removed;
  prune(schema_of<Job>(), job, {.custom_resource = true}, &removed);
  EXPECT_EQ(removed, (std::vector<std::string>{"metadata.foo", "spec.bar", "spec.tasks[0].template.metadata.uid",
                                               "spec.tasks[0].template.spec.containers[0].imag"}));
  EXPECT_EQ(job["spec"]["tasks"][std::size_t{0}]["template"]["metadata"], parse(R"({"labels":{"a":"b"}})"));
}

TEST(Schema, metadata_has_types_too) {
  for (const char* metadata :
       {R"({"labels":[]})", R"({"labels":{"a":5}})", R"({"annotations":"x"})", R"({"finalizers":[5]})",
        R"({"ownerReferences":"x"})", R"({"creationTimestamp":"soon"})"}) {
    std::vector<base::Cause> causes;
    validate(schema_of<Queue>(), Json::object({{"metadata", parse(metadata)}}), {.custom_resource = true}, causes);
    ASSERT_EQ(causes.size(), 1u) << metadata;
    EXPECT_TRUE(causes[0].field.starts_with("metadata.")) << causes[0].field;
  }
}

TEST(Schema, defaults_fill_what_is_absent) {
  Json queue = parse(R"({"spec":{}})");
  apply_defaults(schema_of<Queue>(), queue, {.custom_resource = true});
  EXPECT_EQ(queue["spec"], parse(R"({"dequeueStrategy":"traverse","weight":1})"));
  Json job = parse(
      R"({"spec":{"queue":null,"tasks":[{"template":{"spec":{"containers":[{"ports":[{"containerPort":1}]}]}}}]}})");
  apply_defaults(schema_of<Job>(), job, {.custom_resource = true});
  EXPECT_EQ(job["spec"]["queue"].as_string(), "default");
  EXPECT_EQ(job["spec"]["maxRetry"].as_int(), 3);
  EXPECT_EQ(job["spec"]["tasks"][std::size_t{0}]["template"]["spec"]["containers"][std::size_t{0}]["ports"]
               [std::size_t{0}]["protocol"]
                   .as_string(),
            "TCP");
}

TEST(Schema, validation_names_every_field) {
  struct Row {
    const char* spec;
    const char* field;
    const char* reason;
  };
  for (const Row& row : {Row{R"({"weight":0})", "spec.weight", "FieldValueInvalid"},
                         Row{R"({"weight":65536})", "spec.weight", "FieldValueInvalid"},
                         Row{R"({"weight":"x"})", "spec.weight", "FieldValueTypeInvalid"},
                         Row{R"({"dequeueStrategy":"lifo"})", "spec.dequeueStrategy", "FieldValueNotSupported"},
                         Row{R"({"capability":{"cpu":"x"}})", "spec.capability.cpu", "FieldValueInvalid"},
                         Row{R"({"parent":"Not A Name"})", "spec.parent", "FieldValueInvalid"}}) {
    std::vector<base::Cause> causes;
    validate(schema_of<Queue>(), Json::object({{"spec", parse(row.spec)}}), {.custom_resource = true}, causes);
    ASSERT_EQ(causes.size(), 1u) << row.spec;
    EXPECT_EQ(causes[0].field, row.field);
    EXPECT_EQ(causes[0].reason, row.reason);
  }
  std::vector<base::Cause> causes;
  validate(schema_of<Job>(), parse(R"({"spec":{"tasks":[],"minSuccess":0,"volumes":[{}]}})"), {.custom_resource = true},
           causes);
  EXPECT_EQ(causes.size(), 3u);
}

// Objects that Volcano's definitions take and refuse: its objects are stored under ours, and ours under its.
TEST(Schema, statuses_and_probes_are_valid_where_they_are_in_volcano) {
  const struct {
    const Schema& schema;
    std::string object;
    std::vector<std::string> fields;
  } kRows[] = {
      // Older releases add a condition for each change of phase.
      {schema_of<Job>(),
       R"({"status":{"conditions":[{"status":"Running"},{"status":"Pending"},{"status":"Running"},{"status":"Odd"}]}})",
       {}},
      {schema_of<Job>(), R"({"status":{"conditions":[{}]}})", {"status.conditions[0].status"}},
      {schema_of<HyperNode>(),
       R"({"status":{"conditions":[{"type":"a/Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z",
           "reason":"Yes","message":""}]}})",
       {}},
      {schema_of<HyperNode>(),
       R"({"status":{"conditions":[{"type":"a b","status":"Foo","lastTransitionTime":"2026-01-01T00:00:00Z",
           "reason":"","observedGeneration":-1}]}})",
       {"status.conditions[0].message", "status.conditions[0].observedGeneration", "status.conditions[0].reason",
        "status.conditions[0].status", "status.conditions[0].type"}},
      {schema_of<HttpGet>(), R"({"httpHeader":{"name":"","value":""}})", {}},
      {schema_of<HttpGet>(), R"({"httpHeader":{}})", {"httpHeader.name", "httpHeader.value"}},
  };
  for (const auto& row : kRows) {
    std::vector<base::Cause> causes;
    validate(row.schema, parse(row.object), {.custom_resource = true}, causes);
    std::set<std::string> fields;
    for (const base::Cause& cause : causes)
      if (row.fields.empty() || cause.field.starts_with("status.conditions") || cause.field.starts_with("httpHeader"))
        fields.insert(cause.field);
    EXPECT_EQ(fields, std::set<std::string>(row.fields.begin(), row.fields.end())) << row.object;
  }
}

TEST(Schema, quantities_of_custom_resources_are_whole_numbers_or_text) {
  for (const auto& [cpu, is_valid] : std::vector<std::pair<std::string, bool>>{
           {"1", true}, {R"("0.5")", true}, {"0.5", false}, {"100000000000000000000", false}, {"true", false}}) {
    std::vector<base::Cause> causes;
    validate(schema_of<Queue>(), parse(R"({"spec":{"capability":{"cpu":)" + cpu + "}}}"), {.custom_resource = true},
             causes);
    EXPECT_EQ(causes.empty(), is_valid) << cpu;
    for (const base::Cause& cause : causes) EXPECT_EQ(cause.field, "spec.capability.cpu");
  }
}

TEST(Schema, times_with_and_without_fractions_are_times) {
  const auto lease = std::ranges::find(all_kinds(), std::string_view("Lease"), &KindInfo::kind);
  std::vector<base::Cause> causes;
  validate(*lease->schema, parse(R"({"spec":{"renewTime":"2026-11-26T10:00:00.123456Z","acquireTime":null}})"), {},
           causes);
  EXPECT_TRUE(causes.empty());
  validate(*lease->schema, parse(R"({"spec":{"renewTime":"noon"}})"), {}, causes);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].field, "spec.renewTime");
}

TEST(Schema, every_kind_has_a_schema_and_a_unique_path) {
  std::vector<std::string> paths;
  for (const KindInfo& kind : all_kinds()) {
    ASSERT_NE(kind.schema, nullptr) << kind.kind;
    paths.push_back(resource_path(kind.resource, "", "", ""));
    EXPECT_EQ(find_kind(kind.resource), &kind);
  }
  std::ranges::sort(paths);
  EXPECT_EQ(std::ranges::adjacent_find(paths), paths.end());
}

TEST(Schema, names_the_first_wrong_type) {
  struct Row {
    const char* kind;
    const char* object;
    const char* problem;  // empty: none
  };
  const Row rows[] = {
      {"PodGroup", R"({"spec":{"minMember":3,"queue":null,"unknown":5}})", ""},
      {"PodGroup", R"({"spec":{"minMember":4294967297}})", "spec.minMember: 4294967297 is not a 32 bit integer"},
      {"PodGroup", R"({"spec":{"minMember":"3"}})", "spec.minMember: \"3\" is not an integer"},
      {"PodGroup", R"({"spec":{"queue":5}})", "spec.queue: must be a string"},
      {"PodGroup", R"({"spec":{"minTaskMember":{"a":"x"}}})", "spec.minTaskMember.a: \"x\" is not an integer"},
      {"PodGroup", R"({"spec":{"minResources":{"cpu":"much"}}})", "spec.minResources.cpu: \"much\" is not a quantity"},
      {"Queue", R"({"spec":{"reclaimable":"no"}})", "spec.reclaimable: \"no\" is not a boolean"},
      {"Pod", R"({"spec":{"containers":[{"name":"c"},{"ports":[{"containerPort":"http"}]}]}})",
       "spec.containers[1].ports[0].containerPort: \"http\" is not an integer"},
      {"Pod", R"({"spec":{"schedulingGates":"x"}})", "spec.schedulingGates: must be a list"},
      {"Pod", R"({"metadata":{"labels":[1]}})", "metadata.labels: must be a map"},
      {"Pod", R"({"metadata":{"creationTimestamp":"noon"}})", "metadata.creationTimestamp: \"noon\" is not a time"},
      {"Lease", R"({"spec":{"renewTime":"noon"}})", "spec.renewTime: \"noon\" is not a time"},
      {"Pod", R"([])", ": must be a map"},
  };
  for (const Row& row : rows) {
    // The last of a name: PodGroups are those of Volcano.
    const auto kinds = all_kinds();
    const auto kind =
        std::find_if(kinds.rbegin(), kinds.rend(), [&](const KindInfo& one) { return one.kind == row.kind; });
    const auto wrong = find_wrong_type(*kind->schema, parse(row.object));
    EXPECT_EQ(wrong ? wrong->field + ": " + wrong->message : "", row.problem) << row.object;
  }
}

TEST(Selector, labels) {
  const Json labels = parse(R"({"app":"a","tier":"db","size":"7"})");
  struct Row {
    const char* text;
    int matches;  // -1: refused
  };
  for (const Row& row : {Row{"", 1},         Row{"app=a", 1},         Row{"app==a", 1},         Row{"app!=a", 0},
                         Row{"none!=a", 1},  Row{"app in (a, b)", 1}, Row{"app notin (a)", 0},  Row{"app", 1},
                         Row{"!app", 0},     Row{"!x,tier=db", 1},    Row{"app=a,tier=web", 0}, Row{"size>6", 1},
                         Row{"size > 7", 0}, Row{"size<8,app=a", 1},  Row{"app>1", 0},          Row{"none<1", 0},
                         Row{"size>x", -1},  Row{"app in", -1},       Row{"app in (a", -1},     Row{",", -1},
                         Row{"a b", -1},     Row{"app=a,", -1},       Row{"/a=1", -1},          Row{"!a/b/c", -1},
                         Row{"-a", -1},      Row{"app=-", -1},        Row{"app in (a,-b)", -1}, Row{"app=", 0}}) {
    const auto selector = parse_label_selector(row.text);
    ASSERT_EQ(selector.ok(), row.matches >= 0) << row.text;
    if (selector.ok()) {
      EXPECT_EQ(selector->matches(labels), row.matches == 1) << row.text;
    }
  }
  EXPECT_EQ(
      parse_label_selector("!/a").error().message,
      "unable to parse requirement: key: Invalid value: \"/a\": prefix part must be non-empty in selector \"!/a\"");
  EXPECT_FALSE(parse_label_selector("!" + std::string(64, 'x')).ok());
}

TEST(Selector, fields) {
  const Json pod = parse(R"({"spec":{"nodeName":"n"},"status":{"phase":"Running"}})");
  EXPECT_TRUE(matches(*parse_field_selector("spec.nodeName=n,status.phase!=Failed"), pod));
  EXPECT_FALSE(matches(*parse_field_selector("spec.nodeName==m"), pod));
  EXPECT_TRUE(matches(*parse_field_selector("spec.hostNetwork="), pod));
  EXPECT_FALSE(parse_field_selector("x").ok());
}

}  // namespace
}  // namespace api
