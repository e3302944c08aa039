// Cells by the paths of the definitions, and computed ones for people.
#include "apiserver/documents/own_tables.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/utf8.h"

namespace apiserver {

using api::Column;
using api::Json;
using api::KindInfo;

namespace {

constexpr std::size_t kReasonBytesMax = 160;

// A column that only this server has: computed from the whole object.
struct WideColumn {
  Column column;
  Json (*cell)(const Json& object);
};

// "cpu: 2, memory: 4Gi"; what is zero is left out.
Json amounts(const Json& list) {
  std::string text;
  for (const Json::Member& member : list.members()) {
    const auto amount = api::Quantity::from_json(member.value);
    if (!amount || amount->is_zero()) continue;
    text += base::format("{}{}: {}", text.empty() ? "" : ", ", member.name(), amount->to_string());
  }
  return Json(text.empty() ? "<none>" : text);
}

// A row has one line: the first sentence says why, the rest is in the object.
Json first_sentence(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  text = text.substr(0, text.find(". "));
  if (text.size() <= kReasonBytesMax) return Json(text);
  return Json(std::string(base::utf8_prefix(text, kReasonBytesMax)) + "...");
}

// The state of a job has a word, a sentence, or both, once something has gone wrong.
Json job_reason(const Json& job) {
  const Json& state = job["status"]["state"];
  const std::string_view word = state["reason"].as_string(), sentence = state["message"].as_string();
  if (word.empty() || sentence.empty()) return first_sentence(word.empty() ? sentence : word);
  return first_sentence(base::format("{}: {}", word, sentence));
}

// The newest condition that holds, unless it is that the group was scheduled.
Json group_reason(const Json& group) {
  const Json* newest = nullptr;
  for (const Json& one : group["status"]["conditions"].items())
    if (one["status"].as_string() == "True" &&
        (!newest || one["lastTransitionTime"].as_string() >= (*newest)["lastTransitionTime"].as_string()))
      newest = &one;
  if (!newest || (*newest)["type"].as_string() == "Scheduled") return Json("");
  const std::string_view sentence = (*newest)["message"].as_string();
  return first_sentence(sentence.empty() ? (*newest)["reason"].as_string() : sentence);
}

template <const char* const& Member>
Json count_of(const Json& object) {
  return Json(object["status"][Member].as_int());
}
constexpr const char* kRunning = "running";
constexpr const char* kSucceeded = "succeeded";
constexpr const char* kFailed = "failed";

// Pods that the job is to have and that do not run yet, whether they are made already or not.
Json waiting_pods(const Json& job) {
  const Json& status = job["status"];
  const std::string_view phase = status["state"]["phase"].as_string();
  const bool is_to_run = phase.empty() || phase == "Pending" || phase == "Running" || phase == "Restarting";
  std::int64_t missing = 0;
  for (const Json& task : job["spec"]["tasks"].items()) missing += task["replicas"].as_int(1);
  for (const char* counted : {"running", "succeeded", "failed", "unknown"}) missing -= status[counted].as_int();
  return Json(std::max(status["pending"].as_int(), is_to_run ? missing : 0));
}

const std::vector<WideColumn>& wide_columns(const KindInfo& kind) {
  static const std::vector<WideColumn> kQueue = {
      {{"STATE", "", "string", 1}, [](const Json& o) { return o["status"]["state"]; }},
      {{"USED", "", "string", 1}, [](const Json& o) { return amounts(o["status"]["allocated"]); }},
      {{"LIMIT", "", "string", 1}, [](const Json& o) { return amounts(o["spec"]["capability"]); }},
      {{"RUNNING", "", "integer", 1}, count_of<kRunning>},
      {{"WAITING", "", "integer", 1},
       [](const Json& o) { return Json(o["status"]["pending"].as_int() + o["status"]["inqueue"].as_int()); }}};
  static const std::vector<WideColumn> kJob = {{{"WAITING", "", "integer", 1}, waiting_pods},
                                               {{"SUCCEEDED", "", "integer", 1}, count_of<kSucceeded>},
                                               {{"FAILED", "", "integer", 1}, count_of<kFailed>},
                                               {{"REASON", "", "string", 1}, job_reason}};
  static const std::vector<WideColumn> kPodGroup = {{{"SUCCEEDED", "", "integer", 1}, count_of<kSucceeded>},
                                                    {{"FAILED", "", "integer", 1}, count_of<kFailed>},
                                                    {{"REASON", "", "string", 1}, group_reason}};
  static const std::vector<WideColumn> kNone;
  if (kind.resource == api::resources::kQueues) return kQueue;
  if (kind.resource == api::resources::kJobs) return kJob;
  return kind.resource == api::resources::kPodGroups ? kPodGroup : kNone;
}

const Json& at_path(const Json& object, std::string_view path) {
  const Json* at = &object;
  path.remove_prefix(1);
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    std::string_view name = path.substr(0, dot);
    const bool last = name.ends_with("[-1:]");
    if (last) name.remove_suffix(5);
    at = &(*at)[name];
    if (last) at = &(*at)[at->items().size() - 1];
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return *at;
}

Json defined_cell(const Column& column, const Json& object, base::Time now) {
  const Json& value = at_path(object, column.path);
  if (column.type != "date" || value.is_null()) return value;
  const auto time = base::parse_rfc3339(value.as_string());
  return Json(time ? base::format_human_duration(now - *time) : "<unknown>");
}

}  // namespace

std::vector<Column> own_columns(const KindInfo& kind) {
  std::vector<Column> columns = kind.columns;
  for (const WideColumn& one : wide_columns(kind)) columns.push_back(one.column);
  return columns;
}

std::vector<Json> own_cells(const KindInfo& kind, const Json& object, base::Time now) {
  std::vector<Json> cells;
  for (const Column& column : kind.columns) cells.push_back(defined_cell(column, object, now));
  for (const WideColumn& one : wide_columns(kind)) cells.push_back(one.cell(object));
  return cells;
}

}  // namespace apiserver
