// Causes are looked at in a fixed order: the first one that there is speaks.
#include "webapps/notebook_status.h"

#include "webapps/objects.h"

namespace webapps {

using api::Json;

namespace {

constexpr base::Duration kNew = base::seconds(10);  // so long a Notebook without a status is not a fault

bool is_new(const Json& notebook, base::Time now) {
  const auto made = base::parse_rfc3339(notebook["metadata"]["creationTimestamp"].as_string());
  return made && now - *made <= kNew;
}

Json waiting_status(const Json& waiting) {
  const std::string reason = waiting["reason"].str();
  if (reason == "PodInitializing") return status("waiting", reason);
  return status("warning", (reason.empty() ? "Undefined" : reason) + ": " +
                               std::string(waiting["message"].as_string("No available message for container state.")));
}

}  // namespace

Json notebook_status(const Json& notebook, base::Time now) {
  const Json& seen = notebook["status"];
  const std::int64_t ready = seen["readyReplicas"].as_int();
  if (seen["containerState"].empty() && seen["conditions"].empty() && is_new(notebook, now))
    return status("waiting", "Waiting for StatefulSet to create the underlying Pod.");
  if (notebook["metadata"]["annotations"].has("kubeflow-resource-stopped"))
    return ready == 0 ? status("stopped", "No Pods are currently running for this Notebook Server.")
                      : status("waiting", "Notebook Server is stopping.");
  if (notebook["metadata"].has("deletionTimestamp")) return status("terminating", "Deleting this Notebook Server.");
  if (ready == 1) return status("ready", "Running");
  if (const Json& waiting = seen["containerState"]["waiting"]; waiting.is_object()) return waiting_status(waiting);
  for (const Json& condition : seen["conditions"].items())
    if (condition.has("reason"))
      return status("warning", condition["reason"].str() + ": " + condition["message"].str());
  return {};
}

Json notebook_status_by_events(const Json& notebook, const std::vector<Json>& events) {
  const std::string_view made = notebook["metadata"]["creationTimestamp"].as_string();
  const Json* last = nullptr;
  const auto time_of = [](const Json& event) { return event["metadata"]["creationTimestamp"].as_string(); };
  for (const Json& event : events)
    if (event["type"].as_string() == "Warning" && time_of(event) >= made &&
        event["involvedObject"]["name"].as_string() == api::name_of(notebook) &&
        (last == nullptr || time_of(event) > time_of(*last)))
      last = &event;
  return status("warning", last == nullptr ? "Couldn't find any information for the status of this notebook."
                                           : (*last)["message"].as_string());
}

}  // namespace webapps
