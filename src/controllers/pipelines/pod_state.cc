// The status comes from the scheduler, the node and the container; each may say why a pod waits.
#include "controllers/pipelines/pod_state.h"

#include "base/format.h"
#include "pipelines/launcher/sent_report.h"

namespace controllers::pipelines {

using api::Json;

namespace {

const Json& main_container(const Json& pod) {
  for (const Json& one : pod["status"]["containerStatuses"].items())
    if (one["name"].as_string() == "main") return one;
  static const Json none;
  return none;
}

// A container that is on its way: the words say no more than PENDING does, and would cost each step a write.
bool is_on_its_way(const Json& waiting) {
  const std::string_view reason = waiting["reason"].as_string();
  return (reason == "ContainerCreating" || reason == "PodInitializing") && waiting["message"].as_string().empty();
}

std::string joined(std::string_view reason, std::string_view message) {
  if (reason.empty() || message.empty()) return std::string(reason.empty() ? message : reason);
  return base::format("{}: {}", reason, message);
}

std::string why_it_waits(const Json& pod) {
  for (const Json& one : pod["status"]["conditions"].items())
    if (one["type"].as_string() == "PodScheduled" && one["status"].as_string() == "False") return one["message"].str();
  const Json* waiting = &main_container(pod)["state"]["waiting"];
  for (const Json& one : pod["status"]["initContainerStatuses"].items())
    if (one["state"]["waiting"].is_object()) {
      waiting = &one["state"]["waiting"];
      break;
    }
  if (is_on_its_way(*waiting)) return {};
  return joined((*waiting)["reason"].as_string(), (*waiting)["message"].as_string());
}

std::string why_it_failed(const Json& pod, const Json& terminated) {
  if (const std::string status_text = joined(pod["status"]["reason"].as_string(), pod["status"]["message"].as_string());
      !status_text.empty())
    return status_text;
  if (!terminated.is_object()) return "its pod failed";
  std::string text = base::format("exit code {}", terminated["exitCode"].as_int());
  if (const std::string_view reason = terminated["reason"].as_string(); !reason.empty() && reason != "Error")
    text += base::format(" ({})", reason);
  std::string_view message = terminated["message"].as_string();
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.remove_suffix(1);
  if (!message.empty()) text += base::format(": {}", message);
  return text;
}

}  // namespace

PodState state_of(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  const Json& terminated = main_container(pod)["state"]["terminated"];
  PodState state;
  if (const auto ended = base::parse_rfc3339(terminated["finishedAt"].as_string())) state.ended = *ended;
  if (phase == "Succeeded") {
    state.phase = PodState::Phase::kSucceeded;
    state.report = ::pipelines::report_text(pod, terminated["message"].as_string());
  } else if (phase == "Failed") {
    state.phase = PodState::Phase::kFailed;
    state.error = why_it_failed(pod, terminated);
  } else if (phase == "Running") {
    state.phase = PodState::Phase::kRunning;
  } else {
    state.message = why_it_waits(pod);
  }
  return state;
}

}  // namespace controllers::pipelines
