// How a Job's end is told: the pod or the policy behind it, in one sentence.
#include "controllers/job/ending.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/utf8.h"

namespace controllers::job {

using api::Json;

namespace {

constexpr std::size_t kWordBytesMax = 64;  // of a reason that somebody else wrote into the pod

std::string_view short_word(const Json& word) { return base::utf8_prefix(word.as_string(), kWordBytesMax); }

// The end of the pod as its status says it: the reason of whoever ended it, or the first exit code that is not 0.
std::string end_of(const Json& pod) {
  const Json& status = pod["status"];
  if (!status["reason"].as_string().empty()) return std::string(short_word(status["reason"]));
  for (const char* list : {"initContainerStatuses", "containerStatuses"})
    for (const Json& container : status[list].items()) {
      const Json& ended = container["state"]["terminated"];
      const std::int64_t code = ended["exitCode"].as_int();
      if (code == 0) continue;
      const std::string_view reason = short_word(ended["reason"]);
      if (reason.empty() || reason == "Error") return base::format("exit code {}", code);
      return base::format("{}, exit code {}", reason, code);
    }
  return "it does not say why";
}

// When, with those last that do not say. Times of the server have one width: their texts compare as they do.
std::pair<bool, std::string_view> ended_at(const Json& pod) {
  std::string_view last;
  for (const Json& container : pod["status"]["containerStatuses"].items())
    last = std::max(last, container["state"]["terminated"]["finishedAt"].as_string());
  return {last.empty(), last};
}

const Json* named(const std::vector<const Json*>& pods, std::string_view name) {
  const auto found =
      std::find_if(pods.begin(), pods.end(), [&](const Json* pod) { return api::name_of(*pod) == name; });
  return found == pods.end() ? nullptr : *found;
}

std::string happened(const Request& request, const std::vector<const Json*>& pods) {
  if (request.from_command) return "a command";
  const std::string& event = request.event.empty() ? request.cause : request.event;
  if (event == "PodFailed") {
    const Json* pod = named(pods, request.pod);
    return base::format("pod {} failed: {}", request.pod, pod ? end_of(*pod) : "it is gone");
  }
  if (event == "PodEvicted") return base::format("pod {} was evicted or deleted", request.pod);
  if (event == "PodPending") return base::format("pod {} was pending for too long", request.pod);
  if (event == "PodRunning") return base::format("pod {} runs", request.pod);
  if (event == "TaskCompleted") return base::format("task {} completed", request.task);
  if (event == "TaskFailed") return base::format("pods of task {} restarted too often", request.task);
  if (event == "Unknown") return "fewer pods run than start together";
  return event.empty() ? "the controller could not carry out its last action" : event;
}

}  // namespace

std::string why_acted(const Request& request, const std::vector<const Json*>& pods) {
  return base::format("{}: {}", request.action, happened(request, pods));
}

std::string why_failed(const Job& job, const Counts& counts, const std::vector<const Json*>& pods) {
  const Json* first = nullptr;
  for (const Json* pod : pods) {
    if ((*pod)["status"]["phase"].as_string() != "Failed" || api::is_deleting(*pod)) continue;
    if (!first || ended_at(*pod) < ended_at(*first)) first = pod;
  }
  if (!first) return base::format("{} of {} pods succeeded, too few", counts.succeeded, job.replicas_total());
  return base::format("{} of {} pods failed; first {}: {}", counts.failed, job.replicas_total(), api::name_of(*first),
                      end_of(*first));
}

std::string why_given_up(const Job& job, std::string_view last) {
  const std::string attempts = base::format("no attempt of {} is left", job.max_retry);
  return last.empty() ? attempts : base::format("{}; {}", last, attempts);
}

}  // namespace controllers::job
