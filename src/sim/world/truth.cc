// Following the store, and comparing after a crash.
#include "sim/world/truth.h"

#include <algorithm>

#include "api/kinds.h"
#include "api/schema/patch.h"
#include "base/format.h"

namespace sim {

using api::Json;

namespace {

std::uint32_t index_of(const api::ResourceId& resource) {
  const api::KindInfo* kind = api::find_kind(resource);
  CHECK(kind);
  return static_cast<std::uint32_t>(kind - api::all_kinds().data());
}

std::string key_for(const store::Object& object) {
  return object.ns.empty() ? object.name : object.ns + "/" + object.name;
}

std::string_view word_for(store::EventType type) {
  switch (type) {
    case store::EventType::kAdded: return "add";
    case store::EventType::kModified: return "set";
    case store::EventType::kDeleted: return "del";
  }
  return "?";
}

// Heartbeats and reports, which never end and on which nothing depends.
bool is_noise(const api::ResourceId& resource) {
  return resource == api::resources::kLeases || resource == api::resources::kEvents;
}

}  // namespace

Truth::Truth(Chronicle& chronicle)
    : chronicle_(chronicle), objects_(api::all_kinds().size()), versions_(objects_.size()), events_(objects_.size()) {}

const std::map<std::string, Json>& Truth::objects(const api::ResourceId& resource) const {
  return objects_[index_of(resource)];
}

const Json* Truth::find(const api::ResourceId& resource, const std::string& key) const {
  const auto& objects = objects_[index_of(resource)];
  const auto found = objects.find(key);
  return found == objects.end() ? nullptr : &found->second;
}

void Truth::attach(store::Store& store) {
  verify_after_crash(store);
  for (std::uint32_t resource = 0; resource < objects_.size(); ++resource) {
    auto subscribed = store.subscribe(resource, std::max<std::int64_t>(revision_, 1),
                                      [this](const std::vector<store::Event>& events) {
                                        for (const store::Event& event : events) take(event);
                                      });
    if (!subscribed.ok()) {
      chronicle_.violation("no-lost-write", base::format("history after revision {} is gone: {}", revision_,
                                                         subscribed.error().message));
      continue;
    }
    subscriptions_.push_back(*std::move(subscribed));
  }
  revision_ = std::max(revision_, store.revision());
}

void Truth::detach() { subscriptions_.clear(); }

void Truth::verify_after_crash(store::Store& store) {
  const std::int64_t durable = store.revision();
  if (durable < acknowledged_)
    chronicle_.violation("no-lost-write", base::format("revision {} was acknowledged, the server came back with {}",
                                                       acknowledged_, durable));
  if (durable < revision_)
    chronicle_.violation("no-lost-write",
                         base::format("revision {} was watched, the server came back with {}", revision_, durable));
  // The last commit may have become durable without anybody being told: those changes are newer than all we know.
  for (std::uint32_t resource = 0; resource < objects_.size(); ++resource) {
    const api::KindInfo& kind = api::all_kinds()[resource];
    for (const auto& [key, version] : versions_[resource]) {
      const Json& object = objects_[resource].at(key);
      const store::ObjectPtr now =
          store.find(resource, api::namespace_of(object), api::name_of(object), store::View::kDurable);
      if (now ? now->revision < version || (now->revision > version && now->revision <= revision_)
              : durable == revision_)
        chronicle_.violation(
            "no-lost-write",
            base::format("{} {} was at revision {} and came back {}", kind.resource.plural, key, version,
                         now ? base::format("at {}", now->revision) : std::string("missing")));
    }
    store.for_each(resource, "", "", store::View::kDurable, [&](const store::ObjectPtr& object) {
      if (object->revision <= revision_ && !versions_[resource].contains(key_for(*object)))
        chronicle_.violation("no-lost-write", base::format("{} {} of revision {} came back from the dead",
                                                           kind.resource.plural, key_for(*object), object->revision));
      return true;
    });
  }
}

void Truth::take(const store::Event& event) {
  const api::ResourceId& id = api::all_kinds()[event.resource].resource;
  const std::string key = key_for(*event.object);
  auto& revisions = events_[event.resource];
  if (!revisions.empty() && event.revision <= revisions.back())
    chronicle_.violation("watch-in-order",
                         base::format("{} {}: revision {} after {}", id.plural, key, event.revision, revisions.back()));
  revisions.push_back(event.revision);
  revision_ = std::max(revision_, event.revision);
  auto& objects = objects_[event.resource];
  Json before;
  const auto known = objects.find(key);
  const bool had = known != objects.end();
  if (had) before = known->second;
  if (had == (event.type == store::EventType::kAdded))
    chronicle_.violation("watch-in-order", base::format("{} {}: \"{}\" of an object that {}", id.plural, key,
                                                        word_for(event.type), had ? "exists" : "does not exist"));
  Json after = event.object->json();
  if (clock_ && !is_noise(id)) {
    last_change_ = clock_->now();
    last_changed_ = base::format("{} {}", id.plural, key);
    ++changes_that_matter_;
  }
  ++changes_;
  chronicle_.record(base::format("{} {} {} @{}", word_for(event.type), id.plural, key, event.revision));
  if (id != api::resources::kSecrets) chronicle_.stir(event.object->bytes);  // keys are made by real dice
  if (!show_.empty() && key.find(show_) != std::string::npos) {
    Json shown = had ? api::make_merge_patch(before, after) : after;
    if (Json& metadata = shown.edit("metadata"); metadata.is_object()) metadata.erase("managedFields");
    chronicle_.remark(shown.dump());
  }
  if (event.type == store::EventType::kDeleted) {
    objects.erase(key);
    versions_[event.resource].erase(key);
    if (had) notify(event.resource, &before, nullptr);
    return;
  }
  versions_[event.resource][key] = event.revision;
  objects[key] = after;
  notify(event.resource, had ? &before : nullptr, &after);
}

void Truth::notify(std::uint32_t resource, const Json* before, const Json* after) {
  for (const OnChange& handler : handlers_) handler(api::all_kinds()[resource].resource, before, after);
}

std::string Truth::verify_event(std::uint32_t resource, std::int64_t previous, std::int64_t revision) const {
  const auto& revisions = events_[resource];
  const auto next = std::ranges::upper_bound(revisions, previous);
  const std::string& plural = api::all_kinds()[resource].resource.plural;
  if (next == revisions.end())
    return base::format("a watch of {} at {} was sent {}, which is not durable", plural, previous, revision);
  if (*next == revision) return {};
  return base::format("a watch of {} at {} was sent {}, the next is {}", plural, previous, revision, *next);
}

}  // namespace sim
