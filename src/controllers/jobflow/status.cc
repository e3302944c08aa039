// Lists, histories and phases.
#include "controllers/jobflow/status.h"

#include <algorithm>
#include <set>

#include "api/meta/resource.h"
#include "controllers/job/job.h"

namespace controllers::jobflow {

using api::Json;
using job::Phase;

namespace {

// The oldest entries of a history go; a Job that is suspended and resumed for ever must not fill its flow.
constexpr std::size_t kHistoryMax = 100;

std::string_view phase_word(const Json& job) { return job["status"]["state"]["phase"].as_string(); }

const char* list_for(Phase phase) {
  switch (phase) {
    case Phase::kPending: return "pendingJobs";
    case Phase::kRunning: return "runningJobs";
    case Phase::kFailed: return "failedJobs";
    case Phase::kCompleted: return "completedJobs";
    case Phase::kTerminated: return "terminatedJobs";
    case Phase::kAborting:
    case Phase::kAborted:
    case Phase::kRestarting:
    case Phase::kNone: return "unKnowJobs";
    case Phase::kCompleting:
    case Phase::kTerminating: return nullptr;
  }
  return nullptr;
}

Json history(const Json& before, std::string_view phase, base::Time now) {
  std::vector<Json> entries(before.items().begin(), before.items().end());
  if (phase.empty() || (!entries.empty() && entries.back()["state"].as_string() == phase)) return before;
  const std::string time = base::format_rfc3339(now);
  if (!entries.empty()) entries.back().set("endTimestamp", time);
  entries.push_back(Json::object({{"startTimestamp", time}, {"state", phase}}));
  if (entries.size() > kHistoryMax) entries.erase(entries.begin());
  return Json::array(std::move(entries));
}

// When the Job ended; null: it has not, as far as is known.
Json end_of(const Json& job) {
  const Json& state = job["status"]["state"];
  const auto created = base::parse_rfc3339(job["metadata"]["creationTimestamp"].as_string());
  const auto ran = base::parse_go_duration(job["status"]["runningDuration"].as_string());
  if (created && ran) return base::format_rfc3339(*created + *ran);
  return job::is_finished(job::parse_phase(state["phase"].as_string())) ? state["lastTransitionTime"] : Json();
}

Json entry_for(const std::string& name, const Json& job, const Json& before, base::Time now) {
  Json entry = Json::object({{"name", name}, {"startTimestamp", job["metadata"]["creationTimestamp"]}});
  if (const std::string_view phase = phase_word(job); !phase.empty()) entry.set("state", phase);
  if (Json end = end_of(job); !end.is_null()) entry.set("endTimestamp", std::move(end));
  if (const std::int64_t restarts = job["status"]["retryCount"].as_int(); restarts > 0)
    entry.set("restartCount", restarts);
  // A Job that was made again begins a history of its own.
  const bool same = before["startTimestamp"] == entry["startTimestamp"];
  if (Json entries = history(same ? before["runningHistories"] : Json(), phase_word(job), now); !entries.empty())
    entry.set("runningHistories", std::move(entries));
  return entry;
}

Json condition_for(const Json& job) {
  Json condition = Json::object({{"createTime", job["metadata"]["creationTimestamp"]}});
  const Json& status = job["status"];
  if (!phase_word(job).empty()) condition.set("phase", phase_word(job));
  if (status["runningDuration"].is_string()) condition.set("runningDuration", status["runningDuration"]);
  if (!status["taskStatusCount"].empty()) condition.set("taskStatusCount", status["taskStatusCount"]);
  return condition;
}

}  // namespace

StatusBefore::StatusBefore(const Json& status) : json(status) {
  for (const Json& one : status["jobStatusList"].items()) entries.emplace(one["name"].as_string(), &one);
}

const Json& StatusBefore::entry(std::string_view job) const {
  static const Json kNone;
  const auto found = entries.find(job);
  return found == entries.end() ? kNone : *found->second;
}

bool is_completed(const StatusBefore& before, const Jobs& jobs, const std::string& name) {
  const auto job = jobs.find(name);
  return (job != jobs.end() ? phase_word(*job->second) : before.entry(name)["state"].as_string()) == "Completed";
}

std::string next_phase(const StatusBefore& status, const std::vector<Node>& nodes, const Jobs& jobs) {
  std::string before = status.json["state"]["phase"].str();
  if (!before.empty() && before != "Pending" && before != "Running") return before;
  std::size_t completed = 0;
  bool running = false;
  bool failed = false;
  for (const Node& node : nodes) {
    completed += is_completed(status, jobs, node.job) ? 1 : 0;
    const auto job = jobs.find(node.job);
    const Phase phase = job == jobs.end() ? Phase::kNone : job::parse_phase(phase_word(*job->second));
    running = running || phase == Phase::kRunning;
    failed = failed || phase == Phase::kFailed || phase == Phase::kTerminated;
  }
  if (before == "Running" && completed == nodes.size()) return "Succeed";
  if (failed) return "Failed";
  if (before == "Running") return before;
  return running || completed > 0 ? "Running" : "Pending";
}

Json make_status(const StatusBefore& before, const std::vector<Node>& nodes, const Jobs& jobs, const std::string& phase,
                 base::Time now) {
  std::vector<std::string> names;
  std::set<std::string> listed;
  for (const Node& node : nodes)
    if (listed.insert(node.job).second) names.push_back(node.job);
  for (const auto& [name, job] : jobs)
    if (listed.insert(name).second) names.push_back(name);
  Json status = Json::object({{"state", Json::object({{"phase", phase}})}});
  for (const std::string& name : names) {
    const Json& entry_before = before.entry(name);
    const auto job = jobs.find(name);
    if (job == jobs.end()) {
      if (entry_before["state"].as_string() != "Completed") continue;
      status.edit("completedJobs").push_back(name);
      status.edit("jobStatusList").push_back(entry_before);
      if (const Json& condition = before.json["conditions"][name]; !condition.is_null())
        status.edit("conditions").set(name, condition);
      continue;
    }
    if (const char* list = list_for(job::parse_phase(phase_word(*job->second)))) status.edit(list).push_back(name);
    status.edit("jobStatusList").push_back(entry_for(name, *job->second, entry_before, now));
    status.edit("conditions").set(name, condition_for(*job->second));
  }
  return status;
}

bool differ_in_counts_only(const Json& one, const Json& other) {
  const auto without_counts = [](Json status) {
    const Json conditions = status["conditions"];
    for (const Json::Member& condition : conditions.members())
      status.edit("conditions").edit(condition.name()).erase("taskStatusCount");
    return status;
  };
  return without_counts(one) == without_counts(other);
}

}  // namespace controllers::jobflow
