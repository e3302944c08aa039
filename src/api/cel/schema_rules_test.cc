// Faults of custom resources by their schemas, expressions included: message for message what an API server says.
#include "api/cel/schema_rules.h"

#include <gtest/gtest.h>

#include "api/kinds.h"
#include "base/format.h"

namespace api::cel {
namespace {

// All problems of an object, after defaults, as "path: message", one a line.
std::string problems(std::string_view plural, std::string_view text) {
  for (const KindInfo& kind : all_kinds()) {
    if (kind.resource.plural != plural || !kind.custom) continue;
    auto object = parse_json(text);
    EXPECT_TRUE(object.ok()) << text;
    if (!object.ok()) return {};
    Json value = *object;
    apply_defaults(*kind.schema, value, {.custom_resource = true});
    std::vector<base::Cause> causes;
    validate(*kind.schema, value, {.custom_resource = true}, causes);
    check_rules(*kind.schema, value, causes);
    std::string out;
    for (const base::Cause& cause : causes)
      out += base::format("{}{}: {}", out.empty() ? "" : "\n", cause.field, cause.message);
    return out;
  }
  return "no such kind";
}

struct Row {
  const char* plural;
  const char* object;
  const char* problems;
};

const Row kRows[] = {
    {"hypernodes",
     R"({"spec": {"tier": 1, "members": [{"type": "Node", "selector": {"labelMatch": {}}}, {"type": "Node"}]}})", ""},
    {"hypernodes", R"({"spec": {"tier": 1, "members": [{"type": "Node", "selector": {}}]}})",
     "spec.members[0].selector: Invalid value: Either ExactMatch or RegexMatch or LabelMatch must be specified"},
    {"hypernodes",
     R"({"spec": {"tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": "a"}, "regexMatch": {"pattern": "b"}}}]}})",
     "spec.members[0].selector: Invalid value: Only one of ExactMatch, RegexMatch, or LabelMatch can be specified"},
    // Other faults come with the rules, or keep them from being asked.
    {"hypernodes", R"({"spec": {"tier": -1, "members": [{"type": "Node", "selector": {}}]}})",
     "spec.tier: Invalid value: -1: spec.tier in body should be greater than or equal to 0\n"
     "spec.members[0].selector: Invalid value: Either ExactMatch or RegexMatch or LabelMatch must be specified"},
    {"hypernodes", R"({"spec": {"members": [{"type": "Node", "selector": {}}]}})",
     "spec.tier: Required value\n<nil>: Invalid value: null: some validation rules were not checked because the "
     "object was "
     "invalid; correct the existing errors to complete validation"},
    {"hypernodes", R"({"spec": {"tier": 1, "members": []}})",
     "spec.members: Invalid value: 0: spec.members in body should have at least 1 items"},
    {"hypernodes", R"({"spec": {"tier": 1, "members": [{"type": "Pod", "selector": {"exactMatch": {"name": ""}}}]}})",
     "spec.members[0].selector.exactMatch.name: Invalid value: \"\": spec.members[0].selector.exactMatch.name in "
     "body should be "
     "at least 1 chars long\n"
     "spec.members[0].type: Unsupported value: \"Pod\": supported values: \"Node\", \"HyperNode\"\n"
     "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the "
     "existing errors to complete validation"},
    {"cronjobs", R"({"spec": {"schedule": "@daily", "jobTemplate": {"spec": {"tasks": [{"name": "a"}]}}}})", ""},
    {"cronjobs", R"({"spec": {"concurrencyPolicy": "Sometimes", "failedJobsHistoryLimit": -1}})",
     "spec.concurrencyPolicy: Unsupported value: \"Sometimes\": supported values: \"Allow\", \"Forbid\", "
     "\"Replace\"\n"
     "spec.failedJobsHistoryLimit: Invalid value: -1: spec.failedJobsHistoryLimit in body should be greater than or "
     "equal to 0\n"
     "spec.jobTemplate: Required value\nspec.schedule: Required value"},
    {"cronjobs",
     R"({"spec": {"schedule": "@daily", "startingDeadlineSeconds": -5, "jobTemplate": {"spec": {"tasks": []}}}})",
     "spec.jobTemplate.spec.tasks: Invalid value: 0: spec.jobTemplate.spec.tasks in body should have at least 1 "
     "items\n"
     "spec.startingDeadlineSeconds: Invalid value: -5: spec.startingDeadlineSeconds in body should be greater than "
     "or equal to 0"},
    {"jobflows", R"({"spec": {"flows": [{"name": ""}], "jobRetainPolicy": "keep"}})",
     "spec.flows[0].name: Invalid value: \"\": spec.flows[0].name in body should be at least 1 chars long\n"
     "spec.jobRetainPolicy: Unsupported value: \"keep\": supported values: \"retain\", \"delete\""},
    {"jobflows",
     R"({"spec": {"flows": [{"name": "a", "dependsOn": {"targets": ["b"], "probe": {"httpGetList": [{"port": 70000}], "tcpSocketList": [{}]}}}]}})",
     "spec.flows[0].dependsOn.probe.httpGetList[0].port: Invalid value: 70000: "
     "spec.flows[0].dependsOn.probe.httpGetList[0].port "
     "in body should be less than or equal to 65535\nspec.flows[0].dependsOn.probe.tcpSocketList[0].port: Required "
     "value"},
    {"jobflows",
     R"({"spec": {"flows": [{"name": "a", "patch": {"jobSpec": {"maxRetry": -1, "tasks": [{"replicas": -1}]}}}]}})",
     "spec.flows[0].patch.jobSpec.maxRetry: Invalid value: -1: spec.flows[0].patch.jobSpec.maxRetry in body should "
     "be greater "
     "than or equal to 0\nspec.flows[0].patch.jobSpec.tasks[0].replicas: Invalid value: -1: "
     "spec.flows[0].patch.jobSpec.tasks[0].replicas in body should be greater than or equal to 0"},
    {"jobtemplates", R"({"spec": {"minSuccess": 0, "networkTopology": {"mode": "firm"}}})",
     "spec.minSuccess: Invalid value: 0: spec.minSuccess in body should be greater than or equal to 1\n"
     "spec.networkTopology.mode: Unsupported value: \"firm\": supported values: \"hard\", \"soft\""},
    {"nodeshards", R"({})", "spec: Required value"},
    {"nodeshards", R"({"spec": {}})", "spec.nodesDesired: Required value"},
    {"nodeshards", R"({"spec": {"nodesDesired": []}})", ""},
    {"colocationconfigurations", R"({})", "spec: Required value"},
    {"colocationconfigurations", R"({"spec": {"memoryQos": {"highRatio": 101, "lowRatio": -1}}})",
     "spec.memoryQos.highRatio: Invalid value: 101: spec.memoryQos.highRatio in body should be less than or equal to "
     "100\n"
     "spec.memoryQos.lowRatio: Invalid value: -1: spec.memoryQos.lowRatio in body should be greater than or equal to "
     "0"},
    {"queues", R"({"spec": {"weight": 0, "dequeueStrategy": "lifo", "parent": "A"}})",
     "spec.dequeueStrategy: Unsupported value: \"lifo\": supported values: \"fifo\", \"traverse\"\n"
     "spec.parent: Invalid value: \"A\": spec.parent in body should match "
     "'^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'\n"
     "spec.weight: Invalid value: 0: spec.weight in body should be greater than or equal to 1"},
    {"commands", R"({"target": {"name": "a"}})",
     "target.apiVersion: Required value\ntarget.kind: Required value\ntarget.uid: Required value"},
};

TEST(SchemaRules, require_nothing_of_patches) {
  EXPECT_EQ(problems("jobflows", R"({"spec": {"flows": [{"name": "a", "patch": {"jobSpec": {"volumes": [{}], "tasks": [
    {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}}}]}}}]}})"),
            "");
}

TEST(SchemaRules, are_judged_with_everything_else_the_schema_says) {
  for (const Row& row : kRows)
    EXPECT_EQ(problems(row.plural, row.object), row.problems) << row.plural << " " << row.object;
}

TEST(SchemaRules, and_defaults_reach_the_specs_inside_of_others_but_patches) {
  for (const auto& [plural, object, path] : {std::tuple{"cronjobs", R"({"spec": {"jobTemplate": {"spec": {}}}})",
                                                        std::vector<std::string>{"spec", "jobTemplate", "spec"}},
                                             {"jobtemplates", R"({"spec": {}})", {"spec"}},
                                             {"jobs", R"({"spec": {}})", {"spec"}}}) {
    for (const KindInfo& kind : all_kinds()) {
      if (!kind.custom || kind.resource.plural != plural) continue;
      Json value = *parse_json(object);
      apply_defaults(*kind.schema, value, {.custom_resource = true});
      Json spec = value;
      for (const std::string& name : path) spec = Json(spec[name]);
      EXPECT_EQ(spec.dump(), R"({"maxRetry":3,"queue":"default"})") << plural;
    }
  }
  const KindInfo& flows = *find_kind(resources::kJobFlows);
  Json value = *parse_json(R"({"spec": {"flows": [{"name": "a", "patch": {"jobSpec": {"minAvailable": 2}}}]}})");
  apply_defaults(*flows.schema, value, {.custom_resource = true});
  EXPECT_EQ(value["spec"]["flows"][std::size_t{0}]["patch"]["jobSpec"].dump(), R"({"minAvailable":2})");
}

}  // namespace
}  // namespace api::cel
