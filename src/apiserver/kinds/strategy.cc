// Metadata rules, status subresources, generations, canonical forms.
#include "apiserver/kinds/strategy.h"

#include <algorithm>
#include <iterator>

#include "api/json/json_bulk.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "api/schema/quantity.h"
#include "api/schema/unwritten.h"
#include "apiserver/kinds/cause_limit.h"
#include "apiserver/kinds/kind_rules.h"
#include "apiserver/kinds/pods/ephemeral_containers.h"
#include "apiserver/kinds/pods/pod_resize.h"
#include "apiserver/kinds/signing_requests.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;

namespace {

const api::Schema* schema_of_member(const api::Schema* schema, std::string_view name) {
  using Kind = api::Schema::Kind;
  if (!schema) return nullptr;
  if (schema->kind == Kind::kMap) return schema->element;
  const api::SchemaField* field = schema->kind == Kind::kObject ? schema->field(name) : nullptr;
  return field ? field->schema : nullptr;
}

// Values of any shape keep theirs: the owner of a ControllerRevision compares its data with what it wrote. A null
// schema says nothing.
void drop_nulls(const api::Schema* schema, Json& value) {
  if (schema && schema->kind == api::Schema::Kind::kAny) return;
  if (value.is_array()) {
    const api::Schema* element = schema && schema->kind == api::Schema::Kind::kList ? schema->element : nullptr;
    for (std::size_t i = 0; i < value.size(); ++i) {
      Json copy = value[i];
      drop_nulls(element, copy);
      if (!copy.same_as(value[i])) value.edit(i) = std::move(copy);
    }
    return;
  }
  if (!value.is_object()) return;
  std::vector<std::pair<std::string, Json>> changed;
  for (const Json::Member& member : value.members()) {
    if (member.value.is_object() || member.value.is_array()) {
      Json copy = member.value;
      drop_nulls(schema_of_member(schema, member.name()), copy);
      if (!copy.same_as(member.value)) changed.emplace_back(std::string(member.name()), std::move(copy));
    }
  }
  const bool any_values = schema && schema->kind == api::Schema::Kind::kMap && schema->element &&
                          schema->element->kind == api::Schema::Kind::kAny;
  if (!any_values) api::erase_members(value, [](const Json::Member& member) { return member.value.is_null(); });
  for (auto& [name, copy] : changed) value.set(name, std::move(copy));
}

// A whole number beyond 64 bits stays as it is written, and counts as the largest one.
bool is_beyond_all(const Json& value) {
  const std::string_view text = value.as_string();
  if (text.find_first_not_of("0123456789") != std::string_view::npos || text.ends_with("000")) return false;
  return !text.starts_with('0') && (text.size() > 19 || (text.size() == 19 && text > "9223372036854775807"));
}

void canonical_quantities(const api::Schema& schema, Json& value) {
  using Kind = api::Schema::Kind;
  if (schema.kind == Kind::kQuantity) {
    if (is_beyond_all(value)) return;
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

void check_finalizers(const Json& finalizers, api::FieldErrors& errors) {
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string_view name = finalizers[i].as_string();
    errors.invalid("metadata.finalizers", name, api::check_qualified_name(name));
    if (name.find('/') == std::string_view::npos && name != "orphan" && name != "foregroundDeletion" &&
        name != "kubernetes")
      errors.invalid(api::at("metadata.finalizers", i), name,
                     "name is neither a standard finalizer name nor is it fully qualified");
  }
}

// A prefix may end as a name may not.
void check_prefix(const api::KindInfo& kind, const Json& prefix, std::vector<Cause>& causes) {
  std::string masked = prefix.str();
  const Naming naming = rules_of(kind).naming;
  if (masked.empty() || kind.custom || naming == Naming::kPath) return;
  if (masked.back() == '-') masked.back() = 'a';
  api::FieldErrors errors;
  errors.invalid("metadata.generateName", prefix,
                 naming == Naming::kLabel ? api::check_dns_label(masked) : api::check_dns_subdomain(masked));
  std::ranges::move(errors.take(), std::back_inserter(causes));
}

}  // namespace

void canonicalize(const api::KindInfo& kind, Json& object) {
  drop_nulls(kind.schema, object);
  if (!kind.custom) canonical_quantities(*kind.schema, object);
}

void check_metadata(const api::KindInfo& kind, const Json& object, std::vector<Cause>& causes) {
  const Json& meta = object["metadata"];
  const std::string_view name = meta["name"].as_string();
  const Naming naming = rules_of(kind).naming;
  check_prefix(kind, meta["generateName"], causes);
  if (name.empty()) {
    causes.push_back({"FieldValueRequired", "Required value: name or generateName is required", "metadata.name"});
  } else if (naming == Naming::kPath) {
    if (name == "." || name == ".." || name.size() > 253 || name.find_first_of("/%") != std::string_view::npos)
      causes.push_back({"FieldValueInvalid",
                        base::format("Invalid value: \"{}\": may not be '.' or '..', or contain '/' or '%'", name),
                        "metadata.name"});
  } else {
    api::FieldErrors errors;
    errors.invalid("metadata.name", name,
                   naming == Naming::kLabel ? api::check_dns_label(name) : api::check_dns_subdomain(name));
    std::ranges::move(errors.take(), std::back_inserter(causes));
  }
  // The schema's walk has refused what is of a wrong type.
  api::FieldErrors errors;
  api::check_labels(meta["labels"], "metadata.labels", errors);
  api::check_annotations(meta["annotations"], "metadata.annotations", errors);
  if (!kind.custom) check_finalizers(meta["finalizers"], errors);
  std::ranges::move(errors.take(), std::back_inserter(causes));
  std::size_t at = 0;
  int controllers = 0;
  for (const Json& owner : meta["ownerReferences"].items()) {
    if (has_enough_causes(causes)) break;
    const std::string path = base::format("metadata.ownerReferences[{}]", at++);
    for (const char* key : {"apiVersion", "kind", "name", "uid"})
      if (owner[key].is_null() || (owner[key].is_string() && owner[key].as_string().empty()))
        causes.push_back(
            {"FieldValueInvalid", base::format("Invalid value: \"\": {} must not be empty", key), path + "." + key});
    if (owner["apiVersion"].as_string() == "v1" && owner["kind"].as_string() == "Event")
      causes.push_back(
          {"FieldValueInvalid",
           base::format("Invalid value: {}: /v1, Kind=Event is disallowed from being an owner", owner.dump()),
           "metadata.ownerReferences"});
    if (owner["controller"].as_bool() && ++controllers == 2)
      causes.push_back({"FieldValueInvalid", "Invalid value: Only one reference can have Controller set to true",
                        "metadata.ownerReferences"});
  }
}

void separate_status(const api::KindInfo& kind, std::string_view subresource, const Json& old_object, Json& object) {
  if (subresource == "ephemeralcontainers") return take_ephemeral_containers(old_object, object);
  if (subresource == "resize") return take_resize(old_object, object);
  if (is_signing_request(kind)) return separate_approval(subresource, old_object, object);
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
  // A Deployment hands its annotations on to what it makes.
  if (rules_of(kind).hands_annotations_on &&
      !(old_object["metadata"]["annotations"] == object["metadata"]["annotations"]))
    return true;
  // Objects stored by earlier versions have what Go leaves out.
  if (!kind.custom) return !api::same_member_as_written(*kind.schema, "spec", old_object, object);
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
