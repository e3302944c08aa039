// POST: a new object.
#include "api/schema/managed_fields.h"
#include "apiserver/custom/definition.h"
#include "apiserver/kinds/pods/limit_ranges.h"
#include "apiserver/kinds/signing_requests.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/pipeline/write/change.h"
#include "base/format.h"
#include "base/utf8.h"

namespace apiserver {

using api::Json;
using base::Result;

namespace {

// True for kinds whose status only its own requests write. Nodes bring theirs.
bool has_status_apart(const api::KindInfo& kind) { return kind.status_subresource && kind.kind != "Node"; }

constexpr std::string_view kNameAlphabet = "bcdfghjklmnpqrstvwxz2456789";  // as Kubernetes' generated names

base::Status check_type(const Request& request, Json& object) {
  const api::KindInfo& kind = *request.kind;
  TRY_VOID(check_identifying_types(object));
  const std::string version = kind.resource.api_version();
  if (object["apiVersion"].is_null()) object.set("apiVersion", version);
  if (object["kind"].is_null()) object.set("kind", kind.kind);
  if (object["apiVersion"].as_string() != version || object["kind"].as_string() != kind.kind)
    return bad_request(
        base::format("the API version in the data ({}, kind {}) does not match the expected API version ({}, kind {})",
                     object["apiVersion"].as_string(), object["kind"].as_string(), version, kind.kind));
  if (object["metadata"].is_null()) object.set("metadata", Json::object());
  return {};
}

// Few are: most texts need not be read.
bool is_deleting(const store::Object& object) {
  return object.bytes.find("\"deletionTimestamp\"") != std::string::npos && api::is_deleting(object.json());
}

base::Status check_namespace(const Context& context, const Request& request, Json& object) {
  Json& meta = object.edit("metadata");
  if (!request.kind->namespaced) {
    meta.erase("namespace");
    return {};
  }
  const std::string_view sent = meta["namespace"].as_string();
  if (!sent.empty() && sent != request.ns)
    return bad_request(base::format(
        "the namespace of the provided object does not match the namespace sent on the request ({} and {})", sent,
        request.ns));
  if (request.ns.empty()) return bad_request("an empty namespace may not be set during creation");
  meta.set("namespace", request.ns);
  static const api::KindInfo& namespaces = *api::find_kind(api::resources::kNamespaces);
  static const auto namespaces_index = static_cast<std::uint32_t>(&namespaces - api::all_kinds().data());
  const store::ObjectPtr found = context.objects.stored(namespaces_index, "", request.ns);
  if (!found) return not_found(namespaces, request.ns);
  if (is_deleting(*found)) {
    base::Error error = base::make_error(
        base::Code::kForbidden,
        base::format(
            "{} \"{}\" is forbidden: unable to create new content in namespace {} because it is being terminated",
            api::qualified_plural(*request.kind), meta["name"].as_string(), request.ns));
    error.causes.push_back(
        {"NamespaceTerminating", base::format("namespace {} is being terminated", request.ns), "metadata.namespace"});
    error.kind = request.kind->resource.plural;
    error.group = request.kind->resource.group;
    error.name = meta["name"].as_string();
    return error;
  }
  return {};
}

// Thrown anew while it is taken, as often as on a stock server.
std::string generated_name(const Context& context, const Request& request, std::string_view prefix) {
  constexpr int kThrows = 8;
  std::string name;
  for (int i = 0; i < kThrows; ++i) {
    name = std::string(prefix) + context.random.text(5, kNameAlphabet);
    if (!context.objects.stored(request.resource, request.kind->namespaced ? request.ns : "", name)) break;
  }
  return name;
}

void set_server_metadata(const Context& context, const Request& request, Json& object) {
  const api::KindInfo& kind = *request.kind;
  Json& meta = object.edit("metadata");
  for (const char* key :
       {"resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"})
    meta.erase(key);
  if (meta["name"].as_string().empty() && !meta["generateName"].as_string().empty()) {
    const std::string prefix(generated_prefix(meta));
    meta.set("name", generated_name(context, request, prefix));
  }
  meta.set("uid", context.random.uuid());
  meta.set("creationTimestamp", base::format_rfc3339(context.now));
  if (kind.has_generation) meta.set("generation", 1);
  if (has_status_apart(kind)) object.erase("status");
}

// The author of an object owns what they said and what is filled in for it, not what admission adds and the server
// allots.
Json fields_of_author(const Context& context, const Request& request, Json object) {
  const api::KindInfo& kind = *request.kind;
  object.edit("metadata").erase("managedFields");
  if (has_status_apart(kind)) object.erase("status");
  api::record_update(*kind.schema, Json(), object,
                     {manager_for(request), kind.resource.api_version(), "", context.now});
  return object["metadata"]["managedFields"];
}

}  // namespace

std::string_view generated_prefix(const Json& metadata) {
  constexpr std::size_t kBytesMax = 58;
  return base::utf8_prefix(metadata["generateName"].as_string(), kBytesMax);
}

Result<Change> prepare_create(const Context& context, Request& request) {
  const api::KindInfo& kind = *request.kind;
  Json object = std::move(request.body);
  Change change;
  TRY_VOID(check_type(request, object));
  TRY_VOID(check_fields(request, object, change.warnings));
  TRY_VOID(check_size(object));
  TRY_VOID(check_namespace(context, request, object));
  Json managed = object["metadata"]["managedFields"];  // by apply
  set_server_metadata(context, request, object);
  normalize(kind, object);
  TRY_VOID(check_size(object));
  const std::vector<Json> limits =
      has_limits(kind) ? limit_ranges_of(context.objects, request.ns) : std::vector<Json>();
  if (kind.resource == api::resources::kPods && !limits.empty()) {
    annotate_limit_ranges(apply_limit_ranges(limits, object), object);
    TRY_VOID(check_size(object));
  }
  const bool by_apply = request.verb == Verb::kPatch;  // apply of an object that does not exist yet
  if (!by_apply) managed = fields_of_author(context, request, object);
  TRY_VOID(run_mutating(context, request, api::Operation::kCreate, object, Json(), change.warnings));
  if (has_status_apart(kind)) object.erase("status");
  normalize(kind, object);
  if (custom_kind(kind) == nullptr) canonicalize(kind, object);
  std::vector<base::Cause> causes;
  if (is_signing_request(kind))
    fill_signing_request({request.user.name, request.user.uid, request.user.groups, request.user.extra}, object);
  if (!kind.custom) TRY_VOID(prepare_core_create(context, kind, object, causes));
  if (is_definition(kind)) object.erase("status");
  check_object(context, kind, object, Json(), causes);
  check_metadata(kind, object, causes);
  if (!kind.custom) check_core_create(kind, object, causes);
  if (!causes.empty()) return invalid(kind, api::name_of(object), std::move(causes));
  request.name = api::name_of(object);
  if (is_signing_request(kind))
    if (auto why = refused_subject(object))
      return base::make_error(base::Code::kForbidden, base::format("{} \"{}\" is forbidden: {}",
                                                                   api::qualified_plural(kind), request.name, *why));
  TRY_VOID(check_limits(limits, kind, object));
  set_status(context, request, object);
  TRY_VOID(run_validating(context, request, api::Operation::kCreate, object, Json(), change.warnings));
  if (context.objects.stored(request.resource, request.kind->namespaced ? request.ns : "", request.name))
    return already_exists(kind, request.name);
  if (!managed.is_null()) object.edit("metadata").set("managedFields", std::move(managed));
  TRY_VOID(check_size(object));  // what is known of its owners counts
  change.action = Change::Action::kPut;
  change.object = std::move(object);
  change.status = 201;
  return change;
}

}  // namespace apiserver
