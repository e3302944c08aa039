// The words for a Notebook's state, by its status and its events.
#include "webapps/notebook_status.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace webapps {
namespace {

using api::Json;

TEST(NotebookStatus, SpeaksOfTheFirstCause) {
  struct Row {
    std::string_view notebook, status;
  };
  const std::vector<Row> rows = {
      {R"({"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}})",
       R"(["waiting","Waiting for StatefulSet to create the underlying Pod."])"},
      {R"({"metadata": {"annotations": {"kubeflow-resource-stopped": ""}}})",
       R"(["stopped","No Pods are currently running for this Notebook Server."])"},
      {R"({"metadata": {"annotations": {"kubeflow-resource-stopped": ""}}, "status": {"readyReplicas": 1}})",
       R"(["waiting","Notebook Server is stopping."])"},
      {R"({"metadata": {"deletionTimestamp": "x"}, "status": {"readyReplicas": 1}})",
       R"(["terminating","Deleting this Notebook Server."])"},
      {R"({"status": {"readyReplicas": 1}})", R"(["ready","Running"])"},
      {R"({"status": {"containerState": {"waiting": {"reason": "PodInitializing"}}}})",
       R"(["waiting","PodInitializing"])"},
      {R"({"status": {"containerState": {"waiting": {"reason": "ErrImagePull", "message": "none"}}}})",
       R"(["warning","ErrImagePull: none"])"},
      {R"({"status": {"containerState": {"waiting": {}}}})",
       R"(["warning","Undefined: No available message for container state."])"},
      {R"({"status": {"conditions": [{"type": "A"}, {"type": "PodScheduled", "reason": "Unschedulable", "message": "no room"}]}})",
       R"(["warning","Unschedulable: no room"])"},
      {R"({"metadata": {"creationTimestamp": "2019-01-01T00:00:00Z"}})", "[null,null]"},
  };
  const base::Time now = *base::parse_rfc3339("2020-01-01T00:00:05Z");
  for (const Row& row : rows) {
    const Json reported = notebook_status(*api::parse_json(row.notebook), now);
    EXPECT_EQ(Json::array({reported["phase"], reported["message"]}).dump(), row.status) << row.notebook;
  }
  const Json notebook =
      *api::parse_json(R"({"metadata": {"name": "one", "creationTimestamp": "2020-01-01T00:00:00Z"}})");
  const auto event = [](std::string_view type, std::string_view time, std::string_view text) {
    return Json::object({{"type", type},
                         {"message", text},
                         {"involvedObject", Json::object({{"name", "one"}})},
                         {"metadata", Json::object({{"creationTimestamp", time}})}});
  };
  EXPECT_EQ(notebook_status_by_events(notebook, {event("Warning", "2019-12-31T00:00:00Z", "of one before"),
                                                 event("Warning", "2020-01-01T00:00:01Z", "first"),
                                                 event("Warning", "2020-01-01T00:00:03Z", "last"),
                                                 event("Normal", "2020-01-01T00:00:04Z", "fine")})["message"]
                .as_string(),
            "last");
  EXPECT_EQ(notebook_status_by_events(notebook, {})["message"].as_string(),
            "Couldn't find any information for the status of this notebook.");
}

}  // namespace
}  // namespace webapps
