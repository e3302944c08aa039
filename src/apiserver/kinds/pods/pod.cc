// Pods, and PodTemplates.
#include <vector>

#include "api/pod_requests.h"
#include "api/pods/pod_spec.h"
#include "api/pods/pod_summary.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/pods/pod_defaults.h"
#include "apiserver/kinds/pods/pod_priority.h"
#include "apiserver/kinds/pods/pod_update.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

// Huge pages cannot be asked for without a limit: the pod's is that of its containers, unless it says one.
void default_huge_page_limits(Json& spec) {
  if (!takes_members(spec["resources"]["limits"])) return;
  for (const auto& [name, amount] : api::containers_total(spec, "limits"))
    if (name.starts_with("hugepages-")) set_if_absent(spec.edit("resources").edit("limits"), name, amount.to_json());
}

// The requests of a pod as a whole, unless it says them: what its containers do, or else its limit.
void default_pod_level_requests(Json& spec) {
  if (!takes_members(spec["resources"]["requests"])) return;
  const auto fill = [&spec](std::string_view name, const Json& amount) {
    if (api::is_pod_level(name)) set_if_absent(spec.edit("resources").edit("requests"), name, amount);
  };
  for (const auto& [name, amount] : api::containers_total(spec, "requests")) fill(name, amount.to_json());
  const Json limits = spec["resources"]["limits"];
  for (const Json::Member& limit : limits.members()) fill(limit.name(), limit.value);
}

void default_pod(Json& object) {
  default_pod_spec(object.edit("spec"));
  set_if_absent(object.edit("spec"), "enableServiceLinks", true);  // of pods alone, not of templates
  if (!object["spec"]["resources"].is_object()) return;
  default_huge_page_limits(object.edit("spec"));
  default_pod_level_requests(object.edit("spec"));
}

void default_pod_template_object(Json& object) {
  if (object["template"].is_object()) default_pod_spec(object.edit("template").edit("spec"));
}

void add_default_tolerations(Json& spec) {
  if (!spec["tolerations"].is_null() && !spec["tolerations"].is_array()) return;
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    bool present = false;
    for (const Json& toleration : spec["tolerations"].items()) {
      const std::string_view effect = toleration["effect"].as_string();
      if ((toleration["key"].as_string() == key || toleration["key"].as_string().empty()) &&
          (effect == "NoExecute" || effect.empty()))
        present = true;
    }
    if (!present)
      spec.edit("tolerations")
          .push_back(Json::object(
              {{"effect", "NoExecute"}, {"key", key}, {"operator", "Exists"}, {"tolerationSeconds", 300}}));
  }
}

bool is_text_or_absent(const Json& value) { return value.is_null() || value.is_string(); }

// Types are checked afterwards: what is of a wrong one stays, for validation to name.
base::Status prepare_pod(const Context& context, Json& object, api::FieldErrors&) {
  Json& spec = object.edit("spec");
  if (!spec.is_object()) return {};
  if (is_text_or_absent(spec["serviceAccountName"]) && is_text_or_absent(spec["serviceAccount"])) {
    if (spec["serviceAccountName"].as_string().empty()) {
      const std::string_view old_name = spec["serviceAccount"].as_string();
      spec.set("serviceAccountName", old_name.empty() ? Json("default") : Json(old_name));
    }
    spec.set("serviceAccount", spec["serviceAccountName"]);
  }
  TRY_VOID(set_pod_priority(context.objects, object));
  add_default_tolerations(object.edit("spec"));
  object.set("status", Json::object({{"phase", "Pending"}, {"qosClass", api::qos_class(object["spec"])}}));
  if (!object["spec"]["schedulingGates"].empty())
    object.edit_path({"status", "conditions"}) =
        Json::array({Json::object({{"type", "PodScheduled"},
                                   {"status", "False"},
                                   {"reason", "SchedulingGated"},
                                   {"message", "Scheduling is blocked due to non-empty scheduling gates"}})});
  return {};
}

void settle_pod(const Context&, std::string_view subresource, const Json&, Json& object, api::FieldErrors&) {
  if (subresource.empty() && object["spec"].is_object()) add_default_tolerations(object.edit("spec"));
}

void check_new_pod(const Json& object, api::FieldErrors& errors) {
  errors.add(api::check_pod_spec(object["spec"], "spec", {}));
}

std::vector<Json> pod_cells(const Json& pod, base::Time now) {
  const Json& status = pod["status"];
  const api::PodSummary summary = api::summary_of(pod);
  std::string restart_text = std::to_string(summary.restarts);
  if (summary.restarts > 0 && summary.last_restart)
    restart_text += base::format(" ({} ago)", base::format_human_duration(now - *summary.last_restart));
  std::int64_t gates = 0;
  std::int64_t gates_ready = 0;
  std::map<std::string_view, std::int64_t> met;
  for (const Json& condition : status["conditions"].items())
    if (condition["status"].as_string() == "True") ++met[condition["type"].as_string()];
  for (const Json& gate : pod["spec"]["readinessGates"].items()) {
    ++gates;
    gates_ready += met[gate["conditionType"].as_string()];
  }
  return {Json(base::format("{}/{}", summary.ready, summary.total)),
          Json(summary.status),
          Json(restart_text),
          age_of(pod, now),
          text_or(status["podIP"], "<none>"),
          text_or(pod["spec"]["nodeName"], "<none>"),
          text_or(status["nominatedNodeName"], "<none>"),
          gates == 0 ? Json("<none>") : Json(base::format("{}/{}", gates_ready, gates))};
}
constexpr api::Column kColumnsOfPod[] = {{"Ready", ""},
                                         {"Status", ""},
                                         {"Restarts", ""},
                                         {"Age", ""},
                                         {"IP", "", "string", 1},
                                         {"Node", "", "string", 1},
                                         {"Nominated Node", "", "string", 1},
                                         {"Readiness Gates", "", "string", 1}};
constexpr std::string_view kSelectableOfPod[] = {
    "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
    "status.phase",  "status.podIP",       "status.podIPs",      "status.nominatedNodeName"};

}  // namespace

const KindRules kPod = {.kind = "Pod",
                        .defaults = default_pod,
                        .prepare = prepare_pod,
                        .prepare_update = settle_pod,
                        .check_create = check_new_pod,
                        .check_update = check_pod_update,
                        .table = {kColumnsOfPod, pod_cells},
                        .selectable = kSelectableOfPod};

const KindRules kPodTemplate = {.kind = "PodTemplate", .defaults = default_pod_template_object};

}  // namespace apiserver
