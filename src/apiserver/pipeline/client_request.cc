// Field by field.
#include "apiserver/pipeline/client_request.h"

namespace apiserver {
namespace {

Verb verb_for(client::Verb verb) {
  switch (verb) {
    case client::Verb::kGet: return Verb::kGet;
    case client::Verb::kList: return Verb::kList;
    case client::Verb::kCreate: return Verb::kCreate;
    case client::Verb::kUpdate: return Verb::kUpdate;
    case client::Verb::kPatch: return Verb::kPatch;
    case client::Verb::kDelete: return Verb::kDelete;
    case client::Verb::kDeleteCollection: return Verb::kDeleteCollection;
  }
  return Verb::kGet;
}

PatchType patch_type_for(client::PatchType type) {
  switch (type) {
    case client::PatchType::kJson: return PatchType::kJson;
    case client::PatchType::kMerge: return PatchType::kMerge;
    case client::PatchType::kStrategic: return PatchType::kStrategic;
    case client::PatchType::kApply: return PatchType::kApply;
  }
  return PatchType::kMerge;
}

base::Result<Request> request_for(const api::ResourceId& id, const ServedKinds& kinds) {
  Request request;
  const ServedKind served = kinds.find(id);
  if (!served)
    return base::make_error(base::Code::kNotFound, "the server could not find the requested resource " + id.plural);
  request.kind = served.kind;
  request.resource = served.resource;
  request.holds_kind = served.custom;
  return request;
}

}  // namespace

base::Result<Request> request_from(client::Request from, const ServedKinds& kinds) {
  TRY(Request request, request_for(from.resource, kinds));
  request.verb = verb_for(from.verb);
  request.ns = std::move(from.ns);
  request.name = std::move(from.name);
  request.subresource = std::move(from.subresource);
  request.body = std::move(from.body);
  request.patch_type = patch_type_for(from.patch_type);
  request.label_selector = std::move(from.label_selector);
  request.field_selector = std::move(from.field_selector);
  request.limit = from.limit;
  request.continue_token = std::move(from.continue_token);
  request.resource_version = std::move(from.resource_version);
  request.field_manager = std::move(from.field_manager);
  request.force = from.force;
  request.dry_run = from.dry_run;
  return request;
}

base::Result<Request> request_from(client::WatchRequest from, const ServedKinds& kinds) {
  TRY(Request request, request_for(from.resource, kinds));
  request.verb = Verb::kWatch;
  request.ns = std::move(from.ns);
  request.label_selector = std::move(from.label_selector);
  request.field_selector = std::move(from.field_selector);
  request.resource_version = std::move(from.resource_version);
  request.bookmarks = from.bookmarks;
  request.send_initial_events = request.resource_version.empty();
  if (request.send_initial_events) request.resource_version_match = "NotOlderThan";
  return request;
}

}  // namespace apiserver
