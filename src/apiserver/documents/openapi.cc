// OpenAPI documents, from the schemas of all kinds.
#include "apiserver/documents/openapi.h"

#include <map>
#include <set>

#include "api/json/json.h"
#include "api/kinds.h"
#include "api/other_versions.h"
#include "api/schema/schema_json.h"
#include "apiserver/documents/core_texts.h"
#include "apiserver/documents/kind_texts.h"
#include "apiserver/documents/openapi_custom.h"
#include "apiserver/documents/openapi_proto.h"
#include "base/format.h"
#include "rt/tls/tls.h"

namespace apiserver {

using api::Json;
using api::KindInfo;
using api::Schema;

namespace {

struct Style {
  std::string_view prefix;  // of references
  bool v3 = false;
};
constexpr Style kV2{"#/definitions/", false};
constexpr Style kV3{"#/components/schemas/", true};

// "core.v1.Pod" of "io.k8s.api.core.v1.Pod"; empty for what is not Kubernetes' own.
std::string_view short_name(std::string_view name) {
  if (!name.starts_with("io.k8s.")) return {};
  std::size_t begin = name.size();
  for (int dots = 0; dots < 3 && begin != 0; ++dots) begin = name.rfind('.', begin - 1);
  return name.substr(begin + 1);
}

// Collects definitions while walking.
class Definitions {
 public:
  explicit Definitions(Style style) : style_(style) {}

  Json reference(const Schema& schema) {
    if (pending_names_.insert(schema.name).second) pending_.push_back(&schema);
    return Json::object({{"$ref", std::string(style_.prefix) + schema.name}});
  }

  Json inline_schema(const Schema& schema) {
    using Kind = Schema::Kind;
    Json out = Json::object();
    switch (schema.kind) {
      case Kind::kObject:
        if (!schema.name.empty()) return reference(schema);
        return object(schema);
      case Kind::kMap:
        out.set("type", "object");
        out.set("additionalProperties", inline_schema(*schema.element));
        if (schema.atomic) out.set("x-kubernetes-map-type", "atomic");
        return out;
      case Kind::kList: return list(schema);
      case Kind::kString: out.set("type", "string"); break;
      case Kind::kInteger: out.set("type", "integer"); break;
      case Kind::kNumber: out.set("type", "number"); break;
      case Kind::kBoolean: out.set("type", "boolean"); break;
      case Kind::kIntOrString:
        if (style_.v3) {
          out.set("x-kubernetes-int-or-string", true);
        } else {
          out.set("type", "string");
          out.set("format", "int-or-string");
        }
        return out;
      case Kind::kQuantity:
        if (style_.v3)
          return Json::object(
              {{"oneOf", Json::array({Json::object({{"type", "string"}}), Json::object({{"type", "number"}})})}});
        return Json::object({{"type", "string"}});
      case Kind::kAny: return any_is_an_object_ ? Json::object({{"type", "object"}}) : Json::object();
    }
    if (!schema.format.empty() && schema.format != "micro-time") out.set("format", schema.format);
    if (schema.format == "micro-time") out.set("format", "date-time");
    api::add_validation(schema, out);
    return out;
  }

  // The definitions reached so far, and what they reach.
  Json take() {
    while (!pending_.empty()) {
      const Schema* schema = pending_.back();
      pending_.pop_back();
      done_[schema->name] = object(*schema);
    }
    Json all = Json::object();
    for (const auto& [name, definition] : done_) all.set(name, definition);
    return all;
  }

  void mark_kind(const KindInfo& kind) {
    reference(*kind.schema);
    kinds_[kind.schema->name] = &kind;
  }

 private:
  Json list(const Schema& schema) {
    Json out = Json::object({{"type", "array"}});
    out.set("items", inline_schema(*schema.element));
    if (schema.items_min) out.set("minItems", *schema.items_min);
    if (schema.list_type == Schema::ListType::kMap) {
      Json keys = Json::array();
      for (const std::string& key : schema.list_keys) keys.push_back(key);
      out.set("x-kubernetes-list-map-keys", std::move(keys));
      out.set("x-kubernetes-list-type", "map");
    } else {
      out.set("x-kubernetes-list-type", schema.list_type == Schema::ListType::kSet ? "set" : "atomic");
    }
    if (schema.patch_merge) {
      if (!schema.patch_merge_key.empty()) out.set("x-kubernetes-patch-merge-key", schema.patch_merge_key);
      out.set("x-kubernetes-patch-strategy", schema.patch_retain_keys ? "merge,retainKeys" : "merge");
    }
    return out;
  }

  Json object(const Schema& schema) {
    Json out = Json::object({{"type", "object"}});
    const auto kind = kinds_.find(schema.name);
    const std::string_view core = short_name(schema.name);
    const std::string_view core_words = !core.empty()          ? core_text(core, {})
                                        : kind == kinds_.end() ? std::string_view()
                                                               : kind_text(*kind->second);
    if (const std::string_view text = schema.description.empty() ? core_words : schema.description; !text.empty())
      out.set("description", text);
    Json properties = Json::object();
    if (kind != kinds_.end()) {
      properties.set("apiVersion", Json::object({{"type", "string"}, {"description", kApiVersionText}}));
      properties.set("kind", Json::object({{"type", "string"}, {"description", kKindText}}));
    }
    Json required = Json::array();
    // A default or an example is any value. Elsewhere whatever may stand is an object, as the server of Kubernetes
    // says.
    any_is_an_object_ = core != "apiextensions.v1.JSONSchemaProps";
    for (const api::SchemaField& field : schema.fields) {
      Json property = inline_schema(*field.schema);
      const std::string_view text =
          field.description.empty() && !core.empty() ? core_text(core, field.name) : field.description;
      if (style_.v3 && property.has("$ref") && (!text.empty() || !field.default_value.is_null()))
        property = Json::object({{"allOf", Json::array({property})}});
      if (!property.has("$ref")) {
        if (!text.empty()) property.set("description", text);
        if (!field.default_value.is_null()) property.set("default", field.default_value);
      }
      properties.set(field.name, std::move(property));
      if (field.required) required.push_back(field.name);
    }
    any_is_an_object_ = true;
    if (!properties.empty()) out.set("properties", std::move(properties));
    if (!required.empty()) out.set("required", std::move(required));
    if (schema.atomic) out.set("x-kubernetes-map-type", "atomic");
    if (kind != kinds_.end()) {
      const KindInfo& info = *kind->second;
      out.set("x-kubernetes-group-version-kind",
              Json::array({Json::object(
                  {{"group", info.resource.group}, {"kind", info.kind}, {"version", info.resource.version}})}));
    }
    return out;
  }

  Style style_;
  bool any_is_an_object_ = true;
  std::vector<const Schema*> pending_;
  std::set<std::string> pending_names_;
  std::map<std::string, Json> done_;
  std::map<std::string, const KindInfo*> kinds_;
};

Json parameter(const char* name, const char* type, bool v3) {
  Json row = Json::object({{"name", name}, {"in", "query"}});
  if (v3)
    row.set("schema", Json::object({{"type", type}, {"uniqueItems", true}}));
  else
    row.set("type", type);
  return row;
}

Json operation(const KindInfo& kind, const char* action, bool write, bool v3) {
  Json parameters = Json::array();
  if (write)
    for (const char* name : {"dryRun", "fieldManager", "fieldValidation"})
      parameters.push_back(parameter(name, "string", v3));
  Json out = Json::object({{"operationId", std::string(action) + kind.kind}, {"parameters", parameters}});
  out.set("responses", Json::object({{"200", Json::object({{"description", "OK"}})}}));
  out.set("x-kubernetes-action", action);
  out.set("x-kubernetes-group-version-kind",
          Json::object({{"group", kind.resource.group}, {"kind", kind.kind}, {"version", kind.resource.version}}));
  return out;
}

std::string group_path(const KindInfo& kind) {
  return kind.resource.group.empty() ? "api/" + kind.resource.version
                                     : "apis/" + kind.resource.group + "/" + kind.resource.version;
}

void add_paths(const KindInfo& kind, bool v3, Json& paths) {
  const std::string collection = base::format("/{}/{}{}", group_path(kind),
                                              kind.namespaced ? "namespaces/{namespace}/" : "", kind.resource.plural);
  Json many = Json::object({{"get", operation(kind, "list", false, v3)}, {"post", operation(kind, "post", true, v3)}});
  paths.set(collection, std::move(many));
  Json one = Json::object({{"get", operation(kind, "get", false, v3)}, {"put", operation(kind, "put", true, v3)}});
  one.set("delete", operation(kind, "delete", true, v3));
  one.set("patch", operation(kind, "patch", true, v3));
  paths.set(collection + "/{name}", std::move(one));
  for (const std::string& name : kind.subresources) {
    if (name != "resize" && name != "ephemeralcontainers") continue;  // those that are the object itself
    Json sub = Json::object();
    for (const char* action : {"get", "patch", "put"})
      sub.set(action, operation(kind, action, action != std::string_view("get"), v3));
    paths.set(base::format("{}/{{name}}/{}", collection, name), std::move(sub));
  }
}

Json info() { return Json::object({{"title", "Kubernetes"}, {"version", "v1.36.1"}}); }

void mark(const KindInfo& kind, bool v3, Definitions& definitions, Json& paths) {
  definitions.mark_kind(kind);
  add_paths(kind, v3, paths);
}

// A stranger's kind has its schema as it was given.
void add_custom(const CustomKind& kind, bool v3, Definitions& definitions, Json& paths, Json& schemas) {
  definitions.reference(api::core_schema("meta.v1.ObjectMeta"));
  definitions.reference(api::core_schema("meta.v1.ListMeta"));
  add_paths(kind, v3, paths);
  add_custom_schemas(kind, v3, schemas);
}

void add_all(const Json& more, Json& to) {
  for (const Json::Member& member : more.members()) to.set(member.name(), member.value);
}

Json group_document(const std::vector<const KindInfo*>& kinds) {
  Definitions definitions(kV3);
  Json paths = Json::object(), custom = Json::object();
  for (const KindInfo* kind : kinds)
    if (const CustomKind* stranger = custom_kind(*kind))
      add_custom(*stranger, true, definitions, paths, custom);
    else
      mark(*kind, true, definitions, paths);
  Json schemas = definitions.take();
  add_all(custom, schemas);
  return Json::object(
      {{"openapi", "3.0.0"}, {"info", info()}, {"paths", paths}, {"components", Json::object({{"schemas", schemas}})}});
}

Json v2_document(const ServedKinds& kinds) {
  Definitions all(kV2);
  Json paths = Json::object(), custom = Json::object();
  for (const KindInfo& kind : api::all_kinds()) mark(kind, false, all, paths);
  for (const api::OtherVersion& other : api::other_versions()) mark(other.kind, false, all, paths);
  for (const ServedKind& one : kinds.custom()) add_custom(*one.custom, false, all, paths, custom);
  all.reference(api::core_schema("meta.v1.DeleteOptions"));
  all.reference(api::core_schema("meta.v1.Status"));
  Json definitions = all.take();
  add_all(custom, definitions);
  return Json::object({{"swagger", "2.0"}, {"info", info()}, {"paths", paths}, {"definitions", definitions}});
}

rt::HttpResponse text_response(std::string_view type, const std::string& body) {
  rt::HttpResponse response;
  response.headers = {{"Content-Type", std::string(type)}};
  response.body = body;
  return response;
}

}  // namespace

struct OpenApi::V2 {
  std::shared_ptr<const ServedKinds> kinds;
  std::string text, proto;
};

struct OpenApi::V3 {
  struct Document {
    std::vector<std::shared_ptr<const CustomKind>> strangers;
    std::string text;
    std::string hash;
  };
  std::shared_ptr<const ServedKinds> kinds;
  std::map<std::string, std::shared_ptr<const Document>, std::less<>> documents;  // by group path
  std::string index;
};

OpenApi::OpenApi() = default;
OpenApi::~OpenApi() = default;

std::shared_ptr<const OpenApi::V2> OpenApi::v2_of(const std::shared_ptr<const ServedKinds>& kinds) {
  if (auto known = v2_.load(); known && known->kinds == kinds) return known;
  auto made = std::make_shared<V2>();
  made->kinds = kinds;
  const Json document = v2_document(*kinds);
  made->text = document.dump();
  made->proto = openapi_v2_proto(document);
  v2_ = std::shared_ptr<const V2>(made);
  return made;
}

std::shared_ptr<const OpenApi::V3> OpenApi::v3_of(const std::shared_ptr<const ServedKinds>& kinds) {
  const auto known = v3_.load();
  if (known && known->kinds == kinds) return known;
  std::map<std::string, std::vector<const KindInfo*>> groups;
  std::map<std::string, std::vector<std::shared_ptr<const CustomKind>>> strangers;
  for (const KindInfo& kind : api::all_kinds()) groups[group_path(kind)].push_back(&kind);
  for (const api::OtherVersion& other : api::other_versions()) groups[group_path(other.kind)].push_back(&other.kind);
  for (const ServedKind& one : kinds->custom()) {
    groups[group_path(*one.kind)].push_back(one.kind);
    strangers[group_path(*one.kind)].push_back(one.custom);
  }
  auto made = std::make_shared<V3>();
  made->kinds = kinds;
  Json index = Json::object();
  for (const auto& [path, all] : groups) {
    std::shared_ptr<const V3::Document>& document = made->documents[path];
    if (known)
      if (const auto old = known->documents.find(path);
          old != known->documents.end() && old->second->strangers == strangers[path])
        document = old->second;
    if (!document) {
      const std::string text = group_document(all).dump();
      document =
          std::make_shared<const V3::Document>(V3::Document{strangers[path], text, rt::sha256_hex(text).substr(0, 32)});
    }
    index.set(path,
              Json::object({{"serverRelativeURL", base::format("/openapi/v3/{}?hash={}", path, document->hash)}}));
  }
  made->index = Json::object({{"paths", index}}).dump();
  v3_ = std::shared_ptr<const V3>(made);
  return made;
}

std::optional<rt::HttpResponse> OpenApi::answer(const rt::Target& target, std::string_view accept,
                                                const std::shared_ptr<const ServedKinds>& kinds) {
  const std::string& path = target.path;
  if (!path.starts_with("/openapi/")) return {};
  if (path == "/openapi/v2") {
    if (accept.find("proto-openapi.spec.v2") != std::string_view::npos ||
        accept.find("com.github.proto-openapi") != std::string_view::npos ||
        accept.find("application/com.github") != std::string_view::npos)
      return text_response("application/com.github.proto-openapi.spec.v2.v1.0+protobuf", v2_of(kinds)->proto);
    return text_response("application/json", v2_of(kinds)->text);
  }
  if (path == "/openapi/v3") return text_response("application/json", v3_of(kinds)->index);
  if (path.starts_with("/openapi/v3/")) {
    const auto all = v3_of(kinds);
    const auto found = all->documents.find(std::string_view(path).substr(12));
    if (found != all->documents.end()) return text_response("application/json", found->second->text);
  }
  return {};
}

}  // namespace apiserver
