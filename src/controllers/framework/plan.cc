// How a plan is put together and how it reads as text.
#include "controllers/framework/plan.h"

#include "base/format.h"

namespace controllers {

using api::Json;

namespace {

std::string_view word(Action::Verb verb) {
  switch (verb) {
    case Action::Verb::kCreate: return "create";
    case Action::Verb::kUpdate: return "update";
    case Action::Verb::kPatch: return "patch";
    case Action::Verb::kDelete: return "delete";
    case Action::Verb::kStatus: return "status";
    case Action::Verb::kApplyStatus: return "apply-status";
    case Action::Verb::kEvent: return "event";
    case Action::Verb::kRequireGone: return "require-gone";
    case Action::Verb::kRemoveTree: return "remove-tree";
    case Action::Verb::kDeleteAll: return "delete-all";
    case Action::Verb::kFetch: return "fetch";
    case Action::Verb::kProbe: return "probe";
  }
  return "";
}

std::string line(const Action& action) {
  std::string text = base::format("{} {} {}{}{}", word(action.verb), action.kind, action.ns,
                                  action.ns.empty() ? "" : "/", action.name);
  if (action.verb == Action::Verb::kEvent)
    text += base::format(" {} {}: {}", action.event_type, action.event_reason, action.event_message);
  if (action.verb == Action::Verb::kProbe)
    text += base::format("{}:{}{}", action.probe.host, action.probe.port, action.probe.path);
  if (action.verb == Action::Verb::kStatus) text += " " + action.body["status"].sorted().dump();
  if (action.verb == Action::Verb::kPatch || action.verb == Action::Verb::kApplyStatus)
    text += " " + action.body.sorted().dump();
  return text + "\n";
}

}  // namespace

void Plan::begin_stage(std::string failure_reason, std::string failure_text) {
  stages_.push_back({.failure_reason = std::move(failure_reason), .failure_text = std::move(failure_text)});
}

Action& Plan::add(Action::Verb verb, const api::ResourceId& resource, const Json& object) {
  Action action;
  action.verb = verb;
  action.resource = resource;
  action.kind = std::string(api::kind_of(object));
  action.ns = std::string(api::namespace_of(object));
  action.name = std::string(api::name_of(object));
  stages_.back().actions.push_back(std::move(action));
  return stages_.back().actions.back();
}

Action& Plan::create(const api::ResourceId& resource, Json object) {
  Action& action = add(Action::Verb::kCreate, resource, object);
  action.body = std::move(object);
  return action;
}

Action& Plan::update(const api::ResourceId& resource, Json object) {
  Action& action = add(Action::Verb::kUpdate, resource, object);
  action.body = std::move(object);
  return action;
}

Action& Plan::patch(const api::ResourceId& resource, const Json& object, client::PatchType type, Json patch) {
  Action& action = add(Action::Verb::kPatch, resource, object);
  action.patch_type = type;
  action.body = std::move(patch);
  return action;
}

Action& Plan::remove(const api::ResourceId& resource, const Json& object) {
  Action& action = add(Action::Verb::kDelete, resource, object);
  action.missing_is_fine = true;
  action.body = Json::object({{"apiVersion", "v1"},
                              {"kind", "DeleteOptions"},
                              {"preconditions", Json::object({{"uid", api::uid_of(object)}})}});
  return action;
}

Action& Plan::remove_by_name(const api::ResourceId& resource, std::string_view kind, std::string_view ns,
                             std::string_view name) {
  Action& action = add(Action::Verb::kDelete, resource, Json());
  action.kind = std::string(kind);
  action.ns = std::string(ns);
  action.name = std::string(name);
  action.missing_is_fine = true;
  return action;
}

Action& Plan::remove_all(const api::ResourceId& resource, std::string_view kind, std::string_view ns) {
  Action& action = remove_by_name(resource, kind, ns, "");
  action.verb = Action::Verb::kDeleteAll;
  return action;
}

Action& Plan::set_status(const api::ResourceId& resource, Json object) {
  Action& action = add(Action::Verb::kStatus, resource, object);
  action.urgency = client::Urgency::kPhase;
  action.body = std::move(object);
  return action;
}

Action& Plan::apply_status(const api::ResourceId& resource, const Json& object, Json status,
                           std::string field_manager) {
  Action& action = add(Action::Verb::kApplyStatus, resource, object);
  action.urgency = client::Urgency::kPhase;
  action.field_manager = std::move(field_manager);
  Json metadata = Json::object({{"name", api::name_of(object)}});
  if (!action.ns.empty()) metadata.set("namespace", action.ns);
  action.body = Json::object({{"apiVersion", object["apiVersion"]},
                              {"kind", object["kind"]},
                              {"metadata", std::move(metadata)},
                              {"status", std::move(status)}});
  return action;
}

Action& Plan::require_gone(const api::ResourceId& resource, std::string_view kind, std::string_view ns,
                           std::string_view name, std::string_view uid) {
  Action& action = remove_by_name(resource, kind, ns, name);
  action.verb = Action::Verb::kRequireGone;
  action.body = Json(uid);
  return action;
}

Action& Plan::fetch(const api::ResourceId& resource, std::string_view kind, std::string_view ns,
                    std::string_view name) {
  Action& action = remove_by_name(resource, kind, ns, name);
  action.verb = Action::Verb::kFetch;
  return action;
}

Action& Plan::ask(Probe probe) {
  Action& action = add(Action::Verb::kProbe, {}, Json());
  action.kind = "address";
  action.probe = std::move(probe);
  return action;
}

Action& Plan::remove_tree(std::string path) {
  Action& action = add(Action::Verb::kRemoveTree, {}, Json());
  action.name = std::move(path);
  return action;
}

void Plan::event(const Json& object, std::string_view type, std::string_view reason, std::string message) {
  Action& action = add(Action::Verb::kEvent, {}, object);
  action.body = object;
  action.event_type = std::string(type);
  action.event_reason = std::string(reason);
  action.event_message = std::move(message);
}

void Plan::requeue_after(base::Duration delay) {
  if (!look_again_ || delay < *look_again_) look_again_ = delay;
}

std::string Plan::text() const {
  std::string text;
  bool first = true;
  for (const Stage& stage : stages_) {
    if (stage.actions.empty()) continue;
    if (!first) text += "--\n";
    first = false;
    for (const Action& action : stage.actions) text += line(action);
  }
  if (failure_) text += "fail " + failure_->message + "\n";
  return text;
}

bool writes_status(const Plan& plan) {
  for (const Stage& stage : plan.stages())
    for (const Action& action : stage.actions)
      if (action.verb == Action::Verb::kStatus || action.verb == Action::Verb::kApplyStatus) return true;
  return false;
}

bool writes_nothing(const Plan& plan) {
  for (const Stage& stage : plan.stages())
    for (const Action& action : stage.actions)
      if (action.verb != Action::Verb::kEvent && action.verb != Action::Verb::kFetch &&
          action.verb != Action::Verb::kProbe)
        return false;
  return true;
}

}  // namespace controllers
