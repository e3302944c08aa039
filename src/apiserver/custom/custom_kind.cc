// Objects of a stranger's kind, from one version to another and by its schema.
#include "apiserver/custom/custom_kind.h"

#include <algorithm>
#include <functional>

#include "api/cel/schema_rules.h"
#include "api/other_versions.h"

namespace apiserver {

using api::Json;

namespace {

// How the text of an object begins that to_storage() made of one of the version.
std::string beginning(const api::ResourceId& resource) {
  return "{\"apiVersion\":" + Json(resource.api_version()).dump() + ",";
}

}  // namespace

bool CustomKind::may_differ(const store::Object& stored) const {
  return stored.revision <= written_anew_after || !stored.bytes.starts_with(beginning(resource));
}

store::ObjectPtr CustomKind::read(const store::ObjectPtr& stored) const {
  if (!may_differ(*stored)) return stored;
  const Json before = stored->json();
  Json object = convert(before);
  if (object == before) return stored;
  auto made = std::make_shared<store::Object>(*stored);
  made->bytes = object.dump();
  return made;
}

Json CustomKind::convert(Json object) const {
  object.set("apiVersion", resource.api_version());
  object.set("kind", kind);
  api::prune(*structure, object, nullptr);
  api::apply_defaults(*structure, object);
  return object;
}

Json CustomKind::to_storage(Json object) const {
  Json out = Json::object_of_size(object.size());
  out.set("apiVersion", resource.api_version());
  for (const Json::Member& member : object.members())
    if (member.name() != "apiVersion") out.set(member.name(), member.value);
  return out;
}

const CustomKind* custom_kind(const api::KindInfo& kind) {
  const auto own = api::all_kinds();
  const std::less<const api::KindInfo*> before;
  const bool is_own = !before(&kind, own.data()) && before(&kind, own.data() + own.size());
  return is_own || api::other_version(kind) != nullptr ? nullptr : static_cast<const CustomKind*>(&kind);
}

std::string list_kind_of(const api::KindInfo& kind) {
  const CustomKind* custom = custom_kind(kind);
  return custom != nullptr && !custom->list_name.empty() ? custom->list_name : kind.list_kind();
}

store::ObjectPtr read_as(const api::KindInfo& kind, store::ObjectPtr stored) {
  const CustomKind* custom = custom_kind(kind);
  return custom != nullptr && stored ? custom->read(stored) : stored;
}

void prune_object(const api::KindInfo& kind, Json& object, std::vector<std::string>* removed) {
  if (const CustomKind* custom = custom_kind(kind)) return api::prune(*custom->structure, object, removed);
  api::prune(*kind.schema, object, {.custom_resource = kind.custom}, removed);
}

void fill_object(const api::KindInfo& kind, Json& object) {
  if (const CustomKind* custom = custom_kind(kind)) return api::apply_defaults(*custom->structure, object);
  api::apply_defaults(*kind.schema, object, {.custom_resource = kind.custom});
}

bool validate_object(const api::KindInfo& kind, const Json& object, const Json& before, std::uint64_t cost_max,
                     std::vector<base::Cause>& causes) {
  if (const CustomKind* custom = custom_kind(kind)) {
    api::validate(*custom->structure, object, before, causes);
    return custom->rules->check(object, before, cost_max, causes);
  }
  const std::size_t known = causes.size();
  api::validate(*kind.schema, object, {.custom_resource = kind.custom}, causes);
  // The demands of Kubernetes' own kinds on a status are not in their schemas: its writers leave out what is empty in
  // Go.
  if (!kind.custom)
    causes.erase(std::remove_if(causes.begin() + static_cast<std::ptrdiff_t>(known), causes.end(),
                                [](const base::Cause& cause) {
                                  return cause.reason == "FieldValueRequired" && cause.field.starts_with("status.");
                                }),
                 causes.end());
  if (kind.custom) api::cel::check_rules(*kind.schema, object, causes);
  return true;
}

}  // namespace apiserver
