// The tables of the job controller: states, phases by counting, policies, minimal resources.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/groups/usage.h"
#include "controllers/job/min_resources.h"
#include "controllers/job/request.h"
#include "controllers/job/state.h"
#include "controllers/job/status.h"

namespace controllers::job {
namespace {

using api::Json;

Json parse(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

TEST(States, follow_the_table) {
  using enum Phase;
  using enum Operation;
  constexpr std::string_view kTargeted[] = {"RestartTask", "RestartPod", "RestartPartition"};
  for (const auto& [phase, rule] : {std::pair{kNone, Rule::kP}, {kPending, Rule::kP}, {kRunning, Rule::kR}}) {
    EXPECT_EQ(move_for(phase, "RestartJob"), (Move{kKillAll, Rule::kNone, kRestarting, true}));
    for (const auto action : kTargeted)
      EXPECT_EQ(move_for(phase, action), (Move{kKillTarget, Rule::kNone, kRestarting, true}));
    EXPECT_EQ(move_for(phase, "AbortJob"), (Move{kKillSoft, Rule::kNone, kAborting}));
    EXPECT_EQ(move_for(phase, "TerminateJob"), (Move{kKillSoft, Rule::kNone, kTerminating}));
    EXPECT_EQ(move_for(phase, "CompleteJob"), (Move{kKillSoft, Rule::kNone, kCompleting}));
    for (const char* action : {"ResumeJob", "SyncJob", "EnqueueJob", "Anything"})
      EXPECT_EQ(move_for(phase, action), (Move{kSync, rule})) << action;
  }
  for (const char* action : {"RestartJob", "AbortJob", "TerminateJob", "CompleteJob", "ResumeJob", "EnqueueJob"})
    EXPECT_EQ(move_for(kRestarting, action), (Move{kKillAll, Rule::kS})) << action;
  EXPECT_EQ(move_for(kRestarting, "SyncJob"), (Move{kSync, Rule::kS}));
  EXPECT_EQ(move_for(kRestarting, "AbortJob", true), (Move{kKillSoft, Rule::kNone, kAborting}));
  EXPECT_EQ(move_for(kRestarting, "TerminateJob", true), (Move{kKillSoft, Rule::kNone, kTerminating}));
  EXPECT_EQ(move_for(kRestarting, "CompleteJob", true), (Move{kKillSoft, Rule::kNone, kCompleting}));
  for (const char* action : {"RestartJob", "ResumeJob", "EnqueueJob"})
    EXPECT_EQ(move_for(kRestarting, action, true), (Move{kKillAll, Rule::kS})) << action;
  for (const auto action : kTargeted) EXPECT_EQ(move_for(kRestarting, action), (Move{kKillTarget, Rule::kS}));
  struct Row {
    Phase phase;
    Rule rule;
  };
  for (const Row& row :
       {Row{kAborting, Rule::kA}, Row{kAborted, Rule::kNone}, Row{kCompleting, Rule::kC}, Row{kTerminating, Rule::kT},
        Row{kCompleted, Rule::kNone}, Row{kFailed, Rule::kNone}, Row{kTerminated, Rule::kNone}})
    for (const char* action : {"RestartJob", "RestartTask", "AbortJob", "TerminateJob", "CompleteJob", "SyncJob", "x"})
      EXPECT_EQ(move_for(row.phase, action), (Move{kKillSoft, row.rule})) << name_of(row.phase) << " " << action;
  for (const Phase phase : {kAborting, kAborted})
    EXPECT_EQ(move_for(phase, "ResumeJob"), (Move{kKillSoft, Rule::kNone, kRestarting}));
  for (const Phase phase : {kCompleting, kTerminating, kCompleted, kFailed, kTerminated})
    EXPECT_EQ(move_for(phase, "ResumeJob").operation, kKillSoft);
}

Counts counts(std::string_view text) {
  Counts result;
  const Json parsed = parse(text);
  for (const Json::Member& task : parsed.members())
    for (const Json::Member& phase : task.value.members())
      for (std::int64_t i = 0; i < phase.value.as_int(); ++i) {
        if (phase.name() == "Terminating")
          ++result.terminating;
        else
          result.add(std::string(task.name()), phase.name());
      }
  return result;
}

struct JudgeRow {
  std::string_view spec;
  std::string_view status;
  Rule rule;
  std::string_view counted;
  Phase becomes;
};

TEST(Phases, follow_the_rules) {
  using enum Phase;
  constexpr std::string_view kTwo =
      R"({"minAvailable": 2, "maxRetry": 3, "tasks": [{"name": "a", "replicas": 3, "minAvailable": 2}]})";
  constexpr std::string_view kSuccess =
      R"({"minAvailable": 2, "minSuccess": 1, "tasks": [{"name": "a", "replicas": 3}]})";
  constexpr std::string_view kRunningState = R"({"state": {"phase": "Running"}})";
  constexpr std::string_view kRestartingState =
      R"({"state": {"phase": "Restarting"}, "minAvailable": 2, "retryCount": 1})";
  const JudgeRow rows[] = {
      {kTwo, "{}", Rule::kP, R"({"a": {"Running": 1, "Pending": 2}})", kPending},
      {kTwo, "{}", Rule::kP, R"({"a": {"Running": 1, "Failed": 1}})", kRunning},
      {kTwo, kRunningState, Rule::kR, R"({"a": {"Running": 3}})", kRunning},
      {kTwo, kRunningState, Rule::kR, R"({"a": {"Pending": 2, "Running": 1}})", kPending},
      {kTwo, kRunningState, Rule::kR, R"({"a": {"Pending": 1, "Running": 2}})", kRunning},
      {kTwo, kRunningState, Rule::kR, R"({"a": {"Succeeded": 2, "Failed": 1}})", kCompleted},
      {kTwo, kRunningState, Rule::kR, R"({"a": {"Succeeded": 1, "Failed": 2}})", kFailed},
      {kSuccess, kRunningState, Rule::kR, R"({"a": {"Succeeded": 1, "Running": 2}})", kCompleted},
      {kSuccess, kRunningState, Rule::kR, R"({"a": {"Failed": 3}})", kFailed},
      {R"({"minAvailable": 0, "tasks": []})", kRunningState, Rule::kR, "{}", kRunning},
      {R"({"minAvailable": 1, "tasks": [{"name": "a", "replicas": 1, "minAvailable": 0}, {"name": "b", "replicas": 1}]})",
       kRunningState, Rule::kR, R"({"a": {"Failed": 1}, "b": {"Succeeded": 1}})", kCompleted},
      {R"({"minAvailable": 2, "tasks": [{"name": "a", "replicas": 1, "minAvailable": 1}, {"name": "b", "replicas": 3,
          "minAvailable": 1}]})",
       kRunningState, Rule::kR, R"({"a": {"Failed": 1}, "b": {"Succeeded": 3}})", kFailed},
      {kTwo, kRestartingState, Rule::kS, R"({"a": {"Terminating": 2}})", kRestarting},
      {kTwo, kRestartingState, Rule::kS, R"({"a": {"Terminating": 1}})", kPending},
      {kTwo, R"({"state": {"phase": "Restarting"}, "retryCount": 3})", Rule::kS, "{}", kFailed},
      {kTwo, R"({"state": {"phase": "Aborting"}})", Rule::kA, R"({"a": {"Terminating": 1}})", kAborting},
      {kTwo, R"({"state": {"phase": "Aborting"}})", Rule::kA, R"({"a": {"Succeeded": 1, "Failed": 1}})", kAborted},
      {kTwo, R"({"state": {"phase": "Completing"}})", Rule::kC, R"({"a": {"Running": 1}})", kCompleting},
      {kTwo, R"({"state": {"phase": "Completing"}})", Rule::kC, "{}", kCompleted},
      {kTwo, R"({"state": {"phase": "Terminating"}})", Rule::kT, R"({"a": {"Pending": 1}})", kTerminating},
      {kTwo, R"({"state": {"phase": "Terminating"}})", Rule::kT, "{}", kTerminated},
      {kTwo, R"({"state": {"phase": "Aborted"}})", Rule::kNone, "{}", kAborted},
  };
  for (const JudgeRow& row : rows) {
    const Job job = read_job(Json::object({{"spec", parse(row.spec)}, {"status", parse(row.status)}}));
    EXPECT_EQ(name_of(judge(row.rule, job, counts(row.counted))), name_of(row.becomes)) << row.spec << row.counted;
  }
}

TEST(Policies, the_first_match_wins_and_tasks_come_before_jobs) {
  const Job job = read_job(parse(R"({"spec": {"tasks": [{"name": "w", "replicas": 1, "policies": [
      {"event": "PodFailed", "action": "RestartTask"}, {"exitCode": 7, "action": "AbortJob"},
      {"event": "PodPending", "action": "RestartPod"}]}],
    "policies": [{"events": ["PodEvicted", "PodFailed"], "action": "RestartJob", "timeout": "5s"},
                 {"event": "PodPending", "action": "AbortJob", "timeout": "1m"},
                 {"event": "*", "action": "TerminateJob"}]}, "status": {"version": 2}})"));
  struct Row {
    Request request;
    std::string_view action;
    base::Duration delay;
  };
  const Row rows[] = {
      {{.event = "PodFailed", .task = "w", .version = 2}, "RestartTask", {}},
      {{.event = "PodFailed", .task = "other", .version = 2}, "RestartJob", base::seconds(5)},
      {{.event = "PodEvicted", .task = "w", .exit_code = 7, .version = 2}, "AbortJob", {}},
      {{.event = "PodPending", .task = "w", .version = 2}, "AbortJob", base::minutes(1)},
      {{.event = "TaskCompleted", .task = "w", .version = 2}, "TerminateJob", {}},
      {{.event = "Unknown", .version = 2}, "TerminateJob", {}},
      {{.event = "", .version = 2}, "SyncJob", {}},
      {{.event = "PodFailed", .task = "w", .version = 1}, "SyncJob", {}},
      {{.event = "OutOfSync", .version = 2}, "SyncJob", {}},
      {{.event = "PodRunning", .task = "w", .version = 2}, "SyncJob", {}},
      {{.event = "CommandIssued", .action = "ResumeJob", .version = 0}, "ResumeJob", {}},
  };
  for (const Row& row : rows) {
    const Verdict verdict = evaluate(job, row.request);
    EXPECT_EQ(verdict.action, row.action) << row.request.event;
    EXPECT_EQ(verdict.delay, row.delay) << row.request.event;
  }
}

TEST(Policies, a_pending_pod_meets_those_with_a_timeout_even_of_nothing) {
  for (const auto& [timeout, action] :
       {std::pair{R"(, "timeout": "0s")", "RestartPod"}, std::pair{R"(, "timeout": "5s")", "RestartPod"},
        std::pair{R"(, "timeout": null)", "SyncJob"}, std::pair{"", "SyncJob"}}) {
    const Job job = read_job(parse(
        base::format(R"({{"spec": {{"policies": [{{"event": "PodPending", "action": "RestartPod"{}}}]}}}})", timeout)));
    EXPECT_EQ(evaluate(job, {.event = "PodPending"}).action, action) << timeout;
  }
}

TEST(Usage, of_a_pod_counts_as_a_quota_does) {
  EXPECT_EQ(api::to_json(quota_usage(parse(R"({
      "initContainers": [{"resources": {"requests": {"cpu": "3", "memory": "1Gi"}}},
                         {"restartPolicy": "Always", "resources": {"requests": {"cpu": "250m"}}}],
      "containers": [{"resources": {"requests": {"cpu": "500m", "nvidia.com/gpu": 1}, "limits": {"cpu": 1, "nvidia.com/gpu": 1}}},
                     {"resources": {"requests": {"cpu": "500m", "hugepages-2Mi": "4Mi"}, "limits": {"memory": "2Gi"}}}],
      "overhead": {"memory": "10Mi"}})")))
                .sorted()
                .dump(),
            R"({"count/pods":"1","cpu":"3","hugepages-2Mi":"4Mi","limits.cpu":"1","limits.memory":"2058Mi",)"
            R"("memory":"1034Mi","nvidia.com/gpu":"1","pods":"1","requests.cpu":"3","requests.hugepages-2Mi":"4Mi",)"
            R"("requests.memory":"1034Mi","requests.nvidia.com/gpu":"1"})");
}

TEST(Usage, minimal_resources_take_important_tasks_first) {
  const auto priority = [](std::string_view name) -> std::int64_t { return name == "high" ? 10 : 0; };
  const auto job = [](std::int64_t min_available) {
    return read_job(parse(base::format(R"({{"spec": {{"minAvailable": {}, "tasks": [
      {{"name": "worker", "replicas": 4, "minAvailable": 2, "template": {{"spec": {{"containers":
         [{{"resources": {{"requests": {{"cpu": 1}}}}}}]}}}}}},
      {{"name": "ps", "replicas": 2, "minAvailable": 1, "template": {{"spec": {{"priorityClassName": "high", "containers":
         [{{"resources": {{"requests": {{"cpu": 10}}}}}}]}}}}}}]}}}})",
                                       min_available)));
  };
  const std::pair<std::int64_t, std::string_view> rows[] = {{1, "10"}, {2, "20"}, {3, "12"},
                                                            {4, "22"}, {5, "23"}, {6, "24"}};
  for (const auto& [min_available, cpu] : rows)
    EXPECT_EQ(min_resources(job(min_available), priority)["cpu"].to_string(), cpu) << min_available;
}

}  // namespace
}  // namespace controllers::job
