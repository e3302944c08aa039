// Every field of pods and claims acts, is refused, or is warned of.
#include "node/agent/field_effects.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/json/yaml.h"
#include "api/pods/pod_spec.h"
#include "api/schema/schema.h"
#include "base/format.h"
#include "base/split.h"
#include "node/machine/security_context.h"
#include "node/pod/environment.h"
#include "node/pod/volumes.h"

namespace node {
namespace {

using api::Json;

// By type, its fields and how many rows each has.
std::map<std::string, std::map<std::string, int>> counted_rows() {
  std::map<std::string, std::map<std::string, int>> counted;
  for (const FieldRow& row : field_rows())
    for (const std::string_view field : base::split_words(row.fields, ' '))
      ++counted[std::string(row.type)][std::string(field)];
  return counted;
}

TEST(FieldEffects, EveryFieldOfTheServedSchemaHasOneRow) {
  const auto counted = counted_rows();
  for (const char* type :
       {"core.v1.PodSpec", "core.v1.Container", "core.v1.EphemeralContainer", "core.v1.Volume", "core.v1.VolumeMount",
        "core.v1.VolumeDevice", "core.v1.Lifecycle", "core.v1.EnvVarSource", "core.v1.VolumeProjection",
        "core.v1.PodSecurityContext", "core.v1.SecurityContext", "core.v1.PersistentVolumeClaimSpec"})
    EXPECT_TRUE(counted.contains(type)) << type;
  for (const auto& [type, fields] : counted) {
    const api::Schema& schema = api::core_schema(type);
    for (const api::SchemaField& field : schema.fields)
      EXPECT_EQ(fields.contains(field.name) ? fields.at(field.name) : 0, 1) << type << "." << field.name;
    for (const auto& [name, count] : fields) EXPECT_NE(schema.field(name), nullptr) << type << "." << name;
  }
  for (const FieldRow& row : field_rows())
    EXPECT_EQ(row.effect == FieldEffect::kActs, row.why.empty()) << row.type << " " << row.fields;
}

// Types below fields that do not act need no rows.
void walk(const api::Schema& schema, const std::map<std::string, std::map<std::string, int>>& counted,
          std::set<std::string>& seen) {
  if (schema.element) return walk(*schema.element, counted, seen);
  constexpr std::string_view kPrefix = "io.k8s.api.";
  if (schema.kind != api::Schema::Kind::kObject || !std::string_view(schema.name).starts_with(kPrefix)) return;
  const std::string type = std::string(schema.name).substr(kPrefix.size());
  if (!seen.insert(type).second) return;
  std::string fields;
  for (const api::SchemaField& field : schema.fields) fields += std::string(field.name) + " ";
  EXPECT_TRUE(counted.contains(type)) << type << ": " << fields;
  std::set<std::string> idle;
  for (const FieldRow& row : field_rows())
    if (row.type == type && row.effect != FieldEffect::kActs)
      for (const std::string_view field : base::split_words(row.fields, ' ')) idle.insert(std::string(field));
  for (const api::SchemaField& field : schema.fields)
    if (!idle.contains(std::string(field.name))) walk(*field.schema, counted, seen);
}

TEST(FieldEffects, EveryTypeBelowAPodAndAClaimHasRows) {
  const auto counted = counted_rows();
  std::set<std::string> seen;
  walk(api::core_schema("core.v1.PodSpec"), counted, seen);
  walk(api::core_schema("core.v1.PersistentVolumeClaimSpec"), counted, seen);
  EXPECT_TRUE(seen.contains("core.v1.Probe"));
  for (const auto& [type, fields] : counted) EXPECT_TRUE(seen.contains(type) || type == "core.v1.VolumeDevice") << type;
}

// Why the pod does not start here; empty: it does.
std::string refusal_of(const Json& spec) {
  const Json pod = Json::object({{"metadata", *api::parse_yaml("{name: p, namespace: ns, uid: u}")}, {"spec", spec}});
  if (const auto problems = api::check_pod_spec(spec, "spec", {}); !problems.empty()) return problems.front().message;
  if (const auto why = shape_refusal(pod)) return *why;
  if (const auto why = security_refusal(pod, {.seccomp = true, .apparmor = true})) return *why;
  Lookups lookups;
  lookups.find = [](std::string_view, std::string_view, std::string_view) -> const Json* { return nullptr; };
  if (const auto volumes = volumes_of(pod, lookups); !volumes.ok()) return volumes.error().message;
  const auto environment = environment_of(pod, spec["containers"].items().front(), lookups);
  return environment.ok() ? "" : environment.error().message;
}

Json with(const std::string& container, const std::string& more) {
  return *api::parse_yaml(base::format(
      "{{containers: [{{name: c, image: i, terminationMessagePolicy: File, imagePullPolicy: Always{}}}]{}}}", container,
      more));
}

// Examples of refused fields. One of another type is made up.
Json example_of(std::string_view type, const std::string& field) {
  if (type == "core.v1.Volume") return with("", base::format(", volumes: [{{name: v, {}: {{}}}}]", field));
  if (type == "core.v1.VolumeProjection")
    return with("", base::format(", volumes: [{{name: v, projected: {{sources: [{{{}: {{path: x}}}}]}}}}]", field));
  if (type == "core.v1.EnvVarSource")
    return with(base::format(", env: [{{name: X, valueFrom: {{{}: {{volumeName: v, path: p, key: k}}}}}}]", field), "");
  if (type == "core.v1.PodSecurityContext")
    return with("", base::format(", securityContext: {{{}: {{level: s, runAsUserName: u}}}}", field));
  if (type == "core.v1.SecurityContext")
    return with(base::format(", securityContext: {{{}: {{level: s, runAsUserName: u}}}}", field), "");
  return with(", volumeDevices: [{name: v, devicePath: /dev/x}]",
              ", volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]");
}

TEST(FieldEffects, WhatIsSaidToBeRefusedIsRefused) {
  EXPECT_EQ(refusal_of(with("", "")), "");
  for (const FieldRow& row : field_rows()) {
    if (row.effect != FieldEffect::kRefused) continue;
    for (const std::string_view field : base::split_words(row.fields, ' '))
      EXPECT_NE(refusal_of(example_of(row.type, std::string(field))), "") << row.type << "." << field;
  }
}

TEST(FieldEffects, WarningsNameTheField) {
  const auto warnings = [](std::string_view type, const char* text) {
    const std::vector<std::string> all = field_warnings(type, *api::parse_yaml(text), "spec");
    return base::join(all, "\n");
  };
  EXPECT_EQ(
      warnings("core.v1.PodSpec",
               "{hostNetwork: true, containers: [{name: a, image: i}, {name: b, volumeDevices: [{name: v}]}], "
               "initContainers: [{name: c, env: [{name: X, valueFrom: {fileKeyRef: {key: k}}}], volumeDevices: "
               "[]}], volumes: [{name: v, emptyDir: {}}, {name: w, nfs: {server: s}}]}"),
      "spec.containers[1].volumeDevices: this node has no block volumes\n"
      "spec.initContainers[0].env[0].valueFrom.fileKeyRef: this node takes no variables from files; the container "
      "waits\n"
      "spec.volumes[1].nfs: this node has no volumes of this kind; the pod waits");
  EXPECT_EQ(warnings("core.v1.PersistentVolumeClaimSpec", "{accessModes: [x], dataSource: {kind: k, name: n}}"),
            "spec.dataSource: has no effect here: volumes that are made on this machine begin empty");
  EXPECT_EQ(warnings("core.v1.PodSpec", "{containers: [3, {env: 7}], volumes: {}, securityContext: x}"), "");
}

struct NoObjects final : api::ObjectReader {
  std::optional<Json> find(const api::ResourceId&, std::string_view, std::string_view) const override { return {}; }
  std::vector<Json> list_by(const api::TextField&, std::string_view, bool) const override { return {}; }
};

TEST(FieldEffects, HooksFindTheTemplatesOfPods) {
  const Json bad = *api::parse_yaml("{securityContext: {seLinuxChangePolicy: Recursive}}");
  std::set<std::string> spoken;
  for (const api::AdmissionHook& hook : field_hooks("pods have no network")) {
    Json object = Json::object({{"metadata", Json::object()}});
    object.edit_path({"spec"}).set("securityContext", bad["securityContext"]);
    object.edit_path({"spec", "template"}).set("spec", bad);
    object.edit_path({"spec", "jobTemplate", "spec", "template"}).set("spec", bad);
    object.edit("spec").set("tasks", Json::array({Json::object({{"template", Json::object({{"spec", bad}})}})}));
    object.edit("spec").set("dataSource", Json::object({{"name", "x"}}));
    api::AdmissionRequest request;
    request.object = object;
    const auto answer = hook.review(request, NoObjects());
    EXPECT_EQ(answer.warnings.size(), 1u) << hook.path;
    spoken.insert(hook.kind);
    request.object.edit("metadata").set("ownerReferences", Json::array({Json::object({{"kind", "x"}})}));
    EXPECT_TRUE(hook.review(request, NoObjects()).warnings.empty()) << hook.path;
  }
  EXPECT_TRUE(spoken.contains("NetworkPolicy"));
  EXPECT_EQ(spoken.size(), 9u);  // Job twice
}

}  // namespace
}  // namespace node
