// ControllerRevisions.
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/workloads/pod_templates.h"

namespace apiserver {

using api::Json;

namespace {

void default_controller_revision(Json& object) { set_if_absent(object, "revision", 0); }

void check_controller_revision(const Json&, const Json& object, api::FieldErrors& errors) {
  check_not_negative(object, "", {"revision"}, errors);
}

void check_new_controller_revision(const Json& object, api::FieldErrors& errors) {
  const Json& data = object["data"];
  if (!data.is_object())
    errors.required("data", data.is_null() ? "data is mandatory" : "data must be a valid JSON object");
}

void check_controller_revision_update(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  if (!(old_object["data"] == object["data"])) errors.invalid("data", object["data"], "field is immutable");
}

}  // namespace

const KindRules kControllerRevision = {.kind = "ControllerRevision",
                                       .defaults = default_controller_revision,
                                       .check = check_controller_revision,
                                       .check_create = check_new_controller_revision,
                                       .check_update = check_controller_revision_update};

}  // namespace apiserver
