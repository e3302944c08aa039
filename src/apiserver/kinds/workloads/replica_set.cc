// ReplicaSets.
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/workloads/pod_templates.h"
#include "apiserver/kinds/workloads/template_cells.h"

namespace apiserver {

using api::Json;

namespace {

void default_replica_set(Json& object) {
  if (!takes_members(object["spec"])) return;
  set_if_absent(object.edit("spec"), "replicas", 1);
  default_pod_template(object.edit("spec"));
}

base::Status prepare_replica_set(const Context&, Json& object, api::FieldErrors&) {
  object.set("status", Json::object({{"replicas", 0}}));
  return {};
}

void check_replica_set(const Json& stored, const Json& object, api::FieldErrors& errors) {
  check_selector("replicaset", object["spec"], errors);
  check_runs_for_ever("ReplicaSet", stored, object["spec"]["template"], errors);
  check_not_negative(object["spec"], "spec", {"replicas", "minReadySeconds", "revisionHistoryLimit"}, errors);
}

constexpr auto kColumnsOfReplicaSet = with_template_columns(
    {{"Desired", "", "integer"}, {"Current", "", "integer"}, {"Ready", "", "integer"}, {"Age", ""}});

}  // namespace

const KindRules kReplicaSet = {.kind = "ReplicaSet",
                               .defaults = default_replica_set,
                               .prepare = prepare_replica_set,
                               .check = check_replica_set,
                               .check_update = check_same_selector,
                               .table = {kColumnsOfReplicaSet, replica_counts}};

}  // namespace apiserver
