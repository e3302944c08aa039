// The schemas of definitions, with what every object has; OpenAPI v2 without what it cannot say.
#include "apiserver/documents/openapi_custom.h"

#include <string>
#include <vector>

namespace apiserver {

using api::Json;

namespace {

// "example.com" is written from its end.
std::string definition_name(const CustomKind& kind, std::string_view what) {
  std::string name;
  std::string_view rest = kind.resource.group;
  while (!rest.empty()) {
    const std::size_t dot = rest.find('.');
    name = std::string(rest.substr(0, dot)) + (name.empty() ? "" : "." + name);
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  return name + "." + kind.resource.version + "." + std::string(what);
}

Json reference(std::string_view name, bool v3) {
  return Json::object({{"$ref", std::string(v3 ? "#/components/schemas/" : "#/definitions/") + std::string(name)}});
}

Json meta_reference(std::string_view name, bool v3) {
  const Json to = reference("io.k8s.apimachinery.pkg.apis.meta.v1." + std::string(name), v3);
  return v3 ? Json::object({{"allOf", Json::array({to})}}) : to;
}

Json for_v2(const Json& schema) {
  if (!schema.is_object()) return schema;
  const bool loose = schema["x-kubernetes-preserve-unknown-fields"].as_bool() || schema["nullable"].as_bool();
  Json out = Json::object();
  for (const Json::Member& member : schema.members()) {
    const std::string_view name = member.name();
    if (name == "allOf" || name == "anyOf" || name == "oneOf" || name == "not" || name == "nullable" ||
        name == "default")
      continue;
    if (loose && (name == "type" || name == "items" || name == "properties")) continue;
    if (name == "properties") {
      Json properties = Json::object();
      for (const Json::Member& one : member.value.members()) properties.set(one.name(), for_v2(one.value));
      out.set(name, std::move(properties));
    } else if (name == "items" || name == "additionalProperties") {
      out.set(name, for_v2(member.value));
    } else {
      out.set(name, member.value);
    }
  }
  return out;
}

Json names(const CustomKind& kind, std::string_view what) {
  return Json::array(
      {Json::object({{"group", kind.resource.group}, {"kind", what}, {"version", kind.resource.version}})});
}

}  // namespace

void add_custom_schemas(const CustomKind& kind, bool v3, Json& schemas) {
  const Json text = Json::object({{"type", "string"}});
  const std::string name = definition_name(kind, kind.kind);
  Json schema = v3 ? kind.open_api : for_v2(kind.open_api);
  if (!schema.is_object()) schema = Json::object({{"type", "object"}});
  if (!schema["properties"].is_object()) schema.set("properties", Json::object());
  Json& properties = schema.edit("properties");
  for (const char* word : {"apiVersion", "kind"}) properties.set(word, text);
  properties.set("metadata", meta_reference("ObjectMeta", v3));
  schema.set("x-kubernetes-group-version-kind", names(kind, kind.kind));
  if (!kind.selectable.empty()) {
    Json fields = Json::array();
    for (const std::string& path : kind.selectable) fields.push_back(Json::object({{"fieldPath", path}}));
    schema.set("x-kubernetes-selectable-fields", std::move(fields));
  }
  schemas.set(name, std::move(schema));
  const std::string list = list_kind_of(kind);
  const Json items = Json::object({{"type", "array"}, {"items", reference(name, v3)}});
  schemas.set(definition_name(kind, list),
              Json::object({{"type", "object"},
                            {"required", Json::array({Json("items")})},
                            {"properties", Json::object({{"apiVersion", text},
                                                         {"items", items},
                                                         {"kind", text},
                                                         {"metadata", meta_reference("ListMeta", v3)}})},
                            {"x-kubernetes-group-version-kind", names(kind, list)}}));
}

}  // namespace apiserver
