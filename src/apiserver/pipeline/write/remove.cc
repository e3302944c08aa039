// DELETE and eviction: grace, preconditions, finalizers, propagation.
#include <algorithm>
#include <iterator>

#include "apiserver/custom/definition.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/workloads/budgets.h"
#include "apiserver/pipeline/write/change.h"
#include "apiserver/pipeline/write/invalid_options.h"
#include "apiserver/pipeline/write/webhook_stage.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Result;

namespace {

// Grace applies to a pod that a node may be running. Others go at once.
std::int64_t grace_seconds_for(const api::KindInfo& kind, const Json& object, const Json& options) {
  if (kind.kind != "Pod" || !kind.resource.group.empty()) return 0;
  const std::string_view phase = object["status"]["phase"].as_string();
  if (object["spec"]["nodeName"].as_string().empty() || phase == "Succeeded" || phase == "Failed") return 0;
  const Json& asked = options["gracePeriodSeconds"];
  const std::int64_t grace =
      asked.is_number() ? asked.as_int() : object["spec"]["terminationGracePeriodSeconds"].as_int(30);
  // Less than nothing would also be less than the zero with which its node lets a pod go.
  return grace < 0 ? 1 : grace;
}

struct Term {
  base::Time end;
  std::int64_t grace = 0;  // seconds
};

// When an object that is deleted goes; nothing: it is going, and this deletion does not make it go sooner.
std::optional<Term> term_for(const Context& context, const api::KindInfo& kind, const Json& object,
                             const Json& options) {
  if (!api::is_deleting(object)) {
    const std::int64_t grace = grace_seconds_for(kind, object, options);
    return Term{context.now + base::seconds(grace), grace};
  }
  const Json& meta = object["metadata"];
  const Json& asked = options["gracePeriodSeconds"];
  const std::int64_t old_grace = meta["deletionGracePeriodSeconds"].as_int();
  const std::int64_t grace = asked.as_int() < 0 ? 1 : asked.as_int();
  if (!asked.is_number() || grace >= old_grace) return {};
  // It counts from the first deletion.
  const base::Time old_end = base::parse_rfc3339(meta["deletionTimestamp"].as_string()).value_or(context.now);
  const base::Time end = old_end - base::seconds(old_grace - grace);
  if (end < context.now) return Term{context.now, std::min<std::int64_t>(grace, 1)};
  return Term{end, grace};
}

void set_finalizer(Json& object, std::string_view finalizer, bool wanted) {
  Json list = Json::array();
  bool present = false;
  for (const Json& item : object["metadata"]["finalizers"].items()) {
    if (item.as_string() == finalizer) {
      present = true;
      if (!wanted) continue;
    }
    list.push_back(item);
  }
  if (wanted && !present) list.push_back(Json(finalizer));
  if (list.empty())
    object.edit("metadata").erase("finalizers");
  else
    object.edit("metadata").set("finalizers", std::move(list));
}

base::Error version_conflict(const Request& request, std::string_view wanted, const Json& object) {
  return conflict(
      *request.kind, request.name,
      base::format("Precondition failed: ResourceVersion in precondition: {}, ResourceVersion in object meta: {}",
                   wanted, api::resource_version_of(object)));
}

base::Status check_preconditions(const Request& request, const Json& object) {
  const Json& wanted = request.body["preconditions"];
  const std::string_view uid = wanted["uid"].as_string();
  const std::string& group = request.kind->resource.group;
  const std::string kind = request.kind->kind + (group.empty() ? "" : "." + group);
  if (!uid.empty() && uid != api::uid_of(object)) {
    base::Error error = base::make_error(
        base::Code::kConflict,
        base::format("Operation cannot be fulfilled on {} \"{}\": the UID in the precondition ({}) does not match the "
                     "UID in record ({}). The object might have been deleted and then recreated",
                     kind, request.name, uid, api::uid_of(object)));
    error.kind = request.kind->kind;
    error.group = group;
    error.name = request.name;
    return error;
  }
  const std::string_view version = wanted["resourceVersion"].as_string();
  if (!version.empty() && version != api::resource_version_of(object))
    return version_conflict(request, version, object);
  return {};
}

// A condition that would hold a deletion back, and is not what it should be: it must not be passed by.
base::Status check_conditions(const Json& options) {
  const Json& kind = options["kind"];
  if (!kind.is_null() && kind.as_string() != "DeleteOptions" && !(kind.is_string() && kind.as_string().empty()))
    return bad_request(base::format("DeleteOptions: kind: must be DeleteOptions, not {}", kind.dump()));
  const Json& dry_run = options["dryRun"];
  if (!dry_run.is_null() && !dry_run.is_array())
    return bad_request(base::format("DeleteOptions: dryRun: must be an array, not {}", dry_run.dump()));
  for (const Json& value : dry_run.items())
    if (value.as_string() != "All")
      return invalid_options(
          "DeleteOptions",
          {{"FieldValueNotSupported", base::format("Unsupported value: {}: supported values: \"All\"", dry_run.dump()),
            "dryRun"}});
  const Json& preconditions = options["preconditions"];
  if (!preconditions.is_null() && !preconditions.is_object())
    return bad_request(base::format("DeleteOptions: preconditions: must be an object, not {}", preconditions.dump()));
  for (const char* field : {"uid", "resourceVersion"})
    if (const Json& value = preconditions[field]; !value.is_null() && !value.is_string())
      return bad_request(
          base::format("DeleteOptions: preconditions.{}: must be a string, not {}", field, value.dump()));
  return {};
}

base::Status check_options(const Request& request) {
  const Json& options = request.body;
  if (options.is_null()) return {};
  if (!options.is_object()) return bad_request("DeleteOptions: the body is not an object");
  TRY_VOID(check_conditions(options));
  const Json& policy = options["propagationPolicy"];
  if (!policy.is_null() && policy.as_string() != "Foreground" && policy.as_string() != "Background" &&
      policy.as_string() != "Orphan")
    return invalid_options("DeleteOptions",
                           {{"FieldValueNotSupported",
                             base::format("Unsupported value: {}: supported values: \"Foreground\", \"Background\", "
                                          "\"Orphan\", \"nil\"",
                                          policy.dump()),
                             "propagationPolicy"}});
  if (!policy.is_null() && options.has("orphanDependents"))
    return invalid_options(
        "DeleteOptions",
        {{"FieldValueInvalid",
          base::format("Invalid value: {}: orphanDependents and deletionPropagation cannot be both set", policy.dump()),
          "propagationPolicy"}});
  const Json& grace = options["gracePeriodSeconds"];
  if (!grace.is_null() && !grace.is_int())
    return bad_request(base::format("DeleteOptions: gracePeriodSeconds: must be an integer, not {}", grace.dump()));
  const Json& orphan = options["orphanDependents"];
  if (!orphan.is_null() && !orphan.is_bool())
    return bad_request(base::format("DeleteOptions: orphanDependents: must be a boolean, not {}", orphan.dump()));
  return {};
}

const Json kNone;

base::Status check_body(const Request& request) {
  if (request.body.is_object() || request.body.is_null()) return {};
  return bad_request("the request body is not an object");
}

// The namespaces that a cluster cannot be without.
base::Status check_protected(const Request& request) {
  const std::string& name = request.name;
  if (request.kind->kind != "Namespace" || (name != "default" && name != "kube-system" && name != "kube-public"))
    return {};
  base::Error error = base::make_error(
      base::Code::kForbidden, base::format("namespaces \"{}\" is forbidden: this namespace may not be deleted", name));
  error.kind = request.kind->resource.plural;
  error.name = name;
  return error;
}

// Kinds whose deletion is answered with the object; that of others with a Status.
bool answers_what_went(const api::KindInfo& kind) {
  constexpr std::string_view kAnswering[] = {"Pod",
                                             "PodTemplate",
                                             "Service",
                                             "ServiceAccount",
                                             "ResourceQuota",
                                             "PersistentVolumeClaim",
                                             "PersistentVolume",
                                             "StorageClass",
                                             "CSIDriver",
                                             "DeviceClass",
                                             "ResourceClaim",
                                             "ResourceSlice",
                                             "ResourceClaimTemplate"};
  return !kind.custom && std::ranges::find(kAnswering, kind.kind) != std::end(kAnswering);
}

}  // namespace

Result<Change> prepare_delete(const Context& context, Request& request) {
  const api::KindInfo& kind = *request.kind;
  TRY_VOID(check_options(request));
  for (const Json& value : request.body["dryRun"].items())
    if (value.as_string() == "All") request.dry_run = true;
  TRY(const store::ObjectPtr stored, live_object(context, request));
  if (!stored) return not_found(kind, request.name);
  TRY_VOID(check_protected(request));
  const Json before = stored->json();
  TRY_VOID(check_preconditions(request, before));
  Change change;
  TRY_VOID(run_mutating_webhooks({context, request, api::Operation::kDelete, before, change.warnings}, Json()));
  TRY_VOID(run_validating(context, request, api::Operation::kDelete, Json(), before, change.warnings));

  Json object = before;
  const std::string_view policy = request.body["propagationPolicy"].as_string();
  const Json& orphan = request.body["orphanDependents"];
  const bool explicit_policy = !policy.empty() || orphan.is_bool();
  if (explicit_policy) {
    set_finalizer(object, "foregroundDeletion", policy == "Foreground");
    set_finalizer(object, "orphan", policy == "Orphan" || orphan.as_bool());
  }
  const std::optional<Term> term = term_for(context, kind, before, request.body);
  Json& meta = object.edit("metadata");
  const bool deleting = api::is_deleting(before);
  if (term) {
    meta.set("deletionTimestamp", base::format_rfc3339(term->end));
    if (kind.kind != "Namespace") meta.set("deletionGracePeriodSeconds", term->grace);  // it goes when it is empty
    if (kind.has_generation && !deleting) meta.set("generation", meta["generation"].as_int() + 1);
  }
  if (is_definition(kind) && !deleting) begin_definition_deletion(object, context.now);
  if (kind.kind == "Namespace") object.edit("status").set("phase", "Terminating");
  if (may_go(object)) {
    change.action = Change::Action::kErase;
    change.object = before;
    if (!answers_what_went(kind)) change.answer = success_status(kind, request.name, api::uid_of(before));
    return change;
  }
  change.action = object == before ? Change::Action::kNone : Change::Action::kPut;
  change.object = std::move(object);
  return change;
}

// POST pods/x/eviction: a delete with the options inside, if the pod's budget allows it.
Result<Change> prepare_eviction(const Context& context, Request& request) {
  const store::ObjectPtr stored = context.objects.stored(request.resource, request.ns, request.name);
  if (!stored) return not_found(*request.kind, request.name);
  const std::string_view kind = request.body["kind"].as_string();
  if (!kind.empty() && kind != "Eviction")
    return bad_request(base::format("pods/eviction takes an Eviction, not a {}", kind));
  std::vector<std::string> warnings;
  TRY_VOID(check_body(request));
  TRY(request.body, run_mutating_webhooks({context, request, api::Operation::kCreate, kNone, warnings}, request.body));
  TRY_VOID(run_validating(context, request, api::Operation::kCreate, request.body, Json(), warnings));
  TRY(std::optional<Json> budget, spend_budget(context, stored->json()));
  request.body = request.body["deleteOptions"];
  request.subresource.clear();
  Context of_delete = context;
  of_delete.webhooks = nullptr;  // they were asked about the eviction
  TRY(Change change, prepare_delete(of_delete, request));
  if (budget) {
    static const api::KindInfo& budgets = *api::find_kind(api::resources::kPodDisruptionBudgets);
    change.also.emplace_back(static_cast<std::uint32_t>(&budgets - api::all_kinds().data()), *std::move(budget));
  }
  change.status = 201;
  change.warnings.insert(change.warnings.begin(), warnings.begin(), warnings.end());
  change.answer = Json::object(
      {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}, {"status", "Success"}, {"code", 201}});
  return change;
}

// POST pods/x/binding: the scheduler's decision.
Result<Change> prepare_binding(const Context& context, Request& request) {
  const store::ObjectPtr stored = context.objects.stored(request.resource, request.ns, request.name);
  if (!stored) return not_found(*request.kind, request.name);
  const Json before = stored->json();
  Change change;
  TRY_VOID(check_body(request));
  TRY(request.body,
      run_mutating_webhooks({context, request, api::Operation::kCreate, kNone, change.warnings}, request.body));
  const Json& target = request.body["target"];
  const std::string node = target["name"].str();
  if (!target["kind"].is_null() && target["kind"].as_string() != "Node" && !target["kind"].as_string().empty())
    return bad_request(base::format("target.kind: Unsupported value: {}: supported values: \"Node\", \"<empty>\"",
                                    target["kind"].dump()));
  if (node.empty()) return bad_request("target.name: Required value");
  for (const Json::Member& annotation : request.body["metadata"]["annotations"].members())
    if (!annotation.value.is_string())
      return bad_request(base::format("metadata.annotations.{}: must be a string", annotation.name()));
  const std::string_view uid = api::uid_of(request.body);
  if (!uid.empty() && uid != api::uid_of(before))
    return conflict(
        *request.kind, request.name,
        base::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid, api::uid_of(before)));
  const std::string_view version = api::resource_version_of(request.body);
  if (!version.empty() && version != api::resource_version_of(before))
    return version_conflict(request, version, before);
  if (api::is_deleting(before))
    return conflict(*request.kind, request.name,
                    base::format("pod {} is being deleted, cannot be assigned to a host", request.name));
  const std::string_view assigned = before["spec"]["nodeName"].as_string();
  if (!assigned.empty())
    return conflict(*request.kind, request.name,
                    base::format("pod {} is already assigned to node \"{}\"", request.name, assigned));
  if (!before["spec"]["schedulingGates"].empty())
    return conflict(*request.kind, request.name,
                    base::format("pod {} has non-empty .spec.schedulingGates", request.name));
  TRY_VOID(run_validating(context, request, api::Operation::kCreate, request.body, Json(), change.warnings));
  Json object = before;
  object.edit("spec").set("nodeName", node);
  for (const Json::Member& annotation : request.body["metadata"]["annotations"].members())
    object.edit_path({"metadata", "annotations"}).set(annotation.name(), annotation.value);
  Json conditions = Json::array();
  for (const Json& condition : object["status"]["conditions"].items())
    if (condition["type"].as_string() != "PodScheduled") conditions.push_back(condition);
  conditions.push_back(Json::object({{"type", "PodScheduled"},
                                     {"status", "True"},
                                     {"lastProbeTime", Json()},
                                     {"lastTransitionTime", base::format_rfc3339(context.now)}}));
  object.edit("status").set("conditions", std::move(conditions));
  canonicalize(*request.kind, object);
  change.action = Change::Action::kPut;
  change.object = std::move(object);
  change.status = 201;
  change.answer = Json::object(
      {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}, {"status", "Success"}, {"code", 201}});
  return change;
}

}  // namespace apiserver
