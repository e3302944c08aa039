// The news since the last look: pods that came, changed or went, and the group's phase.
//
// After a restart there is no last look; then the status that was written last stands for it, so that a task that
// completed or a pod that failed in between still meets its policies.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "api/meta/resource.h"
#include "base/number.h"
#include "controllers/framework/disruption.h"
#include "controllers/job/pods.h"
#include "controllers/job/step.h"

namespace controllers::job {

using api::Json;

namespace {

std::int64_t restarts_of(const Json& pod) {
  std::int64_t sum = 0;
  for (const char* list : {"initContainerStatuses", "containerStatuses"})
    for (const Json& status : pod["status"][list].items()) sum += status["restartCount"].as_int();
  return sum;
}

const Json& first_termination(const Json& pod) {
  return pod["status"]["containerStatuses"][std::size_t{0}]["state"]["terminated"];
}

// Only pods that say whose they are count.
std::optional<SeenPod> look_at(const Json& pod) {
  const auto version = base::parse_number<std::int64_t>(api::annotation_of(pod, "volcano.sh/job-version"));
  if (!version || !names_its_owner(pod)) return std::nullopt;
  return SeenPod{.uid = std::string(api::uid_of(pod)),
                 .phase = pod["status"]["phase"].str(),
                 .task = task_of(pod),
                 .partition = std::string(api::label_of(pod, "volcano.sh/partition-id")),
                 .index = index_of(pod),
                 .version = *version,
                 .restarts = restarts_of(pod),
                 .out_of_sync = pod["metadata"]["annotations"].has(kOutOfSync)};
}

struct TaskTally {
  std::int64_t succeeded = 0;
  std::int64_t restarts = 0;  // of pods that still run or wait
};

using Tallies = std::map<std::string, TaskTally>;

Tallies tally(const std::map<std::string, SeenPod>& pods) {
  Tallies tallies;
  for (const auto& [name, pod] : pods) {
    if (pod.phase == "Succeeded") ++tallies[pod.task].succeeded;
    if (pod.phase == "Running" || pod.phase == "Pending") tallies[pod.task].restarts += pod.restarts;
  }
  return tallies;
}

bool restarts_used_up(const Job& job, const std::string& name, const Tallies& tallies) {
  const Task* task = job.find_task(name);
  if (!task || task->replicas == 0 || task->max_retry == -1) return false;
  const auto found = tallies.find(name);
  return found != tallies.end() && found->second.restarts >= (task->max_retry == 0 ? 3 : task->max_retry);
}

bool is_complete(const Job& job, const std::string& name, const Tallies& tallies) {
  const Task* task = job.find_task(name);
  const auto found = tallies.find(name);
  return task && task->replicas > 0 && found != tallies.end() && found->second.succeeded >= task->replicas;
}

// The event of a pod that was in `before` ("" for a new one).
std::string event_for(const Job& job, const std::string& before, const SeenPod& pod, const Tallies& tallies) {
  if (pod.out_of_sync) return "OutOfSync";
  if (pod.phase == "Failed") return before == "Failed" ? "OutOfSync" : "PodFailed";
  if (pod.phase == "Succeeded")
    return before != "Succeeded" && is_complete(job, pod.task, tallies) ? "TaskCompleted" : "OutOfSync";
  if (before == pod.phase) return "OutOfSync";
  if (pod.phase == "Running") return "PodRunning";
  if (pod.phase == "Pending" || pod.phase.empty()) return "PodPending";
  return "OutOfSync";
}

// Whether this pod's new restarts are more than its task may have. They may come together with a change of its phase.
bool used_up_by(const Job& job, const SeenPod& pod, std::int64_t restarts_before, const Tallies& tallies) {
  return !pod.out_of_sync && (pod.phase == "Running" || pod.phase == "Pending") && pod.restarts > restarts_before &&
         restarts_used_up(job, pod.task, tallies);
}

Request request_for(const std::string& name, const SeenPod& pod, std::string event, base::Time when) {
  return {.event = std::move(event),
          .task = pod.task,
          .pod = name,
          .pod_uid = pod.uid,
          .partition = pod.partition,
          .version = pod.version,
          .when = when};
}

// A pod's later fate makes some waiting actions pointless.
void cancel_for(const Request& request, Memory& memory) {
  const bool over = request.event == "PodRunning" || request.event == "PodFailed" || request.event == "PodEvicted";
  std::erase_if(memory.requests, [&](const Request& one) {  // those that have not even begun to wait
    return one.event == "PodPending" && over && one.pod == request.pod && one.pod_uid == request.pod_uid;
  });
  std::erase_if(memory.delayed, [&](const Delayed& one) {
    if (one.request.pod != request.pod) return false;
    if (one.cause == "PodPending") return over && one.request.pod_uid == request.pod_uid;
    return (one.cause == "PodFailed" || one.cause == "PodEvicted") && request.event == "PodRunning";
  });
}

void push(Memory& memory, Request request) {
  cancel_for(request, memory);
  memory.requests.push_back(std::move(request));
}

std::int64_t counted(const Job& job, const std::string& task, std::string_view phase) {
  return job.object["status"]["taskStatusCount"][task]["phase"][phase].as_int();
}

// Which pod used up the restarts of its task is not known any more; a policy that restarts a pod has to name one.
std::optional<Request> used_up_after_restart(const std::vector<const Json*>& pods, const Memory& memory) {
  auto most = memory.pods.end();
  for (const Json* pod : pods) {
    const auto one = memory.pods.find(std::string(api::name_of(*pod)));
    if (one == memory.pods.end() || one->second.out_of_sync) continue;
    if (one->second.phase != "Running" && one->second.phase != "Pending") continue;
    if (most == memory.pods.end() || one->second.restarts > most->second.restarts) most = one;
  }
  if (most == memory.pods.end()) return std::nullopt;
  return request_for(most->first, most->second, "TaskFailed", {});
}

// COMPAT(restart-safe-events): the last status written stands for what the process before saw.
void notice_after_restart(const Job& job, const Observed& seen, Memory& memory) {
  const Tallies tallies = tally(memory.pods);
  // The process before was killing the job when it ended: what is missing, it removed.
  const bool half_killed = std::ranges::any_of(memory.pods, [](const auto& one) { return one.second.out_of_sync; });
  std::map<std::string, std::vector<const Json*>> by_task;
  for (const Json* pod : seen.pods) by_task[task_of(*pod)].push_back(pod);
  for (const Task& task : job.tasks) {
    std::vector<const Json*> failed;
    std::int64_t total = 0;
    std::set<std::int64_t> present;
    for (const Json* pod : by_task[task.name]) {
      ++total;
      const std::int64_t index = index_of(*pod);
      if (index >= 0 && index < task.replicas) present.insert(index);
      const std::string_view phase = (*pod)["status"]["phase"].as_string();
      if (phase == "Failed") failed.push_back(pod);
      const auto known = memory.pods.find(std::string(api::name_of(*pod)));
      if (known != memory.pods.end() && (phase == "Pending" || phase.empty())) {
        const auto created = base::parse_rfc3339((*pod)["metadata"]["creationTimestamp"].as_string());
        push(memory, request_for(known->first, known->second, "PodPending", created.value_or(base::Time{})));
      }
      if (known != memory.pods.end() && phase == "Succeeded" && is_complete(job, task.name, tallies) &&
          counted(job, task.name, "Succeeded") < task.replicas)
        push(memory, request_for(known->first, known->second, "TaskCompleted", {}));
    }
    if (restarts_used_up(job, task.name, tallies))
      if (auto request = used_up_after_restart(by_task[task.name], memory)) push(memory, *std::move(request));
    std::stable_sort(failed.begin(), failed.end(), [](const Json* a, const Json* b) {
      return first_termination(*a)["finishedAt"].as_string() > first_termination(*b)["finishedAt"].as_string();
    });
    const std::int64_t known_failed = counted(job, task.name, "Failed");
    for (std::size_t i = 0; i + static_cast<std::size_t>(known_failed) < failed.size(); ++i) {
      const auto known = memory.pods.find(std::string(api::name_of(*failed[i])));
      // A pod that the process before killed, or had too many of, did not fail by itself.
      const std::int64_t index = index_of(*failed[i]);
      const bool surplus = api::is_deleting(*failed[i]) && (index < 0 || index >= task.replicas);
      if (known == memory.pods.end() || known->second.out_of_sync || surplus) continue;
      Request request = request_for(known->first, known->second, "PodFailed", {});
      request.exit_code = first_termination(*failed[i])["exitCode"].as_int();
      request.disrupted = is_disrupted(*failed[i]);
      push(memory, std::move(request));
    }
    std::int64_t gone = -total;
    for (const char* phase : {"Pending", "Running", "Succeeded", "Failed", "Unknown"})
      gone += counted(job, task.name, phase);
    // Some say as much as all, and there may be more than there is memory.
    gone = half_killed ? 0 : std::min<std::int64_t>(gone, 1'000);
    for (std::int64_t index = 0; index < task.replicas && gone > 0; ++index) {
      if (present.contains(index)) continue;
      --gone;
      push(memory, {.event = "PodEvicted",
                    .task = task.name,
                    .pod = pod_name(job, task, index),
                    .partition = task.partition ? partition_of(task, index) : "",
                    .version = job.version});
    }
  }
}

}  // namespace

std::string_view volume_sentence(const Json& pod) {
  for (const Json& condition : pod["status"]["conditions"].items())
    if (condition["type"].as_string() == "PodScheduled" && condition["reason"].as_string() == "WaitForVolume")
      return condition["message"].as_string();
  return {};
}

bool names_its_owner(const Json& pod) {
  return base::parse_number<std::int64_t>(api::annotation_of(pod, "volcano.sh/job-version")) &&
         !api::annotation_of(pod, "volcano.sh/job-name").empty() &&
         !api::annotation_of(pod, "volcano.sh/task-spec").empty();
}

std::string task_of(const Json& pod) { return std::string(api::annotation_of(pod, "volcano.sh/task-spec")); }

std::int64_t index_of(const Json& pod) {
  return base::parse_number<std::int64_t>(api::annotation_of(pod, "volcano.sh/task-index")).value_or(-1);
}

void notice(const Job& job, const Observed& seen, base::Time now, Memory& memory) {
  std::map<std::string, SeenPod> current;
  std::map<std::string, const Json*> documents;
  for (const Json* pod : seen.pods)
    if (auto looked = look_at(*pod)) {
      documents[std::string(api::name_of(*pod))] = pod;
      current[std::string(api::name_of(*pod))] = std::move(*looked);
    }
  std::map<std::string, SeenPod> before = std::move(memory.pods);
  // A pod that we delete stays ours to delete while it ends.
  for (auto& [name, pod] : current)
    if (const auto old = before.find(name); old != before.end() && old->second.uid == pod.uid &&
                                            old->second.out_of_sync && api::is_deleting(*documents[name]))
      pod.out_of_sync = true;
  const Tallies tallies = tally(current);
  memory.pods = std::move(current);
  const std::string group_phase = seen.group ? (*seen.group)["status"]["phase"].str() : "";

  if (!memory.looked_before) {
    memory.looked_before = true;
    if (job.phase == Phase::kPending || job.phase == Phase::kRunning) notice_after_restart(job, seen, memory);
  } else {
    for (const auto& [name, old] : before) {
      const auto now_there = memory.pods.find(name);
      if (now_there != memory.pods.end() && now_there->second.uid == old.uid) continue;
      // COMPAT(scale-down): a pod that the job itself no longer wants was not evicted.
      const Task* task = job.find_task(old.task);
      const bool unwanted = old.out_of_sync || !task || old.index >= task->replicas;
      Request gone = request_for(name, old, "PodEvicted", now);
      cancel_for(gone, memory);
      if (unwanted) gone.event = "OutOfSync";
      memory.requests.push_back(std::move(gone));
    }
    for (const auto& [name, pod] : memory.pods) {
      const auto old = before.find(name);
      const bool known = old != before.end() && old->second.uid == pod.uid;
      const std::string phase_before = known ? old->second.phase : "none";
      const std::int64_t restarts_before = known ? old->second.restarts : 0;
      // A pod that succeeded ran in between, seen or not.
      if (pod.phase == "Succeeded" && phase_before != "Succeeded")
        cancel_for(request_for(name, pod, "PodRunning", now), memory);
      Request request = request_for(name, pod, event_for(job, phase_before, pod, tallies), now);
      if (request.event == "PodFailed") {
        request.exit_code = first_termination(*documents[name])["exitCode"].as_int();
        request.disrupted = is_disrupted(*documents[name]);
      }
      if (request.event != "OutOfSync") push(memory, std::move(request));
      if (used_up_by(job, pod, restarts_before, tallies)) push(memory, request_for(name, pod, "TaskFailed", now));
    }
  }
  // COMPAT(unknown-policy): the group's news is about the job as it is now.
  if (group_phase == "Unknown" && memory.group_phase != "Unknown")
    push(memory, {.event = "Unknown", .version = job.version, .when = now});
  memory.group_phase = group_phase;
}

}  // namespace controllers::job
