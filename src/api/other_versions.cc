// The rows, and the conversions of each.
#include "api/other_versions.h"

#include <deque>

#include "api/json/json.h"
#include "api/kubeflow/v1/notebook.h"
#include "api/kubeflow/v1/profile.h"
#include "base/check.h"
#include "base/format.h"

namespace api {
namespace {

// The fields that events.k8s.io/v1 calls otherwise than v1.
constexpr std::pair<std::string_view, std::string_view> kEventNames[] = {
    {"regarding", "involvedObject"},
    {"note", "message"},
    {"reportingController", "reportingComponent"},
    {"deprecatedSource", "source"},
    {"deprecatedFirstTimestamp", "firstTimestamp"},
    {"deprecatedLastTimestamp", "lastTimestamp"},
    {"deprecatedCount", "count"},
};

Json retyped(Json object, std::string_view api_version) {
  if (object.is_object() && object.find("apiVersion") != nullptr) object.set("apiVersion", api_version);
  return object;
}

void rename(Json& object, std::string_view from, std::string_view to) {
  const Json* value = object.find(from);
  if (value == nullptr) return;
  Json moved = *value;
  object.erase(from);
  object.set(to, std::move(moved));
}

Json event_to_stored(Json object) {
  if (!object.is_object()) return object;
  for (const auto& [here, stored] : kEventNames) rename(object, here, stored);
  return retyped(std::move(object), "v1");
}

Json event_from_stored(Json object) {
  if (!object.is_object()) return object;
  for (const auto& [here, stored] : kEventNames) rename(object, stored, here);
  return retyped(std::move(object), "events.k8s.io/v1");
}

// The annotation in which version 1 keeps what it has no fields for, as JSON.
constexpr std::string_view kMetricsAnnotation = "autoscaling.alpha.kubernetes.io/metrics";
constexpr std::string_view kCurrentAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr std::string_view kBehaviorAnnotation = "autoscaling.alpha.kubernetes.io/behavior";
constexpr std::string_view kConditionsAnnotation = "autoscaling.alpha.kubernetes.io/conditions";

// Takes the note out of the annotations; nothing where it is none, or no JSON.
Json take_annotation(Json& object, std::string_view name) {
  const Json& annotation = object["metadata"]["annotations"][name];
  if (!annotation.is_string()) return {};
  auto read = parse_json(annotation.as_string());
  object.edit("metadata").edit("annotations").erase(name);
  if (object["metadata"]["annotations"].empty()) object.edit("metadata").erase("annotations");
  return read.ok() ? *std::move(read) : Json();
}

void put_annotation(Json& object, std::string_view name, const Json& value) {
  Json& metadata = object.edit("metadata");
  if (!metadata["annotations"].is_object()) metadata.set("annotations", Json::object());
  metadata.edit("annotations").set(name, value.dump());
}

Json autoscaler_to_stored(Json object) {
  if (!object.is_object()) return object;
  object = retyped(std::move(object), "autoscaling/v2");
  const Json annotated = take_annotation(object, kMetricsAnnotation),
             behavior = take_annotation(object, kBehaviorAnnotation);
  const Json conditions = take_annotation(object, kConditionsAnnotation),
             current = take_annotation(object, kCurrentAnnotation);
  if (object["spec"].is_object()) {
    Json& spec = object.edit("spec");
    Json metrics = Json::array();
    if (const Json* share = spec.find("targetCPUUtilizationPercentage")) {
      const Json target = Json::object({{"type", "Utilization"}, {"averageUtilization", *share}});
      metrics.push_back(
          Json::object({{"type", "Resource"}, {"resource", Json::object({{"name", "cpu"}, {"target", target}})}}));
      spec.erase("targetCPUUtilizationPercentage");
    }
    for (const Json& metric : annotated.items()) metrics.push_back(metric);
    if (!metrics.empty()) spec.set("metrics", std::move(metrics));
    if (behavior.is_object()) spec.set("behavior", behavior);
  }
  if (!object["status"].is_object()) return object;
  Json& status = object.edit("status");
  Json metrics = Json::array();
  if (const Json* share = status.find("currentCPUUtilizationPercentage")) {
    const Json usage = Json::object({{"averageUtilization", *share}});
    metrics.push_back(
        Json::object({{"type", "Resource"}, {"resource", Json::object({{"name", "cpu"}, {"current", usage}})}}));
    status.erase("currentCPUUtilizationPercentage");
  }
  for (const Json& metric : current.items()) metrics.push_back(metric);
  if (!metrics.empty()) status.set("currentMetrics", std::move(metrics));
  if (conditions.is_array()) status.set("conditions", conditions);
  return object;
}

// The first share of cpu gets the field; the others, and what has no field, are noted.
void write_metrics(Json& object, std::string_view part, std::string_view list, std::string_view field,
                   std::string_view annotation) {
  Json& in = object.edit(part);
  const Json metrics = in[list];
  in.erase(list);
  Json others = Json::array();
  for (const Json& metric : metrics.items()) {
    const Json& share = part == "spec" ? metric["resource"]["target"]["averageUtilization"]
                                       : metric["resource"]["current"]["averageUtilization"];
    const bool is_first = metric["resource"]["name"].as_string() == "cpu" && share.is_int() &&
                          metric["type"].as_string() == "Resource" && in.find(field) == nullptr;
    if (is_first)
      in.set(field, share);
    else
      others.push_back(metric);
  }
  if (!others.empty()) put_annotation(object, annotation, others);
}

Json autoscaler_from_stored(Json object) {
  if (!object.is_object()) return object;
  object = retyped(std::move(object), "autoscaling/v1");
  if (object["spec"].is_object()) {
    write_metrics(object, "spec", "metrics", "targetCPUUtilizationPercentage", kMetricsAnnotation);
    if (const Json behavior = object["spec"]["behavior"]; behavior.is_object()) {
      object.edit("spec").erase("behavior");
      put_annotation(object, kBehaviorAnnotation, behavior);
    }
  }
  if (object["status"].is_object()) {
    write_metrics(object, "status", "currentMetrics", "currentCPUUtilizationPercentage", kCurrentAnnotation);
    if (const Json conditions = object["status"]["conditions"]; conditions.is_array()) {
      object.edit("status").erase("conditions");
      put_annotation(object, kConditionsAnnotation, conditions);
    }
  }
  return object;
}

OtherVersion row(std::string_view group, std::string_view schema, const KindInfo* stored) {
  CHECK(stored != nullptr);
  OtherVersion made;
  made.kind = *stored;
  made.kind.resource.group = group;
  made.kind.resource.version = "v1";
  made.kind.schema = &core_schema(schema);
  made.stored = stored;
  return made;
}

// Versions of one shape differ in their names only.
constexpr char kKubeflowV1[] = "kubeflow.org/v1", kKubeflowV1Beta1[] = "kubeflow.org/v1beta1",
               kKubeflowV1Alpha1[] = "kubeflow.org/v1alpha1", kSchedulingV1Beta1[] = "scheduling.k8s.io/v1beta1",
               kSchedulingV1Alpha3[] = "scheduling.k8s.io/v1alpha3";

template <const char* kVersion>
Json named(Json object) {
  return retyped(std::move(object), kVersion);
}

// `definitions`: the group's name in definitions of OpenAPI.
template <const char* kVersion, const char* kStored>
OtherVersion same_shape(const KindInfo* stored, std::string_view definitions) {
  CHECK(stored != nullptr);
  OtherVersion made;
  made.kind = *stored;
  made.kind.resource.version = std::string_view(kVersion).substr(std::string_view(kVersion).find('/') + 1);
  static auto& schemas = *new std::deque<Schema>;  // never destroyed, as all schemas
  Schema& schema = schemas.emplace_back(*stored->schema);
  schema.name = base::format("{}.{}.{}", definitions, made.kind.resource.version, stored->kind);
  made.kind.schema = &schema;
  made.stored = stored;
  made.to_stored = named<kStored>;
  made.from_stored = named<kVersion>;
  return made;
}

template <const char* kVersion>
OtherVersion of_kubeflow(const ResourceId& stored_as) {
  return same_shape<kVersion, kKubeflowV1>(find_kind(stored_as), "org.kubeflow");
}

OtherVersion of_native_gangs(std::string_view plural) {
  return same_shape<kSchedulingV1Alpha3, kSchedulingV1Beta1>(find_kind("scheduling.k8s.io", "v1beta1", plural),
                                                             "io.k8s.api.scheduling");
}

std::vector<OtherVersion> make_rows() {
  std::vector<OtherVersion> rows;
  OtherVersion& event = rows.emplace_back(row("events.k8s.io", "events.v1.Event", find_kind(resources::kEvents)));
  event.to_stored = event_to_stored;
  event.from_stored = event_from_stored;
  event.selectable = {{"regarding.", "involvedObject."}, {"reportingController", "reportingComponent"}};
  OtherVersion& autoscaler = rows.emplace_back(row("autoscaling", "autoscaling.v1.HorizontalPodAutoscaler",
                                                   find_kind("autoscaling", "v2", "horizontalpodautoscalers")));
  autoscaler.to_stored = autoscaler_to_stored;
  autoscaler.from_stored = autoscaler_from_stored;
  rows.push_back(of_kubeflow<kKubeflowV1Beta1>(resources::kNotebooks));
  rows.push_back(of_kubeflow<kKubeflowV1Alpha1>(resources::kNotebooks));
  rows.push_back(of_kubeflow<kKubeflowV1Beta1>(resources::kProfiles));
  rows.push_back(of_native_gangs("podgroups"));
  rows.push_back(of_native_gangs("workloads"));
  return rows;
}

}  // namespace

std::string OtherVersion::stored_selector(std::string_view fields) const {
  std::string out;
  while (!fields.empty()) {
    const std::size_t comma = fields.find(',');
    std::string_view term = fields.substr(0, comma);
    fields = comma == std::string_view::npos ? std::string_view() : fields.substr(comma + 1);
    if (!out.empty()) out += ',';
    for (const auto& [here, stored] : selectable)
      if (term.starts_with(here)) {
        out += stored;
        term.remove_prefix(here.size());
        break;
      }
    out += term;
  }
  return out;
}

std::span<const OtherVersion> other_versions() {
  static const std::vector<OtherVersion> all = make_rows();
  return all;
}

const OtherVersion* other_version(const KindInfo& kind) {
  for (const OtherVersion& one : other_versions())
    if (&one.kind == &kind) return &one;
  return nullptr;
}

const OtherVersion* find_other_version(std::string_view group, std::string_view version, std::string_view plural) {
  for (const OtherVersion& one : other_versions()) {
    const ResourceId& id = one.kind.resource;
    if (id.group == group && id.version == version && id.plural == plural) return &one;
  }
  return nullptr;
}

}  // namespace api
