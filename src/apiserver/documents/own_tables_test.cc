// The columns that kubectl shows of this program's own kinds, and its explanations of them.
#include "apiserver/documents/own_tables.h"

#include <gtest/gtest.h>

#include "api/meta/resource.h"
#include "apiserver/documents/kind_texts.h"
#include "apiserver/documents/tables.h"

namespace apiserver {
namespace {

using api::Json;

struct Shown {
  std::string narrow;  // "PARENT=root AGE=<unknown>"
  std::string wide;
};

Shown shown(const api::ResourceId& resource, std::string_view text) {
  const Json table = make_table(*api::find_kind(resource), *api::parse_json(text), base::Time(), IncludeObject::kNone);
  const auto columns = table["columnDefinitions"].items();
  const auto cells = table["rows"][std::size_t{0}]["cells"].items();
  EXPECT_EQ(columns.size(), cells.size());
  Shown out;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    std::string& to = columns[i]["priority"].as_int() > 0 ? out.wide : out.narrow;
    to += (to.empty() ? "" : "|") + columns[i]["name"].str() + "=" +
          (cells[i].is_string() ? cells[i].str() : cells[i].dump());
  }
  return out;
}

TEST(OwnTables, columns_are_those_of_volcano_and_wide_ones_say_more) {
  struct Row {
    api::ResourceId resource;
    std::string_view object, narrow, wide;
  };
  const Row rows[] = {
      {api::resources::kQueues,
       R"({"metadata": {"name": "q"}, "spec": {"parent": "root", "capability": {"cpu": "4", "memory": "8Gi"}},
           "status": {"state": "Open", "allocated": {"cpu": "1500m", "memory": "0", "nvidia.com/gpu": "1"},
           "running": 2, "pending": 3, "inqueue": 1}})",
       "PARENT=root|AGE=null",
       "STATE=Open|USED=cpu: 1500m, nvidia.com/gpu: 1|LIMIT=cpu: 4, memory: 8Gi|RUNNING=2|WAITING=4"},
      {api::resources::kQueues, R"({"metadata": {"name": "q"}})", "PARENT=null|AGE=null",
       "STATE=null|USED=<none>|LIMIT=<none>|RUNNING=0|WAITING=0"},
      {api::resources::kJobs,
       R"({"metadata": {"name": "j"}, "spec": {"queue": "q"}, "status": {"state": {"phase": "Failed",
           "reason": "PodFailed", "message": "Error in job. Look at its pods."}, "minAvailable": 1, "failed": 1}})",
       "STATUS=Failed|minAvailable=1|RUNNINGS=null|AGE=null",
       "QUEUE=q|WAITING=0|SUCCEEDED=0|FAILED=1|REASON=PodFailed: Error in job"},
      {api::resources::kJobs,
       R"({"metadata": {"name": "j"}, "spec": {"queue": "q", "tasks": [{"replicas": 3}, {}]}, "status": {"state": {
           "phase": "Pending", "message": "no room"}}})",
       "STATUS=Pending|minAvailable=null|RUNNINGS=null|AGE=null",
       "QUEUE=q|WAITING=4|SUCCEEDED=0|FAILED=0|REASON=no room"},
      {api::resources::kJobs,
       R"({"metadata": {"name": "j"}, "spec": {"queue": "q", "tasks": [{"replicas": 4}]}, "status": {"state": {
           "phase": "Running"}, "running": 1, "succeeded": 1, "failed": 1}})",
       "STATUS=Running|minAvailable=null|RUNNINGS=1|AGE=null", "QUEUE=q|WAITING=1|SUCCEEDED=1|FAILED=1|REASON="},
      {api::resources::kJobs,
       R"({"metadata": {"name": "j"}, "spec": {"queue": "q", "tasks": [{"replicas": 4}]}, "status": {"state": {
           "phase": "Completed"}, "succeeded": 1}})",
       "STATUS=Completed|minAvailable=null|RUNNINGS=null|AGE=null", "QUEUE=q|WAITING=0|SUCCEEDED=1|FAILED=0|REASON="},
      {api::resources::kPodGroups,
       R"({"metadata": {"name": "g"}, "spec": {"minMember": 2, "queue": "q"}, "status": {"phase": "Inqueue",
           "conditions": [{"type": "Unschedulable", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z",
           "message": "no node fits pod p: cpu. 2/2 tasks"}]}})",
       "STATUS=Inqueue|minMember=2|RUNNINGS=null|AGE=null",
       "QUEUE=q|SUCCEEDED=0|FAILED=0|REASON=no node fits pod p: cpu"},
      {api::resources::kPodGroups,
       R"({"metadata": {"name": "g"}, "spec": {"minMember": 2}, "status": {"phase": "Running", "conditions": [
           {"type": "Unschedulable", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "message": "no room"},
           {"type": "Scheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:01Z", "reason": "ready"}]}})",
       "STATUS=Running|minMember=2|RUNNINGS=null|AGE=null", "QUEUE=null|SUCCEEDED=0|FAILED=0|REASON="},
  };
  for (const Row& row : rows) {
    const Shown drawn = shown(row.resource, row.object);
    EXPECT_EQ(drawn.narrow, row.narrow) << row.object;
    EXPECT_EQ(drawn.wide, row.wide) << row.object;
  }
}

TEST(OwnTables, a_reason_is_one_line_and_not_long) {
  Json group = *api::parse_json(
      R"({"metadata": {"name": "g"}, "status": {"conditions": [{"type": "Unschedulable", "status": "True"}]}})");
  Json condition = group["status"]["conditions"][std::size_t{0}];
  condition.set("message", std::string(159, 'x') + "\xc3\xa9" + "y");
  group.edit("status").set("conditions", Json::array({condition}));
  EXPECT_TRUE(shown(api::resources::kPodGroups, group.dump()).wide.ends_with("=" + std::string(159, 'x') + "..."));
  condition.set("message", "first\nsecond");
  group.edit("status").set("conditions", Json::array({condition}));
  EXPECT_TRUE(shown(api::resources::kPodGroups, group.dump()).wide.ends_with("REASON=first"));
}

TEST(OwnTables, every_kind_of_this_program_has_a_text) {
  for (const api::KindInfo& kind : api::all_kinds()) {
    if (!kind.custom) continue;
    EXPECT_FALSE(kind_text(kind).empty()) << kind.resource.group << " " << kind.kind;
  }
}

TEST(Tables, the_class_of_claims_that_name_none_is_marked) {
  const api::KindInfo& kind = *api::find_kind_named("storage.k8s.io/v1", "StorageClass");
  struct Row {
    std::string_view annotations, name;
  };
  const Row rows[] = {{"{}", "fast"},
                      {R"({"storageclass.kubernetes.io/is-default-class":"true"})", "fast (default)"},
                      {R"({"storageclass.beta.kubernetes.io/is-default-class":"true"})", "fast (default)"},
                      {R"({"storageclass.kubernetes.io/is-default-class":"false"})", "fast"}};
  for (const Row& row : rows) {
    Json one = *api::parse_json(R"({"metadata":{"name":"fast"},"provisioner":"p"})");
    one.edit("metadata").set("annotations", *api::parse_json(row.annotations));
    const Json table = make_table(kind, one, base::Time(), IncludeObject::kNone);
    EXPECT_EQ(table["rows"][std::size_t{0}]["cells"][std::size_t{0}].as_string(), row.name) << row.annotations;
  }
}

}  // namespace
}  // namespace apiserver
