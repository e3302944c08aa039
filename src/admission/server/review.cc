// Reading and answering AdmissionReviews; manifests through the whole of admission.
#include "admission/server/review.h"

#include <algorithm>

#include "admission/rules/names.h"
#include "admission/rules/rules.h"
#include "api/cel/schema_rules.h"
#include "api/kinds.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/random.h"
#include "base/utf8.h"

namespace admission {

namespace {

std::string escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

void add_differences(const Json& before, const Json& after, const std::string& path, Json& patch) {
  if (before.same_as(after) || before == after) return;
  if (!before.is_object() || !after.is_object()) {
    patch.push_back(Json::object({{"op", before.is_null() ? "add" : "replace"}, {"path", path}, {"value", after}}));
    return;
  }
  for (const Json::Member& member : before.members())
    if (!after.has(member.name()))
      patch.push_back(Json::object({{"op", "remove"}, {"path", base::format("{}/{}", path, escaped(member.name()))}}));
  for (const Json::Member& member : after.members()) {
    const std::string below = base::format("{}/{}", path, escaped(member.name()));
    if (const Json* old = before.find(member.name()))
      add_differences(*old, member.value, below, patch);
    else
      patch.push_back(Json::object({{"op", "add"}, {"path", below}, {"value", member.value}}));
  }
}

std::optional<api::Operation> operation_named(std::string_view name) {
  for (const api::Operation one :
       {api::Operation::kCreate, api::Operation::kUpdate, api::Operation::kDelete, api::Operation::kConnect})
    if (word(one) == name) return one;
  return std::nullopt;
}

AdmissionAnswer refuse_invalid(const api::KindInfo& kind, const Json& object, const std::vector<base::Cause>& causes) {
  std::vector<std::string> texts;
  for (const base::Cause& cause : causes) texts.push_back(base::format("{}: {}", cause.field, cause.message));
  AdmissionAnswer answer = refuse(base::format(
      "{}{}{} \"{}\" is invalid: {}", kind.kind, kind.resource.group.empty() ? "" : ".", kind.resource.group,
      api::name_of(object), texts.size() == 1 ? texts.front() : base::format("[{}]", join(texts, ", "))));
  answer.code = base::Code::kInvalid;
  return answer;
}

// The name that a server makes out of metadata.generateName. It follows from the manifest, so that an answer can be
// repeated.
void make_name(const api::KindInfo& kind, Json& object, const ObjectReader& objects) {
  const std::string prefix(object["metadata"]["generateName"].as_string().substr(0, 58));
  if (prefix.empty() || !api::name_of(object).empty()) return;
  std::uint64_t seed = 0;
  for (const char c : object.dump()) seed = seed * 31 + static_cast<unsigned char>(c);
  base::Random dice(seed);
  std::string name;
  do {
    name = prefix + dice.text(5, "bcdfghjklmnpqrstvwxz2456789");
  } while (objects.find(kind.resource, api::namespace_of(object), name));
  object.edit("metadata").set("name", name);
}

void check_metadata_name(const api::KindInfo& kind, const Json& object, std::vector<base::Cause>& causes) {
  const std::string name(api::name_of(object));
  if (name.empty())
    causes.push_back({"FieldValueRequired", "Required value: name or generateName is required", "metadata.name"});
  else if (kind.custom)
    for (const std::string& problem : check_dns_subdomain(name))
      causes.push_back(
          {"FieldValueInvalid", base::format("Invalid value: {}: {}", quoted(name), problem), "metadata.name"});
}

// A kind without a schema here: validation alone looks at it.
ManifestAnswer admit_unserved(const Json& manifest, const std::vector<api::AdmissionHook>& hooks,
                              const ObjectReader& objects) {
  AdmissionAnswer result;
  bool concerned = false;
  for (const api::AdmissionHook& hook : hooks) {
    if (hook.mutating || hook.kind != manifest["kind"].as_string() ||
        base::format("{}/{}", hook.resource.group, hook.resource.version) != manifest["apiVersion"].as_string())
      continue;
    concerned = true;
    AdmissionAnswer answer = hook.review({.operation = api::Operation::kCreate,
                                          .resource = hook.resource,
                                          .kind = hook.kind,
                                          .subresource = {},
                                          .ns = std::string(api::namespace_of(manifest)),
                                          .name = std::string(api::name_of(manifest)),
                                          .object = manifest,
                                          .old_object = {}},
                                         objects);
    if (!answer.allowed) return {std::move(answer), std::string(webhook_name(hook.path))};
  }
  if (!concerned)
    result.warnings.push_back(
        base::format("no rule concerns {} {}", manifest["apiVersion"].as_string(), manifest["kind"].as_string()));
  result.object = manifest;
  return {std::move(result), {}};
}

}  // namespace

Json make_json_patch(const Json& before, const Json& after) {
  Json patch = Json::array();
  add_differences(before, after, "", patch);
  return patch;
}

namespace {

// Reviews of an API server have these shapes. An answer about anything else would be a guess, or could not be read.
base::Status check_request_shape(const Json& given) {
  struct Row {
    std::string_view field;
    bool (Json::*has_shape)() const;
    std::string_view shape;
    bool may_be_absent;
  };
  constexpr std::string_view kText = "a text", kMap = "a map";
  static constexpr Row kRows[] = {
      {"uid", &Json::is_string, kText, false},          {"operation", &Json::is_string, kText, false},
      {"kind", &Json::is_object, kMap, true},           {"resource", &Json::is_object, kMap, true},
      {"subResource", &Json::is_string, kText, true},   {"namespace", &Json::is_string, kText, true},
      {"name", &Json::is_string, kText, true},          {"object", &Json::is_object, kMap, true},
      {"oldObject", &Json::is_object, kMap, true},      {"userInfo", &Json::is_object, kMap, true},
      {"dryRun", &Json::is_bool, "true or false", true}};
  for (const Row& row : kRows) {
    const Json& value = given[row.field];
    if ((value.*row.has_shape)() || (row.may_be_absent && value.is_null())) continue;
    return base::make_error(base::Code::kBadRequest, base::format("request.{} must be {}, not {}", row.field, row.shape,
                                                                  base::utf8_prefix(value.dump(), 100)));
  }
  return {};
}

}  // namespace

base::Result<AdmissionRequest> read_review(const Json& review) {
  if (review["kind"].as_string() != "AdmissionReview" || review["apiVersion"].as_string() != "admission.k8s.io/v1")
    return base::make_error(base::Code::kBadRequest, "the body is not an admission.k8s.io/v1 AdmissionReview");
  const Json& given = review["request"];
  if (!given.is_object()) return base::make_error(base::Code::kBadRequest, "the AdmissionReview holds no request");
  TRY_VOID(check_request_shape(given));
  const auto operation = operation_named(given["operation"].as_string());
  if (!operation)
    return base::make_error(base::Code::kBadRequest,
                            base::format("unknown operation \"{}\"", given["operation"].as_string()));
  AdmissionRequest request;
  request.operation = *operation;
  request.resource = {given["resource"]["group"].str(), given["resource"]["version"].str(),
                      given["resource"]["resource"].str()};
  request.kind = given["kind"]["kind"].str();
  request.subresource = given["subResource"].str();
  request.ns = given["namespace"].str();
  request.name = given["name"].str();
  request.object = given["object"];
  request.old_object = given["oldObject"];
  request.user = given["userInfo"]["username"].str();
  for (const Json& group : given["userInfo"]["groups"].items()) request.groups.push_back(group.str());
  request.dry_run = given["dryRun"].as_bool();
  return request;
}

Json answer_review(const Json& review, const AdmissionRequest& request, const AdmissionAnswer& answer,
                   const std::function<std::string(std::string_view)>& base64) {
  Json response = Json::object({{"uid", review["request"]["uid"]}, {"allowed", answer.allowed}});
  if (!answer.allowed)
    response.set("status", Json::object({{"metadata", Json::object()}, {"message", answer.message}}));
  if (answer.allowed && answer.object && *answer.object != request.object) {
    response.set("patch", base64(make_json_patch(request.object, *answer.object).dump()));
    response.set("patchType", "JSONPatch");
  }
  if (!answer.warnings.empty()) {
    Json warnings = Json::array();
    for (const std::string& warning : answer.warnings) warnings.push_back(warning);
    response.set("warnings", std::move(warnings));
  }
  return Json::object(
      {{"kind", "AdmissionReview"}, {"apiVersion", "admission.k8s.io/v1"}, {"response", std::move(response)}});
}

void ObjectSet::put(const Json& object) {
  const api::KindInfo* kind = api::find_kind_named(object["apiVersion"].as_string(), object["kind"].as_string());
  if (!kind || !object["metadata"].is_object()) return;
  Json stored = object;
  if (kind->namespaced && api::namespace_of(stored).empty()) stored.edit("metadata").set("namespace", "default");
  objects_[{kind->resource, api::key_of(stored)}] = std::move(stored);
}

std::optional<Json> ObjectSet::find(const api::ResourceId& id, std::string_view ns, std::string_view name) const {
  const auto found = objects_.find({id, ns.empty() ? std::string(name) : base::format("{}/{}", ns, name)});
  if (found == objects_.end()) return std::nullopt;
  return found->second;
}

std::vector<Json> ObjectSet::list_by(const api::TextField& field, std::string_view value, bool as_prefix) const {
  std::vector<Json> found;
  for (auto at = objects_.lower_bound({field.resource, ""}); at != objects_.end(); ++at) {
    if (at->first.first != field.resource) break;
    const std::string text = field.of(at->second);
    if (as_prefix ? text.starts_with(value) : text == value) found.push_back(at->second);
  }
  return found;
}

bool applies(const api::AdmissionHook& hook, const AdmissionRequest& request) {
  return hook.resource == request.resource && request.subresource.empty() &&
         std::find(hook.operations.begin(), hook.operations.end(), request.operation) != hook.operations.end();
}

ManifestAnswer admit_manifest(const Json& manifest, const std::vector<api::AdmissionHook>& hooks,
                              const ObjectReader& objects) {
  const api::KindInfo* kind = api::find_kind_named(manifest["apiVersion"].as_string(), manifest["kind"].as_string());
  AdmissionAnswer result;
  if (!kind) return admit_unserved(manifest, hooks, objects);
  if (!manifest["metadata"].is_object()) return {refuse("metadata: Required value"), {}};
  Json object = manifest;
  if (kind->namespaced && api::namespace_of(object).empty()) object.edit("metadata").set("namespace", "default");
  make_name(*kind, object, objects);
  std::vector<std::string> unknown;
  const api::WalkOptions walk{.custom_resource = kind->custom};
  api::prune(*kind->schema, object, walk, &unknown);
  for (const std::string& field : unknown) result.warnings.push_back(base::format("unknown field \"{}\"", field));
  if (kind->status_subresource) object.erase("status");
  api::apply_defaults(*kind->schema, object, walk);
  AdmissionRequest request{.operation = api::Operation::kCreate,
                           .resource = kind->resource,
                           .kind = kind->kind,
                           .subresource = {},
                           .ns = std::string(api::namespace_of(object)),
                           .name = std::string(api::name_of(object))};
  for (const bool mutating : {true, false}) {
    for (const api::AdmissionHook& hook : hooks) {
      if (hook.mutating != mutating || !applies(hook, request)) continue;
      request.object = object;
      AdmissionAnswer answer = hook.review(request, objects);
      result.warnings.insert(result.warnings.end(), answer.warnings.begin(), answer.warnings.end());
      if (!answer.allowed) {
        answer.warnings = std::move(result.warnings);
        return {std::move(answer), std::string(webhook_name(hook.path))};
      }
      if (answer.object) object = *answer.object;
    }
    if (!mutating) break;
    api::apply_defaults(*kind->schema, object, walk);
    std::vector<base::Cause> causes;
    api::validate(*kind->schema, object, walk, causes);
    if (kind->custom) api::cel::check_rules(*kind->schema, object, causes);
    check_metadata_name(*kind, object, causes);
    if (!causes.empty()) {
      AdmissionAnswer answer = refuse_invalid(*kind, object, causes);
      answer.warnings = std::move(result.warnings);
      return {std::move(answer), {}};
    }
  }
  result.object = std::move(object);
  return {std::move(result), {}};
}

}  // namespace admission
