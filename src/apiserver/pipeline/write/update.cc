// PUT and PATCH: an existing object changes (or, by apply, comes to be).
#include <algorithm>
#include <iterator>

#include "api/other_versions.h"
#include "api/schema/managed_fields.h"
#include "api/schema/patch.h"
#include "apiserver/kinds/pods/pod_resize.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/workloads/scale.h"
#include "apiserver/pipeline/write/change.h"
#include "apiserver/pipeline/write/invalid_options.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::Result;

namespace {

base::Status check_subresource(const Request& request) {
  for (const char* known : {"", "status", "finalize", "scale", "ephemeralcontainers", "resize", "approval"})
    if (request.subresource == known) return {};
  return base::make_error(Code::kNotFound, "the server could not find the requested resource");
}

base::Status check_place(const Request& request, const Json& object) {
  TRY_VOID(check_identifying_types(object));
  const std::string_view name = api::name_of(object);
  if (!name.empty() && name != request.name)
    return bad_request(
        base::format("the name of the object ({}) does not match the name on the URL ({})", name, request.name));
  const std::string_view ns = api::namespace_of(object);
  if (request.kind->namespaced && !ns.empty() && ns != request.ns)
    return bad_request(base::format("the namespace of the object ({}) does not match the namespace on the request ({})",
                                    ns, request.ns));
  return {};
}

base::Status check_identity(const Request& request, const Json& object) {
  TRY_VOID(check_place(request, object));
  const std::string_view version = object["apiVersion"].as_string();
  const std::string_view kind = object["kind"].as_string();
  if ((!version.empty() && version != request.kind->resource.api_version()) ||
      (!kind.empty() && kind != request.kind->kind))
    return bad_request(
        base::format("the API version in the data ({}, kind {}) does not match the expected API version ({}, kind {})",
                     version, kind, request.kind->resource.api_version(), request.kind->kind));
  return {};
}

// Somebody's manifest may name a namespace where there is none, as for a ClusterRole.
void drop_false_namespace(const api::KindInfo& kind, Json& object) {
  if (!kind.namespaced && object["metadata"].has("namespace")) object.edit("metadata").erase("namespace");
}

void set_type(const api::KindInfo& kind, Json& object) {
  object.set("apiVersion", kind.resource.api_version());
  object.set("kind", kind.kind);
  if (object["metadata"].is_null()) object.set("metadata", Json::object());
  drop_false_namespace(kind, object);
}

// All that an applied configuration of a custom resource's status may own.
Json status_configuration(const Json& sent) {
  Json metadata = Json::object();
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "managedFields"})
    if (const Json* value = sent["metadata"].find(key)) metadata.set(key, *value);
  Json only =
      Json::object({{"apiVersion", sent["apiVersion"]}, {"kind", sent["kind"]}, {"metadata", std::move(metadata)}});
  if (const Json* status = sent.find("status")) only.set("status", *status);
  return only;
}

Result<Json> patched(const Context& context, Request& request, const Json& live) {
  switch (request.patch_type) {
    case PatchType::kJson: return api::apply_json_patch(live, request.body);
    case PatchType::kMerge:
      if (!request.body.is_object()) return bad_request("the merge patch is not an object");
      return api::apply_merge_patch(live, request.body);
    case PatchType::kStrategic:
      if (request.kind->custom)
        return base::make_error(Code::kUnsupportedMediaType,
                                "the body of the request was in an unknown format - accepted media types include: "
                                "application/json-patch+json, "
                                "application/merge-patch+json, application/apply-patch+yaml");
      return api::apply_strategic_patch(*request.kind->schema, live, request.body);
    case PatchType::kApply:
      return api::apply_configuration(
          *request.kind->schema, live, request.body,
          {manager_for(request), request.kind->resource.api_version(), request.subresource, context.now},
          request.force);
  }
  return bad_request("unknown patch type");
}

// The parts of an applied configuration that its subresource may not set are ignored.
base::Status prepare_configuration(Request& request, std::vector<std::string>& warnings) {
  if (request.field_manager.empty())
    return invalid_options("PatchOptions",
                           {{"FieldValueRequired", "Required value: is required for apply patch", "fieldManager"}});
  TRY_VOID(check_identity(request, request.body));
  if (request.body["kind"].as_string().empty() || request.body["apiVersion"].as_string().empty())
    return bad_request("an applied configuration must have apiVersion and kind");
  drop_false_namespace(*request.kind, request.body);
  TRY_VOID(check_fields(request, request.body, warnings));
  if (request.subresource == "resize") {
    request.body = resize_configuration(request.body);
  } else if (request.kind->status_subresource) {
    if (request.subresource == "status" && request.kind->custom) {
      request.body = status_configuration(request.body);
    } else if (request.subresource == "status") {
      Json only = request.body;
      only.erase("spec");
      request.body = std::move(only);
    } else {
      request.body.erase("status");
    }
  }
  return {};
}

// `live`: null if there is none.
base::Status check_uid_of_configuration(const Request& request, const Json& live) {
  const std::string_view uid = api::uid_of(request.body);
  if (uid.empty() || uid == api::uid_of(live)) return {};
  return conflict(*request.kind, request.name,
                  base::format("uid mismatch: the provided object specified uid {}, and {}", uid,
                               live.is_null() ? "no existing object was found"
                                              : base::format("the existing object's uid is {}", api::uid_of(live))));
}

// A scale is written into the object that it is of, and answered as a scale.
Result<Change> finish_scale(const Context& context, Request& request, const Json& live, const Json& scale) {
  TRY_VOID(check_place(request, scale));
  const std::string_view uid = api::uid_of(scale);
  if (!uid.empty() && uid != api::uid_of(live))
    return conflict(
        *request.kind, request.name,
        base::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid, api::uid_of(live)));
  TRY(Json object, with_scale(*request.kind, live, scale));
  const std::string_view version = api::resource_version_of(object);
  if (!version.empty() && version != api::resource_version_of(live))
    return conflict(*request.kind, request.name,
                    "the object has been modified; please apply your changes to the latest version and try again");
  TRY(Change change, finish_update(context, request, live, std::move(object)));
  change.answer = scale_of(*request.kind, change.object);
  change.answer_has_version = true;
  return change;
}

Result<Change> patch_scale(const Context& context, Request& request) {
  if (request.patch_type == PatchType::kApply)
    return base::make_error(Code::kUnsupportedMediaType, "a scale takes JSON, merge and strategic merge patches");
  // A scale has no lists to merge.
  if (request.patch_type == PatchType::kStrategic && !request.kind->custom) request.patch_type = PatchType::kMerge;
  TRY(const store::ObjectPtr stored, live_object(context, request));
  if (!stored) return not_found(*request.kind, request.name);
  const Json live = stored->json();
  TRY(const Json scale, patched(context, request, scale_of(*request.kind, live)));
  return finish_scale(context, request, live, scale);
}

// Kinds of which a PUT says what version it is about.
bool names_its_version(const api::KindInfo& kind) {
  constexpr std::string_view kNaming[] = {"PodDisruptionBudget",
                                          "Lease",
                                          "CSIDriver",
                                          "CSINode",
                                          "CSIStorageCapacity",
                                          "VolumeAttachment",
                                          "CustomResourceDefinition",
                                          "RuntimeClass",
                                          "ValidatingWebhookConfiguration",
                                          "MutatingWebhookConfiguration",
                                          "ValidatingAdmissionPolicy",
                                          "ValidatingAdmissionPolicyBinding",
                                          "MutatingAdmissionPolicy",
                                          "MutatingAdmissionPolicyBinding"};
  return kind.custom || std::ranges::find(kNaming, kind.kind) != std::end(kNaming);
}

// Kinds that a PUT makes where there are none, as on a stock server.
bool is_made_by_put(const api::KindInfo& kind) {
  constexpr std::string_view kMade[] = {"Lease",       "Endpoints",   "Event",   "LimitRange",         "Role",
                                        "ClusterRole", "RoleBinding", "Service", "ClusterRoleBinding", "EndpointSlice"};
  return !kind.custom && std::ranges::find(kMade, kind.kind) != std::end(kMade);
}

// To make something by PUT or PATCH takes the right to create, too.
Result<Change> make_by_write(const Context& context, Request& request, Json object) {
  if (!request.may_create)
    return base::make_error(
        Code::kForbidden,
        base::format("{} \"{}\" is forbidden: User \"{}\" cannot create resource \"{}\" in API group \"{}\"",
                     api::qualified_plural(*request.kind), request.name, request.user.name,
                     request.kind->resource.plural, request.kind->resource.group));
  object.edit("metadata").set("name", request.name);
  request.body = std::move(object);
  return prepare_create(context, request);
}

Result<Change> put_new(const Context& context, Request& request) {
  TRY_VOID(check_identity(request, request.body));
  if (!is_made_by_put(*request.kind) || !request.subresource.empty() || !api::uid_of(request.body).empty())
    return not_found(*request.kind, request.name);
  return make_by_write(context, request, std::move(request.body));
}

}  // namespace

Result<Change> prepare_update(const Context& context, Request& request) {
  TRY_VOID(check_subresource(request));
  TRY(const store::ObjectPtr stored, live_object(context, request));
  if (!stored) return put_new(context, request);
  if (request.subresource == "scale") return finish_scale(context, request, stored->json(), request.body);
  Json object = std::move(request.body);
  TRY_VOID(check_identity(request, object));
  set_type(*request.kind, object);
  const std::string_view version = api::resource_version_of(object);
  if ((version.empty() || version == "0") && names_its_version(*request.kind)) {
    std::vector<base::Cause> causes{
        {"FieldValueInvalid",
         base::format("Invalid value: {}: must be specified for an update", request.kind->custom ? "0x0" : "0"),
         "metadata.resourceVersion"}};
    return invalid(*request.kind, request.name, std::move(causes));
  }
  return finish_update(context, request, stored->json(), std::move(object));
}

Result<Change> prepare_patch(const Context& context, Request& request) {
  if (request.subresource == "scale") return patch_scale(context, request);
  TRY_VOID(check_subresource(request));
  std::vector<std::string> warnings;
  const bool apply = request.patch_type == PatchType::kApply;
  const Json sent = request.body;
  if (apply) TRY_VOID(prepare_configuration(request, warnings));
  TRY(const store::ObjectPtr stored, live_object(context, request));
  if (!stored && (!apply || !request.subresource.empty())) return not_found(*request.kind, request.name);
  const Json live = stored ? stored->json() : Json();
  if (apply) TRY_VOID(check_uid_of_configuration(request, live));
  // A patch of another form of the object is one of what that form shows.
  const api::OtherVersion* other = api::other_version(*request.kind);
  auto result = patched(context, request, other != nullptr ? other->from_stored(live) : live);
  if (result.ok() && other != nullptr) {
    TRY_VOID(check_identity(request, *result));
    *result = other->to_stored(*std::move(result));
    request.kind = other->stored;
  }
  if (!result.ok()) {
    base::Error error = result.take_error();
    // For an invalid object with a name kubectl shows the causes alone, and the reason is in the message.
    if (error.code == Code::kInvalid && error.causes.empty()) return error;
    error.group = request.kind->resource.group;
    error.kind = request.kind->resource.plural;
    error.name = request.name;
    return error;
  }
  Json object = *std::move(result);
  TRY_VOID(check_identity(request, object));
  set_type(*request.kind, object);
  if (apply && manager_for(request) == "kubectl") api::keep_last_applied(sent, object);
  if (apply) request.duplicate_keys.clear();  // told already
  auto change = [&]() -> Result<Change> {
    if (stored) return finish_update(context, request, live, std::move(object));
    return make_by_write(context, request, std::move(object));
  }();
  if (change.ok()) change->warnings.insert(change->warnings.begin(), warnings.begin(), warnings.end());
  return change;
}

}  // namespace apiserver
