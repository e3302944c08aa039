// Namespaces.
#include <vector>

#include "api/meta/resource.h"
#include "api/schema/names.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"

namespace apiserver {

using api::Json;

namespace {

void default_namespace(Json& object) {
  if (Json& metadata = object.edit("metadata"); takes_members(metadata) && takes_members(metadata["labels"]))
    metadata.edit("labels").set("kubernetes.io/metadata.name", api::name_of(object));
}

// The finalizers that somebody asked for, and the one of the controller that empties it.
base::Status prepare_namespace(const Context&, Json& object, api::FieldErrors& errors) {
  constexpr std::string_view kOwn = "kubernetes";
  object.set("status", Json::object({{"phase", "Active"}}));
  const Json asked = object["spec"]["finalizers"];
  if (!asked.is_null() && !asked.is_array()) return {};  // left for validation to name
  Json all = asked.is_array() ? asked : Json::array();
  bool has_own = false;
  for (const Json& one : all.items()) {
    has_own = has_own || one.as_string() == kOwn;
    if (!one.is_string() || errors.is_full()) continue;
    for (const std::string& why : api::check_qualified_name(one.as_string()))
      errors.invalid("spec.finalizers", one, why);
    if (one.as_string().find('/') == std::string_view::npos && one.as_string() != kOwn)
      errors.invalid("spec.finalizers", one, "name is neither a standard finalizer name nor is it fully qualified");
  }
  if (!has_own) all.push_back(Json(kOwn));
  object.edit("spec").set("finalizers", std::move(all));
  return {};
}

void settle_namespace(const Context&, std::string_view subresource, const Json& old_object, Json& object,
                      api::FieldErrors& errors) {
  if (subresource != "status") return;
  const bool ends = api::is_deleting(old_object);
  const Json& phase = object["status"]["phase"];
  if (!phase.is_string() || phase.as_string() == (ends ? "Terminating" : "Active")) return;
  errors.invalid("status.phase", phase,
                 ends ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
                      : "may only be 'Active' if `deletionTimestamp` is empty");
}

std::vector<Json> namespace_cells(const Json& object, base::Time now) {
  return {object["status"]["phase"], age_of(object, now)};
}
constexpr api::Column kColumnsOfNamespace[] = {{"Status", ""}, {"Age", ""}};
constexpr std::string_view kSelectableOfNamespace[] = {"status.phase"};

}  // namespace

const KindRules kNamespace = {.kind = "Namespace",
                              .naming = Naming::kLabel,
                              .defaults = default_namespace,
                              .prepare = prepare_namespace,
                              .prepare_update = settle_namespace,
                              .table = {kColumnsOfNamespace, namespace_cells},
                              .selectable = kSelectableOfNamespace};

}  // namespace apiserver
