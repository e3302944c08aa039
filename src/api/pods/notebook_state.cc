// The pod first, then what its group waits for, then events of objects that have made no pod.
#include "api/pods/notebook_state.h"

#include "api/meta/resource.h"
#include "base/format.h"

namespace api {
namespace {

using Phase = NotebookState::Phase;

bool is_true(const Json& pod, std::string_view type) {
  for (const Json& condition : pod["status"]["conditions"].items())
    if (condition["type"].as_string() == type) return condition["status"].as_string() == "True";
  return false;
}

std::string why_unscheduled(const Json& pod) {
  for (const Json& condition : pod["status"]["conditions"].items())
    if (condition["type"].as_string() == "PodScheduled" && condition["status"].as_string() == "False")
      return condition["message"].str();
  return {};
}

// The words of a container that does not run; `failed` is set where it was tried and ended.
std::string why_not_running(const Json& pod, bool& failed) {
  for (const char* list : {"initContainerStatuses", "containerStatuses"})
    for (const Json& status : pod["status"][list].items()) {
      const Json& waiting = status["state"]["waiting"];
      const std::string_view reason = waiting["reason"].as_string(), message = waiting["message"].as_string();
      if (reason.empty() || reason == "PodInitializing" || (reason == "ContainerCreating" && message.empty())) continue;
      failed = reason == "CrashLoopBackOff";
      std::string text = base::format("container {}: {}{}{}", status["name"].as_string(), reason,
                                      message.empty() ? "" : ": ", message);
      const Json& last = status["lastState"]["terminated"];
      if (failed && !last.is_null())
        text += base::format("; it ended with code {}{}{}", last["exitCode"].as_int(),
                             last["message"].as_string().empty() ? "" : ": ", last["message"].as_string());
      return text;
    }
  return {};
}

std::string newest_warning(const std::vector<Json>& events) {
  std::string newest, text;
  for (const Json& event : events) {
    if (event["type"].as_string() != "Warning") continue;
    const std::string time =
        event["lastTimestamp"].is_string() ? event["lastTimestamp"].str() : event["eventTime"].str();
    if (time < newest) continue;
    newest = time;
    text = base::format("{}: {}", event["reason"].as_string(), event["message"].as_string());
  }
  return text;
}

NotebookState state_of_pod(const Json& pod, const NotebookSeen& seen) {
  if (is_true(pod, "Ready")) return {Phase::kReady, {}};
  const std::string_view phase = pod["status"]["phase"].as_string();
  if (phase == "Failed" || phase == "Succeeded")
    return {Phase::kFailed, base::format("its pod {} has ended: {}{}{}", name_of(pod), phase,
                                         pod["status"]["message"].as_string().empty() ? "" : ": ",
                                         pod["status"]["message"].as_string())};
  if (pod["spec"]["nodeName"].as_string().empty()) {
    if (!seen.group_waits.empty()) return {Phase::kWaiting, seen.group_waits};
    const std::string why = why_unscheduled(pod);
    return {Phase::kWaiting, why.empty() ? "the scheduler has not said anything about it yet" : why};
  }
  bool failed = false;
  std::string why = why_not_running(pod, failed);
  if (why.empty()) {
    const std::string warning = newest_warning(seen.events);
    why = phase == "Running" ? "its server has started and does not answer yet"
          : warning.empty()
              ? base::format("its container is being made on node {}", pod["spec"]["nodeName"].as_string())
              : warning;
  }
  return {failed ? Phase::kFailed : Phase::kWaiting, why};
}

}  // namespace

const Json* pod_that_counts(const std::vector<Json>& pods) {
  const Json* found = nullptr;
  for (const Json& pod : pods) {
    if (pod["metadata"].has("deletionTimestamp")) continue;
    if (found == nullptr ||
        (*found)["metadata"]["creationTimestamp"].as_string() < pod["metadata"]["creationTimestamp"].as_string())
      found = &pod;
  }
  return found;
}

NotebookState notebook_state(const NotebookSeen& seen) {
  if (!seen.object.is_object()) return {Phase::kAbsent, {}};
  if (seen.object["metadata"].has("deletionTimestamp")) return {Phase::kStopping, "it is being deleted"};
  const Json* pod = pod_that_counts(seen.pods);
  if (seen.object["metadata"]["annotations"].has(kStoppedAnnotation)) {
    if (seen.pods.empty()) return {Phase::kStopped, {}};
    return {Phase::kStopping, base::format("its pod {} is ending", name_of(seen.pods.front()))};
  }
  if (pod != nullptr) return state_of_pod(*pod, seen);
  if (!seen.pods.empty()) return {Phase::kWaiting, "its last pod is still ending"};
  const std::string warning = newest_warning(seen.events);
  return {Phase::kWaiting, warning.empty() ? "its controller has made no pod yet" : warning};
}

std::string_view phase_word(Phase phase) {
  switch (phase) {
    case Phase::kAbsent: return "absent";
    case Phase::kStopping: return "stopping";
    case Phase::kStopped: return "stopped";
    case Phase::kWaiting: return "waits";
    case Phase::kFailed: return "failed";
    case Phase::kReady: return "ready";
  }
  return {};
}

}  // namespace api
