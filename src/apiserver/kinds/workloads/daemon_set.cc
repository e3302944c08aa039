// DaemonSets.
#include <vector>

#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/workloads/pod_templates.h"
#include "apiserver/kinds/workloads/template_cells.h"

namespace apiserver {

using api::Json;

namespace {

void default_daemon_set(Json& object) {
  if (!takes_members(object["spec"])) return;
  Json& spec = object.edit("spec");
  default_strategy(spec, "updateStrategy", Json::object({{"maxUnavailable", 1}, {"maxSurge", 0}}));
  set_if_absent(spec, "revisionHistoryLimit", 10);
  default_pod_template(spec);
}

base::Status prepare_daemon_set(const Context&, Json& object, api::FieldErrors&) {
  Json status = Json::object();
  for (const char* key : {"currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"})
    status.set(key, 0);
  object.set("status", std::move(status));
  return {};
}

void check_strategy(const Json& spec, api::FieldErrors& errors) {
  const Json& strategy = spec["updateStrategy"];
  const std::string_view type = strategy["type"].as_string();
  if (type == "OnDelete") return;
  if (type != "RollingUpdate")
    return errors.unsupported("spec.updateStrategy.type", strategy["type"], R"("OnDelete", "RollingUpdate")");
  const std::string path = "spec.updateStrategy.rollingUpdate.";
  const Json& rolling = strategy["rollingUpdate"];
  const bool none_away = check_share(rolling["maxUnavailable"], path + "maxUnavailable", true, errors);
  const bool none_more = check_share(rolling["maxSurge"], path + "maxSurge", true, errors);
  if (none_away && none_more)
    errors.required(path + "maxUnavailable", "cannot be 0 when `maxSurge` is 0");
  else if (!none_away && !none_more)
    errors.invalid(path + "maxSurge", rolling["maxSurge"], "may not be set when `maxUnavailable` is non-zero");
}

void check_daemon_set(const Json& stored, const Json& object, api::FieldErrors& errors) {
  check_selector("daemonset", object["spec"], errors);
  check_runs_for_ever("DaemonSet", stored, object["spec"]["template"], errors);
  check_strategy(object["spec"], errors);
  check_not_negative(object["spec"], "spec", {"replicas", "minReadySeconds", "revisionHistoryLimit"}, errors);
}

std::vector<Json> daemon_set_cells(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["template"]);
  const Json& status = o["status"];
  std::string selector;
  for (const Json::Member& label : o["spec"]["template"]["spec"]["nodeSelector"].members())
    selector += (selector.empty() ? "" : ",") + std::string(label.name()) + "=" + label.value.str();
  return {Json(status["desiredNumberScheduled"].as_int()),
          Json(status["currentNumberScheduled"].as_int()),
          Json(status["numberReady"].as_int()),
          Json(status["updatedNumberScheduled"].as_int()),
          Json(status["numberAvailable"].as_int()),
          Json(selector.empty() ? "<none>" : selector),
          age_of(o, now),
          names,
          images,
          selector_cell(o["spec"]["selector"])};
}
constexpr auto kColumnsOfDaemonSet = with_template_columns({{"Desired", "", "integer"},
                                                            {"Current", "", "integer"},
                                                            {"Ready", "", "integer"},
                                                            {"Up-to-date", "", "integer"},
                                                            {"Available", "", "integer"},
                                                            {"Node Selector", ""},
                                                            {"Age", ""}});

}  // namespace

const KindRules kDaemonSet = {.kind = "DaemonSet",
                              .defaults = default_daemon_set,
                              .prepare = prepare_daemon_set,
                              .check = check_daemon_set,
                              .check_update = check_same_selector,
                              .table = {kColumnsOfDaemonSet, daemon_set_cells}};

}  // namespace apiserver
