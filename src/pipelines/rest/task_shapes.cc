// A task's id is its object's; parents and children are found by their paths.
#include "pipelines/rest/task_shapes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "api/meta/resource.h"
#include "pipelines/rest/answers.h"
#include "pipelines/rest/objects.h"

namespace pipelines::rest {

using api::Json;

namespace {

Json artifact_lists(const Json& artifacts) {
  Json lists = Json::object();
  for (const Json::Member& one : artifacts.members()) {
    Json ids = Json::array();
    for (const Json& artifact : one.value.items()) ids.push_back(artifact["uri"]);
    lists.set(one.name(), Json::object({{"artifact_ids", std::move(ids)}}));
  }
  return lists;
}

Json shape(std::string_view run_id, const Json& task, const std::map<std::string, std::string>& ids, Json children) {
  const Json &spec = task["spec"], &status = task["status"];
  const std::string_view shown = spec["displayName"].as_string();
  Json row = Json::object({{"run_id", run_id},
                           {"task_id", api::uid_of(task)},
                           {"display_name", shown.empty() ? spec["taskName"].as_string() : shown},
                           {"create_time", created_at(task)},
                           {"start_time", time_or_epoch(status["startTime"])},
                           {"end_time", time_or_epoch(status["endTime"])},
                           {"state", shown_state(status["state"].as_string())}});
  if (const std::string error = status["error"].str(); !error.empty()) row.set("error", failure(error));
  if (const auto parent = ids.find(spec["parentPath"].str()); parent != ids.end())
    row.set("parent_task_id", parent->second);
  if (const std::string pod = status["podName"].str(); !pod.empty()) {
    row.set("pod_name", pod);
    row.set("executor_detail", Json::object({{"main_job", pod}}));
  }
  row.set("inputs", artifact_lists(status["inputs"]["artifacts"]));
  row.set("outputs", artifact_lists(status["outputs"]["artifacts"]));
  row.set("state_history", shown_history(status["stateHistory"]));
  row.set("child_tasks", std::move(children));
  return row;
}

}  // namespace

std::string_view shown_state(std::string_view state) {
  if (state.empty()) return "PENDING";
  return state == "CACHED" ? "SKIPPED" : state;
}

Json shown_history(const Json& history) {
  Json rows = Json::array();
  for (const Json& one : history.items()) {
    Json row = Json::object({{"update_time", one["updateTime"]}, {"state", shown_state(one["state"].as_string())}});
    if (const std::string error = one["error"].str(); !error.empty()) row.set("error", failure(error));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json run_details(std::string_view run_id, std::vector<Json> tasks) {
  std::ranges::sort(tasks, {}, [](const Json& one) { return std::tuple(created_at(one), one["spec"]["path"].str()); });
  std::map<std::string, std::string> ids;  // by path
  std::map<std::string, Json> children;    // by the path of the parent
  for (const Json& one : tasks) {
    ids[one["spec"]["path"].str()] = std::string(api::uid_of(one));
    Json child = Json::object({{"task_id", api::uid_of(one)}});
    set_text(child, "pod_name", one["status"]["podName"].as_string());
    children[one["spec"]["parentPath"].str()].push_back(std::move(child));
  }
  Json rows = Json::array();
  for (const Json& one : tasks) {
    const auto below = children.find(one["spec"]["path"].str());
    rows.push_back(shape(run_id, one, ids, below == children.end() ? Json::array() : below->second));
  }
  return Json::object({{"task_details", std::move(rows)}});
}

}  // namespace pipelines::rest
