// How the API's word about a pod and the findings on this machine are joined.
#include "node/agent/pods/pod_recovery.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/pod/pod_plan.h"
#include "node/pod/probe.h"

namespace node {

using api::Json;

namespace {

EndedRun end_of(const RecoveredContainer& run) {
  EndedRun ended{run.id, run.started_at, run.finished_at, run.exit_code, {}, {}};
  ended.reason = run.lost             ? "ContainerStatusUnknown"
                 : run.out_of_memory  ? "OOMKilled"
                 : run.exit_code == 0 ? "Completed"
                                      : "Error";
  if (run.lost) ended.message = "the container's end was not seen";
  return ended;
}

// A run that the API knows and that left nothing here is over, and nobody saw how.
void adopt_known(const Json& known, base::Time now, ContainerState& container) {
  container.attempt = static_cast<int>(known["restartCount"].as_int());
  const bool waits = known["state"]["waiting"]["reason"].as_string() == "CrashLoopBackOff";
  const Json& ended = known[waits ? "lastState" : "state"]["terminated"];
  if (!ended.is_null()) {
    container.phase = RunPhase::kEnded;
    container.ended.exit_code = static_cast<int>(ended["exitCode"].as_int());
    container.ended.reason = ended["reason"].str();
    container.ended.message = ended["message"].str();
    container.ended.started = base::parse_rfc3339(ended["startedAt"].as_string()).value_or(base::Time{});
    container.ended.finished = base::parse_rfc3339(ended["finishedAt"].as_string()).value_or(base::Time{});
  } else if (known["state"].has("running")) {
    container.phase = RunPhase::kEnded;
    container.ended = {{},
                       base::parse_rfc3339(known["state"]["running"]["startedAt"].as_string()).value_or(base::Time{}),
                       now,
                       137,
                       "ContainerStatusUnknown",
                       "the container could not be located"};
  }
}

// A container that runs on has had its hook, and is as ready as it was.
void adopt_probes(const Json& known, ContainerState& container) {
  container.post_start = HookPhase::kDone;
  const bool same = known["restartCount"].as_int() == container.attempt;
  const bool started = same && known["started"].as_bool();
  container.probes[static_cast<std::size_t>(ProbeKind::kStartup)].holds = started;
  container.probes[static_cast<std::size_t>(ProbeKind::kReadiness)].holds = same && known["ready"].as_bool();
  container.started_once = started || container.attempt > container.first_attempt;
}

}  // namespace

PodRecovery::PodRecovery(AgentLoop& loop, PodWork& work, PodContainers& containers)
    : loop_(loop), work_(work), containers_(containers) {}

void PodRecovery::start(std::vector<RecoveredPod> found) {
  for (RecoveredPod& pod : found) found_[pod.uid] = std::move(pod);
}

void PodRecovery::forget_others() {
  for (const auto& [uid, pod] : found_) {
    base::log_info("node", base::format("removing what is left of pod {}/{}", pod.ns, pod.name));
    work_.erase(uid);
  }
  found_.clear();
}

base::Duration PodRecovery::uptime_of(base::Time past) const {
  return loop_.uptime() - std::max(loop_.now() - past, base::Duration{});
}

void PodRecovery::adopt(PodWorker& worker) {
  const Json& pod = worker.pod;
  const std::string uid(api::uid_of(pod));
  worker.state = initial_state(pod);
  const std::string_view phase = pod["status"]["phase"].as_string();
  if (const auto since = base::parse_rfc3339(pod["status"]["startTime"].as_string())) worker.state.start_time = *since;
  const auto found = found_.find(uid);
  // The findings of the start are old by now. Ends that were told meanwhile were told to nobody, but they are on disk;
  // later ones find the container known, because both this and they happen on the loop.
  if (found != found_.end()) {
    found->second.containers = loop_.runtime()->containers_of(uid);
    worker.state.ip = found->second.ip;
  }
  const RecoveredPod* here = found == found_.end() ? nullptr : &found->second;
  bool running = false, begun = false;
  for (std::size_t i = 0; i < worker.state.containers.size(); ++i) {
    adopt_container(worker, i, here);
    const ContainerState& container = worker.state.containers[i];
    running |= container.phase == RunPhase::kRunning;
    begun |= container.phase != RunPhase::kNone || container.attempt > 0;
  }
  if (phase == "Succeeded" || phase == "Failed") {
    worker.settled = true;
    worker.state.stopping = true;  // nothing of it is started again
    worker.state.sandbox = here == nullptr ? Sandbox::kGone : Sandbox::kReady;
  } else if (running) {
    worker.state.sandbox = Sandbox::kReady;
  } else if (begun && (here == nullptr || !here->prepared)) {
    containers_.lose_sandbox(worker);
  }
  if (here != nullptr) found_.erase(found);
}

void PodRecovery::adopt_container(PodWorker& worker, std::size_t index, const RecoveredPod* here) {
  ContainerState& container = worker.state.containers[index];
  bool local = false;
  if (here != nullptr) {
    if (const auto first = here->first_attempts.find(container.name); first != here->first_attempts.end())
      container.first_attempt = first->second;
    for (const RecoveredContainer& run : here->containers) {
      if (run.name != container.name || !run.started) continue;
      local = true;
      if (container.phase == RunPhase::kEnded) container.last = container.ended;
      container.attempt = run.attempt;
      container.id = run.id;
      container.started = run.started_at;
      container.phase = run.running ? RunPhase::kRunning : RunPhase::kEnded;
      container.image_ready = true;
      if (!run.running) {
        container.ended = end_of(run);
        if (!run.lost) container.ended.message = containers_.last_words(worker, container);
      }
      if (run.running) container.post_start = HookPhase::kDone;
      containers_.add(run.id, std::string(api::uid_of(worker.pod)), index);
    }
  }
  // A run that the API knows and that left nothing here is over, and nobody saw how.
  for (const Json& known : worker.pod["status"][status_list(container)].items()) {
    if (known["name"].as_string() != container.name) continue;
    container.image_id = known["imageID"].str();
    if (local)
      adopt_probes(known, container);
    else
      adopt_known(known, loop_.now(), container);
  }
  if (container.phase == RunPhase::kEnded && container.attempt > container.first_attempt)
    container.back_off = kBackOffFirst;
  container.started_at = uptime_of(container.started);
  container.ended_at = uptime_of(container.ended.finished);
}

}  // namespace node
