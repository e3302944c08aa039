// Metadata rules, status subresources, generations, canonical forms.
#include "apiserver/kinds/strategy.h"

#include "api/json/json_bulk.h"
#include "api/schema/names.h"
#include "api/schema/quantity.h"
#include "apiserver/kinds/ephemeral_containers.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;

namespace {

// Kinds whose names are single labels.
bool named_by_label(const api::KindInfo& kind) {
  return kind.resource.group.empty() && (kind.resource.plural == "namespaces" || kind.resource.plural == "services");
}

void drop_nulls(Json& value) {
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      Json copy = value[i];
      drop_nulls(copy);
      if (!copy.same_as(value[i])) value.edit(i) = std::move(copy);
    }
    return;
  }
  if (!value.is_object()) return;
  std::vector<std::pair<std::string, Json>> changed;
  for (const Json::Member& member : value.members()) {
    if (member.value.is_object() || member.value.is_array()) {
      Json copy = member.value;
      drop_nulls(copy);
      if (!copy.same_as(member.value)) changed.emplace_back(std::string(member.name()), std::move(copy));
    }
  }
  api::erase_members(value, [](const Json::Member& member) { return member.value.is_null(); });
  for (auto& [name, copy] : changed) value.set(name, std::move(copy));
}

void canonical_quantities(const api::Schema& schema, Json& value) {
  using Kind = api::Schema::Kind;
  if (schema.kind == Kind::kQuantity) {
    if (const auto q = api::Quantity::from_json(value)) value = q->to_json();
  } else if (schema.kind == Kind::kObject && value.is_object()) {
    std::vector<std::string> names;
    for (const Json::Member& member : value.members())
      if (member.value.is_object() || member.value.is_array() || member.value.is_number() || member.value.is_string())
        names.emplace_back(member.name());
    for (const std::string& name : names) {
      const api::SchemaField* field = schema.field(name);
      if (!field || field->schema->kind == Kind::kString || field->schema->kind == Kind::kAny) continue;
      Json copy = value[name];
      canonical_quantities(*field->schema, copy);
      if (!copy.same_as(value[name])) value.set(name, std::move(copy));
    }
  } else if ((schema.kind == Kind::kList && value.is_array()) || (schema.kind == Kind::kMap && value.is_object())) {
    if (schema.element->kind == Kind::kString) return;
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        Json copy = value[i];
        canonical_quantities(*schema.element, copy);
        if (!copy.same_as(value[i])) value.edit(i) = std::move(copy);
      }
    } else {
      std::vector<std::string> names;
      for (const Json::Member& member : value.members()) names.emplace_back(member.name());
      for (const std::string& name : names) canonical_quantities(*schema.element, value.edit(name));
    }
  }
}

}  // namespace

void canonicalize(const api::KindInfo& kind, Json& object) {
  drop_nulls(object);
  if (!kind.custom) canonical_quantities(*kind.schema, object);
}

void check_metadata(const api::KindInfo& kind, const Json& object, std::vector<Cause>& causes) {
  const Json& meta = object["metadata"];
  const std::string_view name = meta["name"].as_string();
  if (name.empty()) {
    causes.push_back({"FieldValueRequired", "Required value: name or generateName is required", "metadata.name"});
  } else if (kind.resource.group == "rbac.authorization.k8s.io") {
    // Names of roles are words of paths, such as "system:discovery".
    if (name == "." || name == ".." || name.size() > 253 || name.find_first_of("/%") != std::string_view::npos)
      causes.push_back({"FieldValueInvalid",
                        base::format("Invalid value: \"{}\": may not be '.' or '..', or contain '/' or '%'", name),
                        "metadata.name"});
  } else if (named_by_label(kind) ? !api::is_dns_label(name) : !api::is_dns_subdomain(name)) {
    causes.push_back({"FieldValueInvalid",
                      base::format("Invalid value: \"{}\": {}", name,
                                   named_by_label(kind) ? api::kDnsLabelRule : api::kDnsSubdomainRule),
                      "metadata.name"});
  }
  // The schema's walk has refused what is of a wrong type.
  for (const Json::Member& label : meta["labels"].members()) {
    if (!api::is_qualified_name(label.name()))
      causes.push_back({"FieldValueInvalid",
                        base::format("Invalid value: \"{}\": name part {}", label.name(), api::kNamePartRule),
                        "metadata.labels"});
    if (label.value.is_string() && !api::is_label_value(label.value.as_string()))
      causes.push_back({"FieldValueInvalid",
                        base::format("Invalid value: \"{}\": {}", label.value.as_string(), api::kLabelValueRule),
                        "metadata.labels"});
  }
  std::size_t bytes = 0;
  for (const Json::Member& annotation : meta["annotations"].members()) {
    bytes += annotation.name().size() + annotation.value.as_string().size();
    std::string lower(annotation.name());
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (!api::is_qualified_name(lower))
      causes.push_back({"FieldValueInvalid",
                        base::format("Invalid value: \"{}\": name part {}", annotation.name(), api::kNamePartRule),
                        "metadata.annotations"});
  }
  if (bytes > 256 * 1024)
    causes.push_back({"FieldValueTooLong", "Too long: may not be more than 262144 bytes", "metadata.annotations"});
  std::size_t at = 0;
  int controllers = 0;
  for (const Json& owner : meta["ownerReferences"].items()) {
    const std::string path = base::format("metadata.ownerReferences[{}]", at++);
    for (const char* key : {"apiVersion", "kind", "name", "uid"})
      if (owner[key].is_null() || (owner[key].is_string() && owner[key].as_string().empty()))
        causes.push_back(
            {"FieldValueInvalid", base::format("Invalid value: \"\": {} must not be empty", key), path + "." + key});
    if (owner["controller"].as_bool() && ++controllers == 2)
      causes.push_back({"FieldValueInvalid", "Invalid value: Only one reference can have Controller set to true",
                        "metadata.ownerReferences"});
  }
}

void separate_status(const api::KindInfo& kind, std::string_view subresource, const Json& old_object, Json& object) {
  if (subresource == "ephemeralcontainers") return take_ephemeral_containers(old_object, object);
  if (!kind.status_subresource) return;
  if (subresource == "status") {
    Json merged = old_object;
    const Json* status = object.find("status");
    if (status)
      merged.set("status", *status);
    else
      merged.erase("status");
    merged.edit("metadata").set("managedFields", object["metadata"]["managedFields"]);
    if (!kind.custom)  // Kubernetes' own kinds accept labels and annotations with their status
      for (const char* key : {"labels", "annotations"})
        if (const Json* value = object["metadata"].find(key)) merged.edit("metadata").set(key, *value);
    if (merged["metadata"]["managedFields"].is_null()) merged.edit("metadata").erase("managedFields");
    object = std::move(merged);
    return;
  }
  const Json* status = old_object.find("status");
  if (status)
    object.set("status", *status);
  else
    object.erase("status");
}

bool generation_parts_differ(const api::KindInfo& kind, const Json& old_object, const Json& object) {
  if (!kind.custom) return !(old_object["spec"] == object["spec"]);
  for (const Json* side : {&old_object, &object}) {
    const Json& other = side == &old_object ? object : old_object;
    for (const Json::Member& member : side->members()) {
      if (member.name() == "metadata" || (kind.status_subresource && member.name() == "status")) continue;
      if (!(member.value == other[member.name()])) return true;
    }
  }
  return false;
}

}  // namespace apiserver
