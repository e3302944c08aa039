// Cells of the kinds of apps/v1 and batch/v1.
#include "apiserver/documents/workload_tables.h"

#include <map>
#include <string>

#include "api/selector_text.h"
#include "apiserver/documents/autoscaler_table.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

Json since(const Json& timestamp, base::Time now, std::string_view fallback) {
  const auto time = base::parse_rfc3339(timestamp.as_string());
  return time ? Json(base::format_human_duration(now - *time)) : Json(fallback);
}
Json count(const Json& value) { return Json(value.as_int()); }

// Names and images of the containers of a template, each as one list.
std::pair<Json, Json> containers_of(const Json& pod_template) {
  std::string names;
  std::string images;
  for (const Json& container : pod_template["spec"]["containers"].items()) {
    names += (names.empty() ? "" : ",") + container["name"].str();
    images += (images.empty() ? "" : ",") + container["image"].str();
  }
  return {Json(names), Json(images)};
}

Json selector_cell(const Json& selector) {
  const std::string text = api::selector_text(selector);
  return Json(text.empty() ? "<none>" : text);
}

std::vector<Json> deployment_cells(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["template"]);
  const Json& status = o["status"];
  return {Json(base::format("{}/{}", status["readyReplicas"].as_int(), o["spec"]["replicas"].as_int())),
          count(status["updatedReplicas"]),
          count(status["availableReplicas"]),
          age_of(o, now),
          names,
          images,
          selector_cell(o["spec"]["selector"])};
}

std::vector<Json> replica_set_cells(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["template"]);
  return {count(o["spec"]["replicas"]),
          count(o["status"]["replicas"]),
          count(o["status"]["readyReplicas"]),
          age_of(o, now),
          names,
          images,
          selector_cell(o["spec"]["selector"])};
}

std::vector<Json> stateful_set_cells(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["template"]);
  return {Json(base::format("{}/{}", o["status"]["readyReplicas"].as_int(), o["spec"]["replicas"].as_int())),
          age_of(o, now), names, images};
}

std::vector<Json> daemon_set_cells(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["template"]);
  const Json& status = o["status"];
  std::string selector;
  for (const Json::Member& label : o["spec"]["template"]["spec"]["nodeSelector"].members())
    selector += (selector.empty() ? "" : ",") + std::string(label.name()) + "=" + label.value.str();
  return {count(status["desiredNumberScheduled"]),
          count(status["currentNumberScheduled"]),
          count(status["numberReady"]),
          count(status["updatedNumberScheduled"]),
          count(status["numberAvailable"]),
          Json(selector.empty() ? "<none>" : selector),
          age_of(o, now),
          names,
          images,
          selector_cell(o["spec"]["selector"])};
}

std::string_view job_state(const Json& job) {
  const auto has = [&](std::string_view type) {
    for (const Json& condition : job["status"]["conditions"].items())
      if (condition["type"].as_string() == type && condition["status"].as_string() == "True") return true;
    return false;
  };
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (!job["metadata"]["deletionTimestamp"].is_null()) return "Terminating";
  if (has("Suspended")) return "Suspended";
  if (has("FailureTarget")) return "FailureTarget";
  if (has("SuccessCriteriaMet")) return "SuccessCriteriaMet";
  return "Running";
}

std::vector<Json> job_cells(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["template"]);
  const Json& spec = o["spec"];
  const Json& status = o["status"];
  std::string completions;
  if (!spec["completions"].is_null())
    completions = base::format("{}/{}", status["succeeded"].as_int(), spec["completions"].as_int());
  else if (spec["parallelism"].as_int() > 1)
    completions = base::format("{}/1 of {}", status["succeeded"].as_int(), spec["parallelism"].as_int());
  else
    completions = base::format("{}/1", status["succeeded"].as_int());
  Json duration("");
  if (const auto start = base::parse_rfc3339(status["startTime"].as_string()))
    duration =
        base::format_human_duration(base::parse_rfc3339(status["completionTime"].as_string()).value_or(now) - *start);
  return {
      Json(job_state(o)), Json(completions), duration, age_of(o, now), names, images, selector_cell(spec["selector"])};
}

std::vector<Json> cron_job_cells(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["jobTemplate"]["spec"]["template"]);
  const Json& spec = o["spec"];
  return {spec["schedule"],
          spec["timeZone"].is_string() ? spec["timeZone"] : Json("<none>"),
          Json(spec["suspend"].as_bool() ? "True" : "False"),
          Json(static_cast<std::int64_t>(o["status"]["active"].size())),
          since(o["status"]["lastScheduleTime"], now, "<none>"),
          age_of(o, now),
          names,
          images,
          selector_cell(spec["jobTemplate"]["spec"]["selector"])};
}

std::map<std::string, Printer, std::less<>> make_printers() {
  const auto with_containers = [](std::vector<api::Column> columns, bool selector = true) {
    columns.push_back({"Containers", "", "string", 1});
    columns.push_back({"Images", "", "string", 1});
    if (selector) columns.push_back({"Selector", "", "string", 1});
    return columns;
  };
  const std::vector<api::Column> counts =
      with_containers({{"Desired", "", "integer"}, {"Current", "", "integer"}, {"Ready", "", "integer"}, {"Age", ""}});
  return {
      {"Deployment",
       {with_containers({{"Ready", ""}, {"Up-to-date", "", "integer"}, {"Available", "", "integer"}, {"Age", ""}}),
        deployment_cells}},
      {"ReplicaSet", {counts, replica_set_cells}},
      {"ReplicationController", {counts, replica_set_cells}},
      {"StatefulSet", {with_containers({{"Ready", ""}, {"Age", ""}}, false), stateful_set_cells}},
      {"DaemonSet",
       {with_containers({{"Desired", "", "integer"},
                         {"Current", "", "integer"},
                         {"Ready", "", "integer"},
                         {"Up-to-date", "", "integer"},
                         {"Available", "", "integer"},
                         {"Node Selector", ""},
                         {"Age", ""}}),
        daemon_set_cells}},
      {"Job", {with_containers({{"Status", ""}, {"Completions", ""}, {"Duration", ""}, {"Age", ""}}), job_cells}},
      {"CronJob",
       {with_containers({{"Schedule", ""},
                         {"Timezone", ""},
                         {"Suspend", "", "boolean"},
                         {"Active", "", "integer"},
                         {"Last Schedule", ""},
                         {"Age", ""}}),
        cron_job_cells}},
      {"ControllerRevision",
       {{{"Controller", ""}, {"Revision", "", "integer"}, {"Age", ""}},
        [](const Json& o, base::Time now) {
          std::string controller = "<none>";
          for (const Json& owner : o["metadata"]["ownerReferences"].items())
            if (owner["controller"].as_bool()) {
              const std::string group = owner["apiVersion"].str();
              controller = base::format("{}.{}/{}", owner["kind"].as_string(), group.substr(0, group.find('/')),
                                        owner["name"].as_string());
              for (std::size_t i = 0; i < controller.find('.'); ++i)
                controller[i] = static_cast<char>(controller[i] >= 'A' && controller[i] <= 'Z' ? controller[i] + 32
                                                                                               : controller[i]);
            }
          return std::vector<Json>{Json(controller), o["revision"], age_of(o, now)};
        }}},
  };
}

std::string_view claim_state(const Json& claim) {
  if (api::is_deleting(claim))
    return claim["status"]["allocation"].is_null() ? "deleted" : "deleted,allocated,reserved";
  if (claim["status"]["allocation"].is_null()) return "pending";
  return claim["status"]["reservedFor"].empty() ? "allocated" : "allocated,reserved";
}

}  // namespace

Json age_of(const Json& object, base::Time now) {
  return since(object["metadata"]["creationTimestamp"], now, "<unknown>");
}

const Printer* workload_printer(std::string_view kind) {
  static const std::map<std::string, Printer, std::less<>> printers = make_printers();
  static const Printer claims{{{"State", ""}, {"Age", ""}}, [](const Json& claim, base::Time now) {
                                return std::vector<Json>{Json(claim_state(claim)), age_of(claim, now)};
                              }};
  if (kind == "ResourceClaim") return &claims;
  if (kind == "HorizontalPodAutoscaler") return &autoscaler_printer();
  const auto found = printers.find(kind);
  return found == printers.end() ? nullptr : &found->second;
}

}  // namespace apiserver
