// The shared steps of all writes: field checks, defaults, admission, the last steps of an update.
#include "apiserver/pipeline/write/change.h"

#include <set>

#include "api/json/json_bulk.h"
#include "api/json/limits.h"
#include "api/schema/managed_fields.h"
#include "api/schema/unwritten.h"
#include "apiserver/custom/served_kinds.h"
#include "apiserver/kinds/pods/limit_ranges.h"
#include "apiserver/kinds/pods/pod_security_labels.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/pipeline/rights/reviews.h"
#include "apiserver/pipeline/write/policy_book.h"
#include "apiserver/pipeline/write/webhook_stage.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::make_error;
using base::Result;

Result<store::ObjectPtr> live_object(const Context& context, const Request& request) {
  const store::ObjectPtr stored = context.objects.stored(request.resource, request.ns, request.name);
  if (!request.conversion || !stored) return read_as(*request.kind, stored);
  TRY(const Json converted, ask_conversion(context, *custom_kind(*request.kind), stored->json()));
  auto made = std::make_shared<store::Object>(*stored);
  made->bytes = converted.dump();
  return store::ObjectPtr(std::move(made));
}

base::Status check_fields(Request& request, Json& object, std::vector<std::string>& warnings) {
  std::vector<std::string> problems;
  for (const std::string& path : request.duplicate_keys)
    problems.push_back(base::format("duplicate field \"{}\"", path));
  std::vector<std::string> removed;
  prune_object(*request.kind, object, &removed);
  for (const std::string& path : removed) problems.push_back(base::format("unknown field \"{}\"", path));
  if (problems.empty() || request.field_validation == FieldValidation::kIgnore) return {};
  if (request.field_validation == FieldValidation::kWarn) {
    for (std::string& problem : problems) warnings.push_back(std::move(problem));
    return {};
  }
  std::string all;
  for (const std::string& problem : problems) all += (all.empty() ? "" : ", ") + problem;
  return bad_request(base::format("{} in version \"{}\" cannot be handled as a {}: strict decoding error: {}",
                                  request.kind->kind, request.kind->resource.version, request.kind->kind, all));
}

base::Status check_size(const Json& object) {
  constexpr std::size_t kMeasuredMax =
      api::kObjectBytesMax + api::kObjectBytesMax / 16;  // it measures a little too much
  if (api::extent_within(object, {.bytes = kMeasuredMax})) return {};
  return make_error(Code::kTooLarge, base::format("Request entity too large: limit is {}", api::kObjectBytesMax));
}

base::Status check_identifying_types(const Json& object) {
  if (!object.is_object()) return bad_request("the request body is not an object");
  const Json& metadata = object["metadata"];
  if (!metadata.is_null() && !metadata.is_object()) return bad_request("metadata: must be an object");
  const auto check = [](const Json& in, std::string_view path, std::string_view key) -> base::Status {
    const Json& value = in[key];
    if (value.is_null() || value.is_string()) return {};
    return bad_request(base::format("{}{}: must be a string, not {}", path, key, value.dump()));
  };
  for (const char* key : {"apiVersion", "kind"}) TRY_VOID(check(object, "", key));
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "generateName"})
    TRY_VOID(check(metadata, "metadata.", key));
  return {};
}

void normalize(const api::KindInfo& kind, Json& object) {
  prune_object(kind, object, nullptr);
  if (!kind.custom)
    api::drop_unwritten(*kind.schema, object, api::Empties::kKept);  // "" gets the default, as none does
  fill_object(kind, object);
  if (!kind.custom) apply_core_defaults(kind, object);
  if (is_definition(kind)) fill_definition(object);
  // A member that a patch has emptied is not there any more, as on a stock server.
  for (const auto& [key, is_map] : {std::pair{"annotations", true}, std::pair{"finalizers", false},
                                    std::pair{"labels", true}, std::pair{"ownerReferences", false}})
    if (const Json* value = object["metadata"].find(key);
        value && value->size() == 0 && (is_map ? value->is_object() : value->is_array()))
      object.edit("metadata").erase(key);
}

void check_object(const Context& context, const api::KindInfo& kind, const Json& object, const Json& before,
                  std::vector<base::Cause>& causes) {
  const std::uint64_t cost_max = context.on_loop ? kLoopBudget : api::cel::kRulesCostMax;
  if (!validate_object(kind, object, before, cost_max, causes) && context.on_loop) context.budget->exhausted = true;
  if (is_definition(kind) && causes.empty()) check_definition(object, before, causes);
}

void set_status(const Context& context, const Request& request, Json& object) {
  if (!is_definition(*request.kind)) return;
  static const ServedKinds kNone;
  set_definition_status(object, (request.kinds ? *request.kinds : kNone).definitions(), context.now);
}

api::AdmissionRequest review_for(const Context& context, const Request& request, api::Operation operation,
                                 const Json& object, const Json& old_object) {
  api::AdmissionRequest review;
  review.operation = operation;
  review.resource = request.kind->resource;
  review.kind = request.kind->kind;
  review.subresource = request.subresource;
  review.ns = request.ns;
  review.name = request.name.empty() ? std::string(api::name_of(object)) : request.name;
  review.object = object;
  review.old_object = old_object;
  review.user = request.user.name;
  review.groups = request.user.groups;
  review.dry_run = request.dry_run;
  if (context.roles) review.access = access_judge(request.user, context.roles);
  return review;
}

namespace {

bool applies(const api::AdmissionHook& hook, const Request& request, api::Operation operation) {
  if (hook.resource != request.kind->resource || !request.subresource.empty()) return false;
  for (const api::Operation o : hook.operations)
    if (o == operation) return true;
  return false;
}

// A webhook's refusal reads as it does on a cluster.
base::Error refusal(const api::AdmissionHook& hook, const Request& request, const std::string& object,
                    const api::AdmissionAnswer& answer) {
  if (hook.path.empty()) {  // what a stock server has built in
    base::Error error = make_error(
        Code::kForbidden,
        base::format("{} \"{}\" is forbidden: {}", api::qualified_plural(*request.kind), object, answer.message));
    error.kind = request.kind->resource.plural;
    error.group = request.kind->resource.group;
    error.name = object;
    return error;
  }
  return make_error(answer.code == Code::kBadRequest ? Code::kDenied : answer.code,
                    base::format("admission webhook \"{}\" denied the request: {}", hook.name, answer.message));
}

// On the loop nobody reads this: the write is decided once more beside it.
base::Status check_budget(const Context& context, const Request& request) {
  if (!context.budget->exhausted) return {};
  base::Error error = make_error(
      Code::kForbidden, base::format("{} \"{}\" is forbidden: validation failed due to running out of cost budget, no "
                                     "further validation rules will be run",
                                     api::qualified_plural(*request.kind), request.name));
  error.group = request.kind->resource.group;
  error.kind = request.kind->resource.plural;
  error.name = request.name;
  return error;
}

}  // namespace

base::Status run_mutating(const Context& context, Request& request, api::Operation operation, Json& object,
                          const Json& old_object, std::vector<std::string>& warnings) {
  const bool judged = context.policies != nullptr && !context.policies->mutating.empty() && !object.is_null();
  const api::AdmissionRequest review =
      judged ? review_for(context, request, operation, object, old_object) : api::AdmissionRequest();
  std::optional<api::policies::Mutator> policies;
  if (judged) {
    policies.emplace(*context.policies, review, context.objects, *context.budget);
    TRY_VOID(policies->run(object));
    TRY_VOID(check_budget(context, request));
  }
  for (const api::AdmissionHook& hook : context.hooks) {
    if (!hook.mutating || !applies(hook, request, operation)) continue;
    api::AdmissionAnswer answer =
        hook.review(review_for(context, request, operation, object, old_object), context.objects);
    for (std::string& warning : answer.warnings) warnings.push_back(std::move(warning));
    if (!answer.allowed) return refusal(hook, request, std::string(api::name_of(object)), answer);
    if (answer.object) object = *std::move(answer.object);
  }
  MutatingWebhooks webhooks({context, request, operation, old_object, warnings});
  TRY_VOID(webhooks.run(object));
  if (judged) {
    TRY_VOID(policies->run_again(object));
    TRY_VOID(check_budget(context, request));
  }
  return webhooks.run_again(object);
}

namespace {

// Values that were there before are not a reason to refuse a change of something else.
base::Status check_security_labels(const Request& request, const Json& object, const Json& old_object) {
  std::vector<base::Cause> causes, before;
  read_security_policy(object["metadata"]["labels"], causes);
  read_security_policy(old_object["metadata"]["labels"], before);
  if (causes.empty() || causes == before) return {};
  return invalid(*request.kind, api::name_of(object), std::move(causes));
}

base::Status check_pod_security(const Context& context, Request& request, api::Operation operation, const Json& object,
                                const Json& old_object, std::vector<std::string>& warnings) {
  if (operation != api::Operation::kCreate && operation != api::Operation::kUpdate) return {};
  if (request.kind->resource == api::resources::kNamespaces && request.subresource.empty())
    return check_security_labels(request, object, old_object);
  SecurityAnswer answer = judge_pods({.operation = operation,
                                      .resource = request.kind->resource,
                                      .subresource = request.subresource,
                                      .ns = request.ns,
                                      .object = object,
                                      .old_object = old_object},
                                     context.objects);
  if (!answer.audit_annotation.empty()) request.audit_annotations.push_back(std::move(answer.audit_annotation));
  for (std::string& warning : answer.warnings) warnings.push_back(std::move(warning));
  if (answer.refusal.empty()) return {};
  base::Error error = make_error(
      Code::kForbidden,
      base::format("{} \"{}\" is forbidden: {}", api::qualified_plural(*request.kind), request.name, answer.refusal));
  error.group = request.kind->resource.group;
  error.kind = request.kind->resource.plural;
  error.name = request.name;
  return error;
}

}  // namespace

base::Status run_validating(const Context& context, Request& request, api::Operation operation, const Json& object,
                            const Json& old_object, std::vector<std::string>& warnings) {
  TRY_VOID(check_pod_security(context, request, operation, object, old_object, warnings));
  if (context.policies != nullptr && !context.policies->validating.empty()) {
    api::policies::Judgement judgement =
        api::policies::validate(*context.policies, review_for(context, request, operation, object, old_object),
                                context.objects, *context.budget);
    TRY_VOID(check_budget(context, request));
    for (std::string& audit_annotation : judgement.audit_annotations)
      request.audit_annotations.push_back(std::move(audit_annotation));
    for (std::string& warning : judgement.warnings) warnings.push_back(std::move(warning));
    if (judgement.refusal) return *std::move(judgement.refusal);
  }
  for (const api::AdmissionHook& hook : context.hooks) {
    if (hook.mutating || !applies(hook, request, operation)) continue;
    api::AdmissionAnswer answer =
        hook.review(review_for(context, request, operation, object, old_object), context.objects);
    for (std::string& warning : answer.warnings) warnings.push_back(std::move(warning));
    if (!answer.allowed)
      return refusal(hook, request,
                     old_object.is_null() ? std::string(api::name_of(object)) : std::string(api::name_of(old_object)),
                     answer);
  }
  return run_validating_webhooks({context, request, operation, old_object, warnings}, object);
}

namespace {

bool is_namespace(const Json& object) {
  return object["kind"].as_string() == "Namespace" && object["apiVersion"].as_string() == "v1";
}

// Only the subresource finalize takes the finalizers out of a namespace's spec.
void keep_namespace_finalizers(const Request& request, const Json& old_object, Json& changed) {
  if (!is_namespace(old_object) || request.subresource == "finalize") return;
  const Json* held = old_object["spec"].find("finalizers");
  const Json& spec = changed["spec"];
  if (held && (spec.is_null() || spec.is_object())) changed.edit("spec").set("finalizers", *held);
}

}  // namespace

std::string manager_for(const Request& request) {
  return !request.field_manager.empty() ? request.field_manager : request.default_manager;
}

bool may_go(const Json& object) {
  if (!api::is_deleting(object)) return false;
  if (!object["metadata"]["finalizers"].empty()) return false;
  // A namespace goes when its contents are gone; its finalizer is in the spec.
  if (is_namespace(object) && !object["spec"]["finalizers"].empty()) return false;
  // A pod that is given grace goes when the node says that its processes are gone (a delete with grace 0).
  return object["metadata"]["deletionGracePeriodSeconds"].as_int() == 0;
}

namespace {

// The parts of metadata that belong to the server.
void keep_server_metadata(const Json& old_object, Json& changed) {
  const Json& old_meta = old_object["metadata"];
  Json& meta = changed.edit("metadata");
  for (const char* key : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                          "deletionGracePeriodSeconds", "generation", "generateName"}) {
    const Json* value = old_meta.find(key);
    if (value)
      meta.set(key, *value);
    else
      meta.erase(key);
  }
  meta.erase("selfLink");
}

bool same_but_bookkeeping(Json a, Json b) {
  for (Json* object : {&a, &b}) {
    Json& meta = object->edit("metadata");
    meta.erase("managedFields");
    meta.erase("resourceVersion");
  }
  return a == b;
}

// The LimitRanges that judge it: claims, and pods that are resized.
std::vector<Json> limits_for_update(const Context& context, const Request& request) {
  const api::ResourceId& resource = request.kind->resource;
  const bool judged = (resource == api::resources::kPersistentVolumeClaims && request.subresource.empty()) ||
                      (resource == api::resources::kPods && request.subresource == "resize");
  return judged ? limit_ranges_of(context.objects, request.ns) : std::vector<Json>();
}

base::Status check_preconditions(const Request& request, const Json& old_object, const Json& changed) {
  const std::string_view name = api::name_of(old_object);
  const std::string_view wanted_version = api::resource_version_of(changed);
  if (!wanted_version.empty() && wanted_version != "0" && wanted_version != api::resource_version_of(old_object))
    return conflict(*request.kind, name,
                    "the object has been modified; please apply your changes to the latest version and try again");
  const std::string_view wanted_uid = api::uid_of(changed);
  if (!wanted_uid.empty() && wanted_uid != api::uid_of(old_object)) {
    if (request.verb == Verb::kPatch)
      return invalid(
          *request.kind, name,
          {{"FieldValueInvalid", base::format("Invalid value: {}: field is immutable", Json(wanted_uid).dump()),
            "metadata.uid"}});
    return conflict(*request.kind, name,
                    base::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", wanted_uid,
                                 api::uid_of(old_object)));
  }
  return {};
}

void check_new_finalizers(const Json& old_object, const Json& changed, std::vector<base::Cause>& causes) {
  if (!api::is_deleting(old_object)) return;
  std::set<std::string> added;
  for (const Json& one : changed["metadata"]["finalizers"].items()) added.insert(one.str());
  for (const Json& one : old_object["metadata"]["finalizers"].items()) added.erase(one.str());
  if (added.empty()) return;
  std::string found;
  for (const std::string& one : added) found += base::format("{}{:?}", found.empty() ? "" : ", ", one);
  causes.push_back({"FieldValueForbidden",
                    base::format("Forbidden: no new finalizers can be added if the object is being deleted, found new "
                                 "finalizers []string{{{}}}",
                                 found),
                    "metadata.finalizers"});
}

}  // namespace

Result<Change> finish_update(const Context& context, Request& request, const Json& old_object, Json changed) {
  const api::KindInfo& kind = *request.kind;
  Change change;
  TRY_VOID(check_preconditions(request, old_object, changed));
  TRY_VOID(check_fields(request, changed, change.warnings));
  TRY_VOID(check_size(changed));
  keep_server_metadata(old_object, changed);
  separate_status(kind, request.subresource, old_object, changed);
  keep_namespace_finalizers(request, old_object, changed);
  normalize(kind, changed);
  TRY_VOID(check_size(changed));
  const std::vector<Json> limits = limits_for_update(context, request);
  if (request.subresource == "resize") apply_limit_ranges(limits, changed);
  const Json managed = changed["metadata"]["managedFields"];
  TRY_VOID(run_mutating(context, request, api::Operation::kUpdate, changed, old_object, change.warnings));
  // A policy must not write what the request could not.
  if (context.policies != nullptr || context.webhooks != nullptr) {
    keep_server_metadata(old_object, changed);
    separate_status(kind, request.subresource, old_object, changed);
    if (!(managed == changed["metadata"]["managedFields"])) {
      changed.edit("metadata").erase("managedFields");
      if (!managed.is_null()) changed.edit("metadata").set("managedFields", managed);
    }
  }
  normalize(kind, changed);
  if (custom_kind(kind) == nullptr) canonicalize(kind, changed);
  std::vector<base::Cause> causes;
  if (!kind.custom) prepare_core_update(context, kind, request.subresource, old_object, changed, causes);
  check_object(context, kind, changed, old_object, causes);
  check_metadata(kind, changed, causes);
  check_new_finalizers(old_object, changed, causes);
  // These rules take the types for granted.
  if (!kind.custom && causes.empty()) check_core_update(kind, request.subresource, old_object, changed, causes);
  if (!causes.empty()) return invalid(kind, api::name_of(old_object), std::move(causes));
  TRY_VOID(check_limits(limits, kind, changed));
  set_status(context, request, changed);
  if (kind.has_generation && generation_parts_differ(kind, old_object, changed))
    changed.edit("metadata").set("generation", old_object["metadata"]["generation"].as_int() + 1);
  TRY_VOID(run_validating(context, request, api::Operation::kUpdate, changed, old_object, change.warnings));

  const bool managed_by_apply = request.verb == Verb::kPatch && request.patch_type == PatchType::kApply;
  const bool same = same_but_bookkeeping(old_object, changed);
  const bool owners_named = managed_by_apply || api::names_owners(old_object, changed);
  if (!managed_by_apply && (!same || owners_named))
    api::record_update(*kind.schema, old_object, changed,
                       {manager_for(request), kind.resource.api_version(), request.subresource, context.now});
  if (same && (!owners_named || changed["metadata"]["managedFields"] == old_object["metadata"]["managedFields"])) {
    change.object = old_object;
    return change;  // a write that changes nothing keeps its revision
  }
  TRY_VOID(check_size(changed));  // what is known of its owners counts
  // A dry run answers with the version that it looked at.
  if (request.dry_run) changed.edit("metadata").set("resourceVersion", api::resource_version_of(old_object));
  change.action = may_go(changed) ? Change::Action::kErase : Change::Action::kPut;
  change.object = std::move(changed);
  return change;
}

}  // namespace apiserver
