// Indexes over the newest state, and snapshots of what a decision asked for.
#include "apiserver/kinds/live_objects.h"

#include <algorithm>

#include "api/kinds.h"

namespace apiserver {

using api::Json;

namespace {

std::uint32_t index_of(const api::KindInfo& kind) {
  return static_cast<std::uint32_t>(&kind - api::all_kinds().data());
}

std::string key_of(const store::Object& object) { return object.ns + "/" + object.name; }

bool same_objects(const std::vector<Json>& a, const std::vector<Json>& b) {
  return std::ranges::equal(a, b, [](const Json& one, const Json& other) {
    return api::uid_of(one) == api::uid_of(other) && api::resource_version_of(one) == api::resource_version_of(other);
  });
}

}  // namespace

std::optional<Json> Lookups::find(const api::ResourceId& id, std::string_view ns, std::string_view name) const {
  const api::KindInfo* kind = api::find_kind(id);
  const store::ObjectPtr object = kind ? stored(index_of(*kind), ns, name) : nullptr;
  return object ? std::optional<Json>(object->json()) : std::nullopt;
}

store::ObjectPtr LiveObjects::stored(std::uint32_t resource, std::string_view ns, std::string_view name) const {
  return store_.find(resource, ns, name, store::View::kLatest);
}

std::vector<Json> LiveObjects::list_by(const api::TextField& field, std::string_view value, bool as_prefix) const {
  const api::KindInfo* kind = api::find_kind(field.resource);
  if (!kind) return {};
  auto& index = indexes_[field];
  if (!index) {
    index = std::make_shared<api::TextIndex>(field);
    const std::uint32_t resource = index_of(*kind);
    store_.for_each(resource, "", "", store::View::kLatest, [&](const store::ObjectPtr& object) {
      index->put(key_of(*object), object->json());
      return true;
    });
    store_.on_latest(resource, [index](const store::ObjectPtr& before, const store::ObjectPtr& after) {
      if (before || after) index->put(key_of(before ? *before : *after), after ? after->json() : Json());
    });
  }
  return index->find(value, as_prefix);
}

store::ObjectPtr Snapshot::stored(std::uint32_t resource, std::string_view ns, std::string_view name) const {
  return objects_[{resource, std::string(ns), std::string(name)}].value_or(nullptr);
}

std::vector<Json> Snapshot::list_by(const api::TextField& field, std::string_view value, bool as_prefix) const {
  return lists_[{field, std::string(value), as_prefix}].value_or(std::vector<Json>());
}

bool Snapshot::refresh(const LiveObjects& latest) {
  bool same = true;
  for (auto& [key, answer] : objects_) {
    const auto& [resource, ns, name] = key;
    store::ObjectPtr now = latest.stored(resource, ns, name);
    if (answer && *answer == now) continue;
    same = false;
    answer = std::move(now);
  }
  for (auto& [key, answer] : lists_) {
    const auto& [field, value, as_prefix] = key;
    std::vector<Json> now = latest.list_by(field, value, as_prefix);
    if (answer && same_objects(*answer, now)) continue;
    same = false;
    answer = std::move(now);
  }
  return same;
}

}  // namespace apiserver
