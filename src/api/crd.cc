// Structural schemas, written in place: a CRD knows no references.
#include "api/crd.h"

#include "api/other_versions.h"
#include "api/schema/schema_json.h"

namespace api {
namespace {

constexpr std::string_view kQuantityPattern =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";
constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

Json int_or_string() {
  return Json::object(
      {{"anyOf", Json::array({Json::object({{"type", "integer"}}), Json::object({{"type", "string"}})})},
       {"x-kubernetes-int-or-string", true}});
}

Json embedded_metadata() {
  const Json text = Json::object({{"type", "string"}});
  const Json map = Json::object({{"additionalProperties", text}, {"type", "object"}});
  return Json::object({{"properties", Json::object({{"annotations", map},
                                                    {"finalizers", Json::object({{"items", text}, {"type", "array"}})},
                                                    {"labels", map},
                                                    {"name", text},
                                                    {"namespace", text}})},
                       {"type", "object"}});
}

Json schema_json(const Schema& schema, int depth);

Json object_json(const Schema& schema, int depth) {
  if (schema.name == kObjectMeta) return depth <= 1 ? Json::object({{"type", "object"}}) : embedded_metadata();
  Json properties = Json::object();
  std::vector<std::string> required;
  if (depth == 0)
    for (const char* name : {"apiVersion", "kind"}) properties.set(name, Json::object({{"type", "string"}}));
  for (const SchemaField& field : schema.fields) {
    Json property = schema_json(*field.schema, depth + 1);
    // The root's metadata is Kubernetes' own: nothing may be said about it.
    const bool implicit = depth == 0 && field.name == "metadata";
    if (!field.description.empty() && !implicit) property.set("description", field.description);
    if (!field.default_value.is_null()) property.set("default", field.default_value);
    properties.set(field.name, std::move(property));
    if (field.required) required.push_back(field.name);
  }
  Json out = Json::object();
  out.set("properties", properties.sorted());
  if (!required.empty()) out.set("required", string_list(required));
  out.set("type", "object");
  if (schema.atomic) out.set("x-kubernetes-map-type", "atomic");
  Json rules = Json::array();
  for (const SchemaRule& one : rules_of(schema)) {
    rules.push_back(Json::object({{"message", one.message}, {"rule", one.rule}}));
  }
  if (!rules.empty()) out.set("x-kubernetes-validations", std::move(rules));
  return out;
}

Json list_json(const Schema& schema, int depth) {
  Json items = schema_json(*schema.element, depth + 1);
  if (schema.list_type == Schema::ListType::kMap)  // an entry is never without its keys
    for (const std::string& key : schema.list_keys) {
      const SchemaField* field = schema.element->field(key);
      if (field && !field->required && field->default_value.is_null())
        items.edit_path({"properties", key}).set("default", "");
    }
  Json out = Json::object({{"items", std::move(items)}, {"type", "array"}});
  if (schema.items_min) out.set("minItems", *schema.items_min);
  if (schema.list_type == Schema::ListType::kMap) {
    out.set("x-kubernetes-list-map-keys", string_list(schema.list_keys));
    out.set("x-kubernetes-list-type", "map");
  } else if (schema.list_type == Schema::ListType::kSet) {
    out.set("x-kubernetes-list-type", "set");
  } else {
    out.set("x-kubernetes-list-type", "atomic");
  }
  return out;
}

// The value of a map. One of any kind is a text or a number as well: the parameters of a pipeline are.
Json value_json(const Schema& schema, int depth) {
  if (schema.kind == Schema::Kind::kAny) return Json::object({{"x-kubernetes-preserve-unknown-fields", true}});
  return schema_json(schema, depth);
}

Json schema_json(const Schema& schema, int depth) {
  using Kind = Schema::Kind;
  Json out = Json::object();
  switch (schema.kind) {
    case Kind::kObject: return object_json(schema, depth);
    case Kind::kList: return list_json(schema, depth);
    case Kind::kMap:
      out = Json::object({{"additionalProperties", value_json(*schema.element, depth + 1)}, {"type", "object"}});
      if (schema.atomic) out.set("x-kubernetes-map-type", "atomic");
      return out;
    case Kind::kAny: return Json::object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
    case Kind::kIntOrString: return int_or_string();
    case Kind::kQuantity:
      out = int_or_string();
      out.set("pattern", kQuantityPattern);
      return out;
    case Kind::kString: out.set("type", "string"); break;
    case Kind::kInteger: out.set("type", "integer"); break;
    case Kind::kNumber: out.set("type", "number"); break;
    case Kind::kBoolean: out.set("type", "boolean"); break;
  }
  if (!schema.format.empty()) out.set("format", schema.format == "micro-time" ? "date-time" : schema.format);
  add_validation(schema, out);
  return out;
}

// A schema's texts, which a definition of several versions says once. A property may be called "description", too.
Json without_descriptions(const Json& schema) {
  Json out = Json::object();
  for (const Json::Member& member : schema.members()) {
    const std::string_view name = member.name();
    if (name == "properties") {
      Json properties = Json::object();
      for (const Json::Member& one : member.value.members())
        properties.set(one.name(), without_descriptions(one.value));
      out.set(name, std::move(properties));
    } else if (name == "items" || name == "additionalProperties") {
      out.set(name, without_descriptions(member.value));
    } else if (name != "description") {
      out.set(name, member.value);
    }
  }
  return out;
}

}  // namespace

Json make_crd(const KindInfo& kind) {
  CHECK(kind.custom);
  Json names = Json::object({{"kind", kind.kind}, {"listKind", kind.list_kind()}, {"plural", kind.resource.plural}});
  if (!kind.short_names.empty()) names.set("shortNames", string_list(kind.short_names));
  names.set("singular", kind.singular);
  Json version = Json::object();
  if (!kind.columns.empty()) {
    Json columns = Json::array();
    for (const Column& column : kind.columns) {
      Json row = Json::object({{"jsonPath", column.path}, {"name", column.name}});
      if (column.priority > 0) row.set("priority", column.priority);
      row.set("type", column.type);
      columns.push_back(std::move(row));
    }
    version.set("additionalPrinterColumns", std::move(columns));
  }
  version.set("name", kind.resource.version);
  version.set("schema", Json::object({{"openAPIV3Schema", object_json(*kind.schema, 0)}}));
  version.set("served", true);
  version.set("storage", true);
  Json subresources = Json::object();
  if (!kind.scale.replicas.empty())
    subresources.set("scale", Json::object({{"labelSelectorPath", kind.scale.selector},
                                            {"specReplicasPath", kind.scale.replicas},
                                            {"statusReplicasPath", kind.scale.status_replicas}}));
  if (kind.status_subresource) subresources.set("status", Json::object());
  version.set("subresources", std::move(subresources));
  Json versions = Json::array({version});
  for (const OtherVersion& other : other_versions()) {
    if (other.stored != &kind || other.kind.resource.group != kind.resource.group) continue;
    Json same = version;
    same.set("name", other.kind.resource.version);
    same.set("schema", Json::object({{"openAPIV3Schema", without_descriptions(version["schema"]["openAPIV3Schema"])}}));
    same.set("storage", false);
    versions.push_back(std::move(same));
  }
  const std::string name = kind.resource.plural + "." + kind.resource.group;
  return Json::object({{"apiVersion", "apiextensions.k8s.io/v1"},
                       {"kind", "CustomResourceDefinition"},
                       {"metadata", Json::object({{"annotations", Json::object({{"helm.sh/resource-policy", "keep"}})},
                                                  {"name", name}})},
                       {"spec", Json::object({{"group", kind.resource.group},
                                              {"names", names},
                                              {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
                                              {"versions", std::move(versions)}})}});
}

}  // namespace api
