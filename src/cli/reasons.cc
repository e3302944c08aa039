// The conditions that the scheduler wrote, and its answers when asked.
#include "cli/reasons.h"

#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "cli/table.h"
#include "cli/text/people_table.h"

namespace cli {

using api::Json;

Flag scheduler_flag() {
  return {"scheduler", 0, Flag::Type::kText, "",
          "the address of the scheduler's metrics server, for its own words: http://host:8080"};
}

base::Result<Json> ask_scheduler(World& world, const Values& values) {
  const std::string& url = values.text("scheduler");
  if (url.empty()) return Json::object();
  std::string base_url = url;
  while (base_url.ends_with('/')) base_url.pop_back();
  TRY(const std::string text, world.fetch(base_url + "/debug/waiting"));
  auto parsed = api::parse_json(text);
  if (!parsed.ok()) return usage_error(base::format("{} did not answer with JSON: {}", url, parsed.error().message));
  return parsed;
}

const Json* condition_of(const Json& object, std::string_view type) {
  const Json* found = nullptr;
  for (const Json& condition : object["status"]["conditions"].items())
    if (condition["type"].as_string() == type) found = &condition;
  return found;
}

bool has_started(const Json& group) {
  const std::string_view phase = group["status"]["phase"].as_string();
  return phase == "Running" || phase == "Completed";
}

base::Result<AdmissionEvents> admission_events(Api& server, const std::string& ns) {
  TRY(const std::vector<Json> notified,
      list(server, {.verb = client::Verb::kList,
                    .resource = api::resources::kEvents,
                    .ns = ns,
                    .name = {},
                    .subresource = {},
                    .field_selector = "involvedObject.kind=PodGroup,reason=Unschedulable"}));
  std::map<std::string, std::pair<std::string, std::string>> newest;  // of several: its time and message
  for (const Json& event : notified) {
    const Json& about = event["involvedObject"];
    if (about["kind"].as_string() != "PodGroup" || event["reason"].as_string() != "Unschedulable" ||
        event["type"].as_string() != "Normal")
      continue;
    const std::string time =
        event["lastTimestamp"].is_string() ? event["lastTimestamp"].str() : event["eventTime"].str();
    auto& slot = newest[base::format("{}/{}", about["namespace"].as_string(), about["name"].as_string())];
    if (slot.first <= time) slot = {time, event["message"].str()};
  }
  AdmissionEvents out;
  for (auto& [key, event] : newest) out[key] = std::move(event.second);
  return out;
}

namespace {

std::string message_about(const Json& group, const Json* queue, const Json& live, const AdmissionEvents& events) {
  // The scheduler may know of a group whose pods have their nodes and wait for volumes.
  if (const Json* reported = live.find(api::key_of(group))) return (*reported)["message"].str();
  if (has_started(group)) return {};
  if (queue == nullptr) return base::format("queue {} does not exist", group["spec"]["queue"].as_string());
  const std::string_view state = (*queue)["status"]["state"].as_string();
  if (!state.empty() && state != "Open") return base::format("queue {} is {}", api::name_of(*queue), state);
  if (const Json* waits = condition_of(group, "Unschedulable");
      waits != nullptr && (*waits)["status"].as_string() == "True")
    return (*waits)["message"].str();
  if (group["status"]["phase"].as_string() != "Inqueue") {
    const auto notified = events.find(api::key_of(group));
    return notified == events.end() ? "it is not admitted yet" : "it is not admitted: " + notified->second;
  }
  return "the scheduler has not said anything about it yet";
}

}  // namespace

std::string reason_of(const Json& group, const Json* queue, const Json& live, const AdmissionEvents& events) {
  std::string message = message_about(group, queue, live, events);
  std::string plain = plain_reason(message);
  return plain.empty() ? message : plain;
}

}  // namespace cli
