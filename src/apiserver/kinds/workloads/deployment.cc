// Deployments.
#include <string>
#include <vector>

#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/workloads/pod_templates.h"
#include "apiserver/kinds/workloads/template_cells.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

constexpr std::size_t kReplicaSetNameMax = 253;  // any object's
constexpr std::size_t kHashLength = 11;          // "-" and ten letters behind a Deployment's name

void default_deployment(Json& object) {
  if (!takes_members(object["spec"])) return;
  Json& spec = object.edit("spec");
  set_if_absent(spec, "replicas", 1);
  default_strategy(spec, "strategy", Json::object({{"maxUnavailable", "25%"}, {"maxSurge", "25%"}}));
  set_if_absent(spec, "revisionHistoryLimit", 10);
  set_if_absent(spec, "progressDeadlineSeconds", 600);
  default_pod_template(spec);
}

base::Status prepare_deployment(const Context&, Json& object, api::FieldErrors&) {
  object.set("status", Json::object());
  return {};
}

// COMPAT(names-that-are-made): a stock server takes names whose ReplicaSets it refuses for ever.
void check_deployment_name(const Json& object, api::FieldErrors& errors) {
  const Json& name = object["metadata"]["name"];
  if (const std::size_t length = name.as_string().size() + kHashLength; length > kReplicaSetNameMax)
    errors.invalid(
        "metadata.name", name,
        base::format("the name of a ReplicaSet of it has {} letters, and {} are allowed", length, kReplicaSetNameMax));
}

void check_deployment_spec(const Json& spec, api::FieldErrors& errors) {
  const Json& strategy = spec["strategy"];
  const std::string_view type = strategy["type"].as_string();
  if (type == "Recreate") {
    if (!strategy["rollingUpdate"].is_null())
      errors.forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'");
  } else if (type == "RollingUpdate") {
    const std::string path = "spec.strategy.rollingUpdate.";
    const Json& rolling = strategy["rollingUpdate"];
    const bool none_away = check_share(rolling["maxUnavailable"], path + "maxUnavailable", true, errors);
    const bool none_more = check_share(rolling["maxSurge"], path + "maxSurge", false, errors);
    if (none_away && none_more)
      errors.invalid(path + "maxUnavailable", rolling["maxUnavailable"], "may not be 0 when `maxSurge` is 0");
  } else {
    errors.unsupported("spec.strategy.type", strategy["type"], R"("Recreate", "RollingUpdate")");
  }
  check_not_negative(spec, "spec", {"replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"},
                     errors);
  const Json& deadline = spec["progressDeadlineSeconds"];
  if (!deadline.is_null() && deadline.as_int() <= spec["minReadySeconds"].as_int())
    errors.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds");
}

void check_deployment(const Json& stored, const Json& object, api::FieldErrors& errors) {
  check_selector("deployment", object["spec"], errors);
  check_deployment_name(object, errors);
  check_runs_for_ever("Deployment", stored, object["spec"]["template"], errors);
  check_deployment_spec(object["spec"], errors);
}

std::vector<Json> deployment_cells(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["template"]);
  const Json& status = o["status"];
  return {Json(base::format("{}/{}", status["readyReplicas"].as_int(), o["spec"]["replicas"].as_int())),
          Json(status["updatedReplicas"].as_int()),
          Json(status["availableReplicas"].as_int()),
          age_of(o, now),
          names,
          images,
          selector_cell(o["spec"]["selector"])};
}
constexpr auto kColumnsOfDeployment =
    with_template_columns({{"Ready", ""}, {"Up-to-date", "", "integer"}, {"Available", "", "integer"}, {"Age", ""}});

}  // namespace

const KindRules kDeployment = {.kind = "Deployment",
                               .hands_annotations_on = true,
                               .defaults = default_deployment,
                               .prepare = prepare_deployment,
                               .check = check_deployment,
                               .check_update = check_same_selector,
                               .table = {kColumnsOfDeployment, deployment_cells}};

}  // namespace apiserver
