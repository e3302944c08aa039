// The map cluster of controller tests.
#include <gtest/gtest.h>

#include "api/json/member_path.h"
#include "api/kinds.h"
#include "base/format.h"
#include "controllers/framework/off_loop.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/framework/writes.h"

namespace controllers {

using api::Json;

void merge_patch(Json& target, const Json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = Json::object();
  for (const Json::Member& member : patch.members()) {
    if (member.value.is_null())
      target.erase(member.name());
    else
      merge_patch(target.edit(member.name()), member.value);
  }
}

namespace {

// Only what controllers write: add and replace of members.
void json_patch(Json& target, const Json& patch) {
  for (const Json& operation : patch.items()) {
    Json* at = &target;
    std::string_view rest = operation["path"].as_string();
    rest.remove_prefix(1);
    for (std::size_t slash; (slash = rest.find('/')) != std::string_view::npos; rest.remove_prefix(slash + 1))
      at = &at->edit(rest.substr(0, slash));
    std::string path(rest);
    if (const std::size_t tilde = path.find("~1"); tilde != std::string::npos)
      path = base::format("{}/{}", path.substr(0, tilde), path.substr(tilde + 2));
    if (operation["op"].as_string() == "remove")
      at->erase(path);
    else
      at->set(path, operation["value"]);
  }
}

// As the API server does with pods that no kubelet has to stop.
bool goes_at_once(const Json& pod) {
  if (!pod["metadata"]["finalizers"].empty()) return false;
  const std::string_view phase = pod["status"]["phase"].as_string();
  if (phase == "Succeeded" || phase == "Failed") return true;
  return (phase.empty() || phase == "Pending") && pod["spec"]["nodeName"].as_string().empty();
}

std::string key_for(const Action& action) {
  return action.ns.empty() ? action.name : base::format("{}/{}", action.ns, action.name);
}

}  // namespace

const Json* TestWorld::find(const api::ResourceId& resource, std::string_view key) const {
  const auto kind = objects.find(resource);
  if (kind == objects.end()) return nullptr;
  const auto object = kind->second.find(std::string(key));
  return object == kind->second.end() ? nullptr : &object->second;
}

std::vector<const Json*> TestWorld::by_index(const api::ResourceId& resource, std::string_view index,
                                             std::string_view key) const {
  std::vector<const Json*> found;
  for (const IndexBy& one : indexes) {
    if (one.resource != resource || one.name != index) continue;
    for (const Json* object : all(resource))
      for (const std::string& under : one.keys(*object))
        if (under == key) found.push_back(object);
    break;
  }
  return found;
}

std::vector<const Json*> TestWorld::all(const api::ResourceId& resource) const {
  std::vector<const Json*> found;
  if (const auto kind = objects.find(resource); kind != objects.end())
    for (const auto& [key, object] : kind->second) found.push_back(&object);
  return found;
}

void TestWorld::use_indexes_of(const Controller& controller) {
  for (IndexBy& index : controller.indexes()) indexes.push_back(index);
  for (Write& row : controller.writes()) writes.push_back(row);
}

Json& TestWorld::put(const api::ResourceId& resource, Json object) {
  Json& metadata = object.edit("metadata");
  if (!metadata.has("uid")) metadata.set("uid", dice.uuid());
  if (!metadata.has("creationTimestamp")) metadata.set("creationTimestamp", base::format_rfc3339(now));
  metadata.set("resourceVersion", std::to_string(++revision));
  Json& slot = objects[resource][api::key_of(object)];
  slot = std::move(object);
  return slot;
}

Json& TestWorld::put_text(const api::ResourceId& resource, std::string_view json) {
  auto parsed = api::parse_json(json);
  CHECK(parsed.ok());
  return put(resource, *parsed);
}

Json* TestWorld::edit(const api::ResourceId& resource, const std::string& key) {
  const auto found = objects[resource].find(key);
  if (found == objects[resource].end()) return nullptr;
  found->second.edit("metadata").set("resourceVersion", std::to_string(++revision));
  return &found->second;
}

Answer TestWorld::answer_of(const Probe& probe) const {
  const std::string place = base::format("{}:{}{}", probe.host, probe.port, probe.path);
  if (const auto page = pages.find(place); page != pages.end()) return {.status = 200, .body = page->second};
  if (!listening.contains(place)) return {.error = "connection refused"};
  return {.status = probe.path.empty() ? 0 : 200};
}

namespace {

// As the server does with a patch of the scale; kinds that it does not have keep the number at .spec.replicas.
Json with_replicas(const Action& action, const Json& object) {
  const api::KindInfo* kind = api::find_kind(action.resource);
  std::string_view path = kind != nullptr ? std::string_view(kind->scale.replicas) : ".spec.replicas";
  Json changed = object;
  Json* at = &changed;
  while (true) {
    const std::string name(api::next_member(path));
    if (path.empty()) return at->set(name, action.body["spec"]["replicas"]), changed;
    at = &at->edit(name);
  }
}

Json patched(const Action& action, const Json& object) {
  if (action.subresource == "scale") return with_replicas(action, object);
  Json next = object;
  if (action.patch_type == client::PatchType::kJson)
    json_patch(next, action.body);
  else
    merge_patch(next, action.body);
  return next;
}

// For a create: whether it is enough that `existing` has the name.
bool is_fine(const Action& action, const Json& existing) {
  if (!action.existing_is_fine || api::controller_of(action.body).is_null()) return action.existing_is_fine;
  const base::Status ours = is_taken_over(action, existing);
  return ours.ok() || ours.error().code != base::Code::kConflict;
}

bool may_remove(const Action& action, const Json& existing) {
  return !action.body.is_string() || api::controller_of(existing)["uid"].as_string() == action.body.as_string();
}

}  // namespace

bool TestWorld::owns_something(const Json& object) const {
  for (const auto& [resource, kind] : objects)
    for (const auto& [key, one] : kind)
      for (const Json& reference : one["metadata"]["ownerReferences"].items())
        if (reference["uid"].as_string() == api::uid_of(object)) return true;
  return false;
}

bool TestWorld::begins_deletion(const Action& action, Json& object) const {
  const bool foreground = action.body["propagationPolicy"].as_string() == "Foreground" && owns_something(object);
  const bool slow = action.kind == "Pod" && deletes_pods_slowly && !goes_at_once(object);
  if (!foreground && !slow) return false;
  Json& metadata = object.edit("metadata");
  metadata.set("deletionTimestamp", base::format_rfc3339(now));
  if (foreground) metadata.edit("finalizers").push_back("foregroundDeletion");
  return true;
}

bool TestWorld::run(const Action& action) {
  const std::string key = key_for(action);
  auto& kind = objects[action.resource];
  const auto found = kind.find(key);
  using Verb = Action::Verb;
  switch (action.verb) {
    case Verb::kEvent: events.push_back(base::format("{}: {}", action.event_reason, action.event_message)); return true;
    case Verb::kCreate: {
      if (found != kind.end() && !action.existing_has) return is_fine(action, found->second);
      if (found != kind.end() && !is_taken_over(action, found->second).ok()) return false;
      if (found != kind.end() && is_right(action, found->second)) return true;
      Json body = action.body;
      if (is_off_loop(action)) {
        auto made = do_off_loop(action, std::string(kSecretBytes, 'x'));
        CHECK(made.ok());
        body = *made;
      }
      if (found != kind.end()) return found->second.set("data", body["data"]), true;
      if (action.kind == "Pod") body.edit("status").set("phase", "Pending");
      put(action.resource, std::move(body));
      return true;
    }
    case Verb::kUpdate:
    case Verb::kStatus: {
      if (found == kind.end()) return action.missing_is_fine;
      Json next = action.verb == Verb::kStatus ? found->second : action.body;
      next.set("status", action.verb == Verb::kStatus ? action.body["status"] : found->second["status"]);
      // Kubernetes' own kinds take labels and annotations with their status.
      if (const auto* info = api::find_kind(action.resource); action.verb == Verb::kStatus && info && !info->custom)
        for (const char* key : {"labels", "annotations"})
          if (const Json* value = action.body["metadata"].find(key)) next.edit("metadata").set(key, *value);
      if (action.subresource == "finalize")
        kind.erase(found);
      else
        put(action.resource, std::move(next));
      return true;
    }
    case Verb::kPatch: {
      if (found == kind.end()) return action.missing_is_fine;
      put(action.resource, patched(action, found->second));
      return true;
    }
    case Verb::kApplyStatus: {
      if (found == kind.end()) return false;
      Json next = found->second;
      merge_patch(next.edit("status"), action.body["status"]);
      put(action.resource, std::move(next));
      return true;
    }
    case Verb::kRequireGone: {
      const std::string_view uid = action.body.as_string();
      return found == kind.end() || (!uid.empty() && uid != api::uid_of(found->second));
    }
    case Verb::kFetch: ending.fetched.push_back(found == kind.end() ? Json() : found->second); return true;
    case Verb::kProbe: ending.answers.push_back(answer_of(action.probe)); return true;
    case Verb::kDeleteAll:
      std::erase_if(kind, [&](const auto& one) { return api::namespace_of(one.second) == action.ns; });
      return true;
    case Verb::kRemoveTree: return do_off_loop(action, {}).ok();
    case Verb::kDelete:
      if (found == kind.end() || !may_remove(action, found->second)) return action.missing_is_fine;
      if (!begins_deletion(action, found->second)) kind.erase(found);
      return true;
  }
  return false;
}

namespace {

std::string success_text(const Action& action) {
  std::string text = action.success_text;
  if (const std::size_t hole = text.find("{}"); !action.success_name.empty() && hole != std::string::npos)
    text.replace(hole, 2, action.success_name);
  return text;
}

}  // namespace

Ending TestWorld::apply(const Plan& plan) {
  if (const std::string beyond = write_beyond(writes, plan); !indexes.empty() && !beyond.empty())
    ADD_FAILURE() << "no controller of this world has a row for a write of the plan: " << beyond;
  ending = {.succeeded = !plan.failure()};
  std::set<std::string> refused;  // fates
  for (const Stage& stage : plan.stages()) {
    bool stopped = false;
    std::string stage_error;
    const std::set<std::string> refused_before = refused;
    for (const Action& action : stage.actions) {
      if (!refused_before.empty() && action.fate.empty()) continue;
      if (stopped || refused.contains(action.fate)) continue;
      std::optional<base::Error> error = refuse && action.verb != Action::Verb::kEvent ? refuse(action) : std::nullopt;
      if (!error && !run(action)) error = base::make_error(base::Code::kConflict, "an old view");
      if (!error && action.verb == Action::Verb::kCreate && !action.fate.empty()) ending.made.insert(action.fate);
      if (!error && !action.success_reason.empty())
        events.push_back(base::format("{}: {}", action.success_reason, success_text(action)));
      if (!error) continue;
      ending.refused.push_back({action.verb, action.kind, action.name, action.fate, *error});
      if (!action.failure_reason.empty() && error->code != base::Code::kConflict) {
        std::string text = action.failure_text;
        if (const std::size_t hole = text.find("{}"); hole != std::string::npos) text.replace(hole, 2, error->message);
        events.push_back(base::format("{}: {}", action.failure_reason, text));
      }
      stopped = stopped || (!action.stops_nothing && action.fate.empty());
      if (!action.fate.empty()) refused.insert(action.fate);
      ending.succeeded = false;
      if (!action.stops_nothing && error->code != base::Code::kConflict) stage_error = error->message;
      ending.failures.push_back({action.kind, action.name, *std::move(error)});
    }
    if (const std::size_t hole = stage.failure_text.find("{}"); !stage_error.empty() && hole != std::string::npos)
      events.push_back(base::format("{}: {}{}{}", stage.failure_reason, stage.failure_text.substr(0, hole), stage_error,
                                    stage.failure_text.substr(hole + 2)));
    if (stopped) break;
  }
  return std::move(ending);
}

std::string TestWorld::turn(Controller& controller, const std::string& key, int failures, const std::string& error) {
  const Plan plan =
      controller.step(*this, key, {.now = now, .failures = failures, .error = error, .counts_wait = counts_wait});
  if (const std::string beyond = write_beyond(controller.writes(), plan); !beyond.empty())
    ADD_FAILURE() << controller.name() << " has no row for a write of its plan: " << beyond;
  controller.finished(key, apply(plan));
  return plan.text();
}

void TestWorld::gone() {
  for (auto& [resource, kind] : objects)
    std::erase_if(kind, [](const auto& one) {
      return api::is_deleting(one.second) && one.second["metadata"]["finalizers"].empty();
    });
}

}  // namespace controllers
