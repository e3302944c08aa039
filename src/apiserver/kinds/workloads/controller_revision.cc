// ControllerRevisions.
#include <vector>

#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/workloads/pod_templates.h"
#include "base/format.h"
#include "base/letters.h"

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

// "deployment.apps/NAME"
std::string controller_text(const Json& object) {
  for (const Json& owner : object["metadata"]["ownerReferences"].items()) {
    if (!owner["controller"].as_bool()) continue;
    const std::string kind = base::lower(owner["kind"].str());
    const std::string group = owner["apiVersion"].str();
    return base::format("{}.{}/{}", kind, group.substr(0, group.find('/')), owner["name"].as_string());
  }
  return "<none>";
}

std::vector<Json> controller_revision_cells(const Json& object, base::Time now) {
  return {Json(controller_text(object)), object["revision"], age_of(object, now)};
}
constexpr api::Column kColumnsOfControllerRevision[] = {{"Controller", ""}, {"Revision", "", "integer"}, {"Age", ""}};

}  // namespace

const KindRules kControllerRevision = {.kind = "ControllerRevision",
                                       .defaults = default_controller_revision,
                                       .check = check_controller_revision,
                                       .check_create = check_new_controller_revision,
                                       .check_update = check_controller_revision_update,
                                       .table = {kColumnsOfControllerRevision, controller_revision_cells}};

}  // namespace apiserver
