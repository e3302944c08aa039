// A state is entered once; texts and counts may change inside it.
#include "controllers/pipelines/run_status.h"

#include "base/utf8.h"
#include "controllers/pipelines/task_objects.h"

namespace controllers::pipelines {

using api::Json;

namespace {

constexpr std::size_t kHistoryMax = 50;
constexpr std::size_t kErrorMax = 4096;

}  // namespace

Json run_status(const Json& before, std::string_view state, const std::string& error, base::Time now) {
  Json status = before.is_object() ? before : Json::object();
  const std::string time = base::format_rfc3339(now);
  const std::string_view shown = base::utf8_prefix(error, kErrorMax);
  if (status["state"].as_string() != state) {
    status.set("state", state);
    Json entry = Json::object({{"updateTime", time}, {"state", state}});
    if (!shown.empty()) entry.set("error", shown);
    std::vector<Json> history(status["stateHistory"].items().begin(), status["stateHistory"].items().end());
    history.push_back(std::move(entry));
    if (history.size() > kHistoryMax) history.erase(history.begin());
    status.set("stateHistory", Json::array(std::move(history)));
    if (is_final(state))
      status.set("finishedAt", time);
    else
      status.erase("finishedAt");
  }
  if (!status.has("startedAt") && state != "PENDING") status.set("startedAt", time);
  if (shown.empty())
    status.erase("error");
  else
    status.set("error", shown);
  return status;
}

Json task_counts(const RunLook& look) {
  std::int64_t total = 0, running = 0, succeeded = 0, failed = 0;
  const auto count = [&](std::string_view state) {
    ++total;
    running += state == "RUNNING" ? 1 : 0;
    succeeded += state == "SUCCEEDED" || state == "SKIPPED" || state == "CACHED" ? 1 : 0;
    failed += state == "FAILED" ? 1 : 0;
  };
  for (const auto& [path, task] : look.tasks)
    if (is_leaf((*task)["spec"]["type"].as_string()) && !look.changed.contains(path))
      count((*task)["status"]["state"].as_string());
  for (const auto& [path, state] : look.changed) count(state);
  return Json::object({{"total", total}, {"running", running}, {"succeeded", succeeded}, {"failed", failed}});
}

}  // namespace controllers::pipelines
