// StatefulSets.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "api/pods/volume_sources.h"
#include "api/schema/names.h"
#include "api/schema/unwritten.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/workloads/pod_templates.h"
#include "apiserver/kinds/workloads/template_cells.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

constexpr std::size_t kPodNameMax = 63;  // the name is a hostname, and a label of the pod

void default_stateful_set_spec(Json& spec) {
  set_if_absent(spec, "podManagementPolicy", "OrderedReady");
  set_if_absent(spec, "updateStrategy", Json::object());
  set_if_absent(spec.edit("updateStrategy"), "type", "RollingUpdate");
  if (spec["updateStrategy"]["type"].as_string() == "RollingUpdate") {
    set_if_absent(spec.edit("updateStrategy"), "rollingUpdate", Json::object());
    if (spec["updateStrategy"].is_object())
      set_if_absent(spec.edit_path({"updateStrategy", "rollingUpdate"}), "partition", 0);
  }
  set_if_absent(spec, "persistentVolumeClaimRetentionPolicy", Json::object());
  for (const char* when : {"whenDeleted", "whenScaled"})
    set_if_absent(spec.edit("persistentVolumeClaimRetentionPolicy"), when, "Retain");
  for (std::size_t i = 0; i < spec["volumeClaimTemplates"].items().size(); ++i) {
    Json& claim = spec.edit("volumeClaimTemplates").edit(i);
    if (!claim.is_object()) continue;
    set_if_absent(claim, "apiVersion", "v1");
    set_if_absent(claim, "kind", "PersistentVolumeClaim");
    if (takes_members(claim["spec"])) set_if_absent(claim.edit("spec"), "volumeMode", "Filesystem");
    if (takes_members(claim["status"])) set_if_absent(claim.edit("status"), "phase", "Pending");
  }
}

void default_stateful_set(Json& object) {
  if (!takes_members(object["spec"])) return;
  Json& spec = object.edit("spec");
  set_if_absent(spec, "replicas", 1);
  default_stateful_set_spec(spec);
  set_if_absent(spec, "revisionHistoryLimit", 10);
  default_pod_template(spec);
}

base::Status prepare_stateful_set(const Context&, Json& object, api::FieldErrors&) {
  object.set("status", Json::object({{"replicas", 0}, {"availableReplicas", 0}}));
  return {};
}

// The template of a StatefulSet, with volumes in the places of its claims, as its pods have them.
Json with_claims(const Json& spec) {
  Json pod_template = spec["template"];
  const Json& given = pod_template["spec"]["volumes"];
  if (!pod_template["spec"].is_object() || (!given.is_null() && !given.is_array())) return pod_template;
  std::set<std::string, std::less<>> names;
  for (const Json& volume : given.items()) names.emplace(volume["name"].as_string());
  for (const Json& claim : spec["volumeClaimTemplates"].items()) {
    const Json& name = claim["metadata"]["name"];
    if (!names.emplace(name.as_string()).second) continue;
    const Json source = Json::object({{"claimName", name}});
    pod_template.edit_path({"spec", "volumes"})
        .push_back(Json::object({{"name", name}, {"persistentVolumeClaim", source}}));
  }
  return pod_template;
}

void check_stateful_set_spec(const Json& spec, api::FieldErrors& errors) {
  if (const std::string name = spec["serviceName"].str(); !name.empty())
    errors.invalid("spec.serviceName", name, api::check_dns_label(name));
  for (std::size_t i = 0; i < spec["volumeClaimTemplates"].size(); ++i)
    api::check_claim_spec(spec["volumeClaimTemplates"][i]["spec"],
                          api::in(api::at("spec.volumeClaimTemplates", i), "spec"), errors);
  const std::string_view order = spec["podManagementPolicy"].as_string();
  if (order != "OrderedReady" && order != "Parallel")
    errors.unsupported("spec.podManagementPolicy", spec["podManagementPolicy"], R"("OrderedReady", "Parallel")");
  const std::string_view type = spec["updateStrategy"]["type"].as_string();
  if (type != "RollingUpdate" && type != "OnDelete")
    errors.unsupported("spec.updateStrategy.type", spec["updateStrategy"]["type"], R"("OnDelete", "RollingUpdate")");
  check_not_negative(spec["updateStrategy"]["rollingUpdate"], "spec.updateStrategy.rollingUpdate", {"partition"},
                     errors);
  check_not_negative(spec["ordinals"], "spec.ordinals", {"start"}, errors);
  for (const char* when : {"whenDeleted", "whenScaled"}) {
    const Json& value = spec["persistentVolumeClaimRetentionPolicy"][when];
    if (value.as_string() != "Retain" && value.as_string() != "Delete")
      errors.unsupported(base::format("spec.persistentVolumeClaimRetentionPolicy.{}", when), value,
                         R"("Delete", "Retain")");
  }
}

// COMPAT(names-that-are-made): a stock server takes names whose last pods it refuses for ever.
void check_stateful_set_name(const Json& object, api::FieldErrors& errors) {
  const std::int64_t replicas = object["spec"]["replicas"].as_int(1),
                     first = object["spec"]["ordinals"]["start"].as_int();
  if (replicas < 1 || first < 0) return;
  const Json& name = object["metadata"]["name"];
  const std::string last =
      base::format("{}-{}", name.as_string(), first + std::min<std::int64_t>(replicas, INT32_MAX) - 1);
  if (last.size() > kPodNameMax)
    errors.invalid("metadata.name", name,
                   base::format("the name of its last pod, {}, has {} letters, and {} are allowed", last, last.size(),
                                kPodNameMax));
}

void check_stateful_set(const Json& stored, const Json& object, api::FieldErrors& errors) {
  check_selector("statefulset", object["spec"], errors);
  check_stateful_set_name(object, errors);
  check_runs_for_ever("StatefulSet", stored, with_claims(object["spec"]), errors);
  check_stateful_set_spec(object["spec"], errors);
  check_not_negative(object["spec"], "spec", {"replicas", "minReadySeconds"}, errors);
}

void check_stateful_set_update(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  if (!object["spec"].is_object()) return;  // validation names it
  Json fixed[2] = {old_object["spec"], object["spec"]};
  for (Json& spec : fixed)
    for (const char* key : {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
                            "persistentVolumeClaimRetentionPolicy", "minReadySeconds"})
      spec.erase(key);
  if (!api::same_as_written(api::core_schema("apps.v1.StatefulSetSpec"), fixed[0], fixed[1]))
    errors.forbidden("spec",
                     "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                     "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                     "'minReadySeconds' are forbidden");
}

std::vector<Json> stateful_set_cells(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["template"]);
  return {Json(base::format("{}/{}", o["status"]["readyReplicas"].as_int(), o["spec"]["replicas"].as_int())),
          age_of(o, now), names, images};
}
constexpr auto kColumnsOfStatefulSet = with_template_columns<2>({{"Ready", ""}, {"Age", ""}});

}  // namespace

const KindRules kStatefulSet = {.kind = "StatefulSet",
                                .naming = Naming::kLabel,
                                .defaults = default_stateful_set,
                                .prepare = prepare_stateful_set,
                                .check = check_stateful_set,
                                .check_update = check_stateful_set_update,
                                .table = {kColumnsOfStatefulSet, stateful_set_cells}};

}  // namespace apiserver
