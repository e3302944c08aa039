// ReplicationControllers, whose selector is a map of labels that the template may give.
#include "api/selector.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/workloads/pod_templates.h"
#include "apiserver/kinds/workloads/template_cells.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

void take_labels_of_template(Json& object) {
  Json& spec = object.edit("spec");
  const Json labels = spec["template"]["metadata"]["labels"];
  if (!labels.is_object()) return;
  if (spec["selector"].empty() && takes_members(spec["selector"])) spec.set("selector", labels);
  if (takes_members(object["metadata"]) && takes_members(object["metadata"]["labels"]) &&
      object["metadata"]["labels"].empty())
    object.edit("metadata").set("labels", labels);
}

void default_replication_controller(Json& object) {
  if (!takes_members(object["spec"])) return;
  set_if_absent(object.edit("spec"), "replicas", 1);
  take_labels_of_template(object);
  default_pod_template(object.edit("spec"));
}

base::Status prepare_replication_controller(const Context&, Json& object, api::FieldErrors&) {
  object.set("status", Json::object({{"replicas", 0}}));
  return {};
}

void check_labels_chosen(const Json& spec, api::FieldErrors& errors) {
  const Json& selector = spec["selector"];
  const Json& labels = spec["template"]["metadata"]["labels"];
  if (selector.is_null()) return errors.required("spec.selector");
  const auto parsed = api::label_selector_from(Json::object({{"matchLabels", selector}}));
  if (!parsed.ok()) return errors.invalid("spec.selector", selector, parsed.error().message);
  if (parsed->requirements.empty()) return errors.required("spec.selector");
  if (!parsed->matches(labels))
    errors.invalid("spec.template.metadata.labels", labels.is_null() ? Json::object() : labels,
                   "`selector` does not match template `labels`");
}

void check_replication_controller(const Json& stored, const Json& object, api::FieldErrors& errors) {
  check_labels_chosen(object["spec"], errors);
  check_runs_for_ever("ReplicationController", stored, object["spec"]["template"], errors);
  check_not_negative(object["spec"], "spec", {"replicas", "minReadySeconds", "revisionHistoryLimit"}, errors);
}

constexpr auto kColumnsOfReplicationController = with_template_columns(
    {{"Desired", "", "integer"}, {"Current", "", "integer"}, {"Ready", "", "integer"}, {"Age", ""}});
constexpr std::string_view kSelectableOfReplicationController[] = {"status.replicas"};

}  // namespace

const KindRules kReplicationController = {.kind = "ReplicationController",
                                          .defaults = default_replication_controller,
                                          .prepare = prepare_replication_controller,
                                          .check = check_replication_controller,
                                          .table = {kColumnsOfReplicationController, replica_counts},
                                          .selectable = kSelectableOfReplicationController};

}  // namespace apiserver
