// The fields that Go's clients leave out and those that they cannot leave out, by pods and secrets.
#include "api/schema/unwritten.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace api {
namespace {

Json yaml(std::string_view text) { return *parse_yaml(std::string(text)); }

struct Row {
  std::string_view schema, sent, kept, but_empties;
};
constexpr Row kRows[] = {
    {"core.v1.EnvVar", "{name: A, value: ''}", "{name: A}", "{name: A}"},
    {"core.v1.EnvVar", "{name: '', value: b}", "{name: '', value: b}", "{name: '', value: b}"},
    {"core.v1.SecurityContext", "{privileged: false, runAsUser: 0}", "{privileged: false, runAsUser: 0}",
     "{privileged: false, runAsUser: 0}"},
    {"core.v1.PodSpec",
     "{hostNetwork: false, priority: 0, nodeSelector: {}, tolerations: [], containers: [{ports: [{hostPort: 0, "
     "containerPort: 0}]}], volumes: [{emptyDir: {medium: ''}}, {hostPath: {path: /, type: ''}}]}",
     "{priority: 0, nodeSelector: {}, tolerations: [], containers: [{ports: [{containerPort: 0}]}], volumes: "
     "[{emptyDir: {}}, {hostPath: {path: /, type: ''}}]}",
     "{priority: 0, containers: [{ports: [{containerPort: 0}]}], volumes: [{emptyDir: {}}, {hostPath: {path: /, type: "
     "''}}]}"},
    {"core.v1.PodTemplateSpec", "{metadata: {labels: {}}, spec: {nodeSelector: {a: ''}}}",
     "{metadata: {labels: {}}, spec: {nodeSelector: {a: ''}}}", "{spec: {nodeSelector: {a: ''}}}"},
    {"core.v1.Secret", "{data: {a: }, stringData: {b: }, type: ''}", "{data: {a: ''}, stringData: {b: ''}}",
     "{data: {a: ''}, stringData: {b: ''}}"},
    {"core.v1.PodSpec", "{hostNetwork: 'no', containers: {}, unknown: ''}",
     "{hostNetwork: 'no', containers: {}, unknown: ''}", "{hostNetwork: 'no', containers: {}, unknown: ''}"},
    {"core.v1.PodSpec", "''", "''", "''"},
};

TEST(Unwritten, goes_and_what_is_told_apart_stays) {
  for (const Row& row : kRows) {
    Json kept = yaml(row.sent), fewer = yaml(row.sent);
    drop_unwritten(core_schema(row.schema), kept, Empties::kKept);
    drop_unwritten(core_schema(row.schema), fewer, Empties::kDropped);
    EXPECT_EQ(kept.dump(), yaml(row.kept).dump()) << row.sent;
    EXPECT_EQ(fewer.dump(), yaml(row.but_empties).dump()) << row.sent;
  }
}

TEST(Unwritten, what_has_nothing_of_it_is_not_copied) {
  const Json before = yaml("{spec: {containers: [{name: c, env: [{name: A, value: b}]}], volumes: [{emptyDir: {}}]}}");
  Json after = before;
  drop_unwritten(core_schema("core.v1.Pod"), after, Empties::kDropped);
  EXPECT_TRUE(after.same_as(before));
  after.edit("spec").set("hostPID", false);
  drop_unwritten(core_schema("core.v1.Pod"), after, Empties::kDropped);
  EXPECT_EQ(after, before);
  EXPECT_TRUE(after["spec"]["containers"].same_as(before["spec"]["containers"]));
}

TEST(Unwritten, values_are_compared_without_it) {
  const Schema& schema = core_schema("batch.v1.JobSpec");
  EXPECT_TRUE(same_as_written(core_schema("core.v1.EnvVar"), yaml("{name: a, value: ''}"), yaml("{name: a}")));
  EXPECT_FALSE(same_as_written(core_schema("core.v1.EnvVar"), yaml("{name: a, value: b}"), yaml("{name: a}")));
  EXPECT_TRUE(
      same_member_as_written(schema, "selector", yaml("{selector: {matchLabels: {}}}"), yaml("{selector: {}}")));
  EXPECT_FALSE(same_member_as_written(schema, "managedBy", yaml("{managedBy: ''}"), yaml("{}")));
  EXPECT_FALSE(same_member_as_written(schema, "completionMode", yaml("{completionMode: a}"), yaml("{}")));
}

}  // namespace
}  // namespace api
