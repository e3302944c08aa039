// The words of pods' statuses for deletions, evictions and preemptions.
#include "controllers/framework/disruption.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "api/meta/resource.h"
#include "base/time.h"

namespace controllers {

using api::Json;

namespace {

// As kubelets say it: "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.", "Container c
// exceeded its local ephemeral storage limit", "Usage of EmptyDir volume v exceeds the limit".
bool is_over_its_limit(std::string_view message) {
  return message.find("exceeds the ") != std::string_view::npos ||
         message.find("exceeded its ") != std::string_view::npos;
}

}  // namespace

bool is_disrupted(const Json& pod) {
  if (api::is_deleting(pod)) return true;
  const Json& status = pod["status"];
  for (const Json& condition : status["conditions"].items())
    if (condition["type"].as_string() == "DisruptionTarget" && condition["status"].as_string() == "True")
      // A pod that the kubelet ends because it is over its own limit has the condition in some versions, too.
      return !(status["reason"].as_string() == "Evicted" && is_over_its_limit(status["message"].as_string()));
  static constexpr std::array<std::string_view, 6> kReasons = {"Preempting",   "Preempted", "NodeLost",
                                                               "NodeShutdown", "Shutdown",  "Terminated"};
  const std::string_view reason = status["reason"].as_string();
  if (reason == "Evicted") return !is_over_its_limit(status["message"].as_string());
  return std::ranges::find(kReasons, reason) != kReasons.end();
}

bool ended_before_deletion(const Json& pod) {
  const auto gone = base::parse_rfc3339(pod["metadata"]["deletionTimestamp"].as_string());
  const Json& containers = pod["status"]["containerStatuses"];
  if (!gone || containers.empty()) return false;
  const base::Time asked = *gone - base::seconds(pod["metadata"]["deletionGracePeriodSeconds"].as_int());
  return std::ranges::all_of(containers.items(), [&](const Json& one) {
    const auto finished = base::parse_rfc3339(one["state"]["terminated"]["finishedAt"].as_string());
    return finished && *finished < asked;
  });
}

}  // namespace controllers
