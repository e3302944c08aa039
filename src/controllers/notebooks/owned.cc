// Differences are found twice: by what the object holds, and by a hash of what was wanted when it was written last,
// which tells of fields that are not wanted any more.
#include "controllers/notebooks/owned.h"

#include "api/kinds.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "controllers/workloads/pods.h"

namespace controllers::notebooks {

using api::Json;
using api::Schema;

namespace {

constexpr const char* kApplied = "notebooks.volcano.sh/applied";

// Values that Kubernetes' types do not write.
bool is_zero(const Json& value) {
  if (value.is_null()) return true;
  if (value.is_bool()) return !value.as_bool();
  if (value.is_number()) return value.as_double() == 0;
  return value.empty() && (value.is_object() || value.is_array() || value.is_string()) &&
         (!value.is_string() || value.as_string().empty());
}

const Schema* below(const Schema* schema, std::string_view name) {
  if (schema == nullptr) return nullptr;
  if (schema->kind == Schema::Kind::kMap) return schema->element;
  const api::SchemaField* field = schema->field(name);
  return field != nullptr ? field->schema : nullptr;
}

}  // namespace

bool covers(const Schema* schema, const Json& there, const Json& wanted) {
  if (is_zero(wanted)) return wanted.is_object() || is_zero(there);
  if (wanted.is_object()) {
    if (!there.is_object()) return false;
    for (const Json::Member& member : wanted.members())
      if (!covers(below(schema, member.name()), there[member.name()], member.value)) return false;
    return true;
  }
  if (wanted.is_array()) {
    if (!there.is_array() || there.size() != wanted.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (!covers(schema != nullptr ? schema->element : nullptr, there[i], wanted[i])) return false;
    return true;
  }
  if (schema != nullptr && schema->kind == Schema::Kind::kQuantity) {
    const auto one = api::Quantity::from_json(there), other = api::Quantity::from_json(wanted);
    return one && other ? *one == *other : there == wanted;
  }
  return there == wanted;
}

std::string OwnedObjects::taken_text(const Json& wanted) {
  return base::format("{} {} is there already, and is not this object's", api::kind_of(wanted), api::name_of(wanted));
}

OwnedObjects::Kept OwnedObjects::keep(Plan& plan, const View& view, const Json& owner, const api::ResourceId& resource,
                                      Json wanted) {
  const std::string hash = workloads::hash_text(workloads::hash_of(wanted.sorted().dump()), 12);
  wanted.edit("metadata").edit("annotations").set(kApplied, hash);
  const Json* there = view.find(resource, api::key_of(wanted));
  if (there == nullptr) {
    const std::string kind(api::kind_of(wanted)), name(api::name_of(wanted));
    wanted.edit("metadata").set("ownerReferences", Json::array({api::controller_reference(owner)}));
    Action& action = plan.create(resource, std::move(wanted));
    action.stops_nothing = true;
    action.failure_reason = "FailedCreate";
    action.failure_text = base::format("{} {} cannot be made: {{}}", kind, name);
    return Kept::kMade;
  }
  const std::string uid(api::uid_of(*there));
  if (api::controller_of(*there)["uid"].as_string() != api::uid_of(owner)) return Kept::kTaken;
  if (api::is_deleting(*there)) return Kept::kRight;
  const api::KindInfo* kind = api::find_kind(resource);
  const bool same_request = api::annotation_of(*there, kApplied) == hash;
  if (same_request && covers(kind != nullptr ? kind->schema : nullptr, *there, wanted)) {
    repaired_.erase(uid);
    return Kept::kRight;
  }
  std::string& written_at = repaired_[uid];
  if (same_request && written_at == api::resource_version_of(*there)) return Kept::kRight;
  written_at = api::resource_version_of(*there);
  Json next = *there;
  for (const Json::Member& member : wanted.members()) {
    if (member.name() == "metadata") {
      for (const char* map : {"labels", "annotations"})
        for (const Json::Member& one : member.value[map].members())
          next.edit("metadata").edit(map).set(one.name(), one.value);
    } else if (member.name() == "spec") {
      for (const Json::Member& one : member.value.members()) next.edit("spec").set(one.name(), one.value);
    } else {
      next.set(member.name(), member.value);
    }
  }
  Action& action = plan.update(resource, std::move(next));
  action.stops_nothing = true;
  action.failure_reason = "FailedUpdate";
  action.failure_text = base::format("{} {} cannot be changed: {{}}", api::kind_of(wanted), api::name_of(wanted));
  return Kept::kChanged;
}

}  // namespace controllers::notebooks
