// Forms in which webhooks are sent objects, and what their answers do.
#include "apiserver/pipeline/write/webhook_stage.h"

#include <algorithm>

#include "api/schema/patch.h"
#include "apiserver/custom/served_kinds.h"
#include "apiserver/kinds/workloads/scale.h"
#include "apiserver/pipeline/write/change.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using api::policies::NamedWebhook;
using api::policies::Webhook;
using base::Status;

namespace {

// This error has no reader: the write is decided once more.
base::Error waits() { return base::make_error(base::Code::kUnavailable, "a webhook has not answered yet"); }

base::Error internal_error(const std::string& why) {
  base::Error error = base::make_error(base::Code::kInternal, "Internal error occurred: " + why);
  error.causes.push_back({"", why, ""});
  return error;
}

// Group, version and kind of what webhooks are sent.
api::ResourceId sent_kind(const Request& request, const std::string& version) {
  if (request.subresource == "scale") return {"autoscaling", "v1", "Scale"};
  if (request.subresource == "binding") return {"", "v1", "Binding"};
  if (request.subresource == "eviction") return {"policy", "v1", "Eviction"};
  return {request.kind->resource.group, version, request.kind->kind};
}

// Null: the version is the request's own.
const CustomKind* other_version(const Request& request, const std::string& version) {
  const api::ResourceId& id = request.kind->resource;
  if (version == id.version || !request.kinds) return nullptr;
  return request.kinds->find(id.group, version, id.plural).custom.get();
}

// Whether versions of the kind are turned into one another by a webhook.
bool by_webhook(const Request& request) {
  const CustomKind* custom = custom_kind(*request.kind);
  return custom != nullptr && custom->converts_by_webhook;
}

std::vector<std::string> other_versions(const Request& request) {
  std::vector<std::string> out;
  if (custom_kind(*request.kind) == nullptr || !request.kinds) return out;
  const api::ResourceId& id = request.kind->resource;
  for (const ServedKind& one : request.kinds->custom()) {
    const api::ResourceId& other = one.kind->resource;
    if (other.group == id.group && other.plural == id.plural && other.version != id.version)
      out.push_back(other.version);
  }
  return out;
}

// Members that are given when an object is stored are not there yet when webhooks may change it.
Json without_server_metadata(Json object) {
  Json& meta = object.edit("metadata");
  for (const char* key : {"uid", "creationTimestamp", "generation"}) meta.erase(key);
  const std::string prefix(generated_prefix(meta));
  const std::string_view name = meta["name"].as_string();
  if (!prefix.empty() && name.starts_with(prefix) && name.size() == prefix.size() + 5) meta.erase("name");
  return object;
}

void restore_server_metadata(const Json& before, Json& object) {
  Json& meta = object.edit("metadata");
  for (const char* key : {"uid", "creationTimestamp", "generation"})
    if (const Json* value = before["metadata"].find(key)) meta.set(key, *value);
  if (meta["name"].as_string().empty()) meta.set("name", before["metadata"]["name"]);
}

bool is_new_object(const WebhookWrite& write) {
  return write.operation == api::Operation::kCreate && write.request.subresource.empty();
}

base::Result<Json> form_of(const WebhookWrite& write, const Json& object, const std::string& version, bool mutating) {
  const Request& request = write.request;
  if (!object.is_object()) return object;
  if (request.subresource == "scale") return scale_of(*request.kind, object);
  Json out = mutating && is_new_object(write) ? without_server_metadata(object) : object;
  if (const CustomKind* other = other_version(request, version))
    return by_webhook(request) ? ask_conversion(write.context, *other, out) : other->convert(std::move(out));
  const api::ResourceId kind = sent_kind(request, version);
  if (out["apiVersion"].as_string().empty()) out.set("apiVersion", kind.api_version());
  if (out["kind"].as_string().empty()) out.set("kind", kind.plural);
  return out;
}

// CreateOptions and their like, as the request gave them.
Json options_of(const WebhookWrite& write) {
  const Request& request = write.request;
  if (write.operation == api::Operation::kDelete) {
    Json out = request.body.is_object() ? request.body : Json::object();
    out.set("kind", "DeleteOptions");
    out.set("apiVersion", "meta.k8s.io/v1");
    return out;
  }
  const bool patches = request.verb == Verb::kPatch;
  const char* kind = patches                                      ? "PatchOptions"
                     : write.operation == api::Operation::kCreate ? "CreateOptions"
                                                                  : "UpdateOptions";
  Json out = Json::object({{"kind", kind}, {"apiVersion", "meta.k8s.io/v1"}});
  if (request.dry_run) out.set("dryRun", Json::array({Json("All")}));
  if (patches && request.force) out.set("force", true);
  if (!request.field_manager.empty()) out.set("fieldManager", request.field_manager);
  constexpr const char* kValidations[] = {"Ignore", "Warn", "Strict"};
  out.set("fieldValidation", kValidations[static_cast<std::size_t>(request.field_validation)]);
  return out;
}

base::Result<api::AdmissionRequest> review_of(const WebhookWrite& write, const Json& object, const std::string& version,
                                              bool mutating) {
  TRY(const Json sent, form_of(write, object, version, mutating));
  TRY(const Json old_sent, form_of(write, write.old_object, version, mutating));
  api::AdmissionRequest review = review_for(write.context, write.request, write.operation, sent, old_sent);
  review.resource.version = version;
  if (mutating && is_new_object(write)) review.name = api::name_of(review.object);
  return review;
}

// The answer, or null: it is waited for, or the webhook is not concerned.
struct Asked {
  bool concerned = false;
  const Verdict* verdict = nullptr;
};

base::Result<Asked> ask(const WebhookWrite& write, const NamedWebhook& named, const Json& object) {
  const Webhook& webhook = *named.webhook;
  const Context& at = write.context;
  TRY(const api::AdmissionRequest review, review_of(write, object, named.version, webhook.mutating));
  TRY(const bool concerned, api::policies::concerns(webhook, review, at.objects, *at.budget));
  if (!concerned) return Asked{};
  if (write.request.dry_run && webhook.has_side_effects)
    return base::make_error(base::Code::kBadRequest,
                            base::format("admission webhook {:?} does not support dry run", webhook.name));
  const Request& request = write.request;
  const ReviewFacts facts{.uid = request.user.uid,
                          .extra = request.user.extra,
                          .options = options_of(write),
                          .kind = sent_kind(request, named.version),
                          .asked = sent_kind(request, request.kind->resource.version),
                          .asked_version = request.kind->resource.version};
  return Asked{true, at.questions->ask(named.webhook, review_tail(review, facts))};
}

// The warnings and notes of an answer; an error where it refuses the write. True: go on with its patch.
base::Result<bool> heed(const WebhookWrite& write, const Webhook& webhook, const Verdict& verdict, std::size_t index) {
  for (const std::string& warning : verdict.warnings) write.warnings.push_back(warning);
  for (const auto& [key, value] : verdict.audit_annotations)
    write.request.audit_annotations.push_back(key + "=" + value);
  if (!verdict.failure.empty()) {
    if (!webhook.ignores_failures)
      return internal_error(base::format("failed calling webhook {:?}: {}", webhook.name, verdict.failure));
    write.request.audit_annotations.push_back(
        base::format("failed-open.{}.webhook.admission.k8s.io/round_0_index_{}={}: {}",
                     webhook.mutating ? "mutating" : "validating", index, webhook.name, verdict.failure));
    return false;
  }
  if (verdict.allowed) return true;
  write.request.refusal = std::make_shared<const Refusal>(Refusal{verdict.status, write.warnings});
  return base::make_error(base::Code::kDenied, verdict.status["message"].str());
}

// No patch makes another object of one.
Status check_identity(const WebhookWrite& write, const Json& before, const Json& object) {
  TRY_VOID(check_identifying_types(object));
  for (const char* key : {"apiVersion", "kind"})
    if (!(object[key] == before[key]))
      return internal_error(
          base::format("a webhook may not change {} from {} to {}", key, before[key].dump(), object[key].dump()));
  const Json &meta = object["metadata"], &old_meta = before["metadata"];
  if (meta["namespace"].as_string() != old_meta["namespace"].as_string())
    return bad_request(base::format(
        "the namespace of the provided object does not match the namespace sent on the request ({} and {})",
        meta["namespace"].as_string(), write.request.ns));
  if (write.operation == api::Operation::kCreate || meta["name"] == old_meta["name"]) return {};
  std::vector<base::Cause> causes{{"FieldValueInvalid",
                                   base::format("Invalid value: {}: field is immutable", meta["name"].dump()),
                                   "metadata.name"}};
  return invalid(*write.request.kind, write.request.name, std::move(causes));
}

}  // namespace

Status MutatingWebhooks::apply(const NamedWebhook& named, const Verdict& verdict, Json& object) {
  if (!verdict.patch) return {};
  const Request& request = write_.request;
  if (object.is_null())
    return internal_error(
        base::format("admission webhook {:?} attempted to modify the object, which is not supported for this operation",
                     named.webhook->name));
  TRY(const Json sent, form_of(write_, object, named.version, true));
  auto patched = api::apply_json_patch(sent, *verdict.patch);
  if (!patched.ok()) return internal_error(patched.error().message);
  TRY_VOID(check_identity(write_, sent, *patched));
  TRY_VOID(check_size(*patched));
  if (request.subresource == "scale") {
    TRY(object, with_scale(*request.kind, object, *patched));
    return {};
  }
  Json changed = *std::move(patched);
  if (other_version(request, named.version) != nullptr) {
    const CustomKind& own = *custom_kind(*request.kind);
    TRY(changed, by_webhook(request) ? ask_conversion(write_.context, own, changed) : own.convert(changed));
  }
  if (is_new_object(write_)) restore_server_metadata(object, changed);
  if (request.subresource != "binding" && request.subresource != "eviction") normalize(*request.kind, changed);
  object = std::move(changed);
  return {};
}

Status MutatingWebhooks::pass(Json& object, bool again) {
  const Context& at = write_.context;
  if (at.webhooks == nullptr || at.questions == nullptr) return {};
  const auto all = at.webhooks->named_by(true, review_for(at, write_.request, write_.operation, Json(), Json()),
                                         other_versions(write_.request));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Webhook* webhook = all[i].webhook.get();
    const auto left =
        std::ranges::find(left_behind_, webhook, &std::pair<const api::policies::Webhook*, api::Json>::first);
    if (again && (left == left_behind_.end() || left->second == object)) continue;
    TRY(const Asked asked, ask(write_, all[i], object));
    if (!asked.concerned) continue;
    if (asked.verdict == nullptr) return waits();
    TRY(const bool goes_on, heed(write_, *webhook, *asked.verdict, i));
    if (goes_on) TRY_VOID(apply(all[i], *asked.verdict, object));
    if (webhook->reinvoked && !again) left_behind_.emplace_back(webhook, object);
  }
  return {};
}

base::Result<Json> ask_conversion(const Context& context, const CustomKind& to, const Json& object) {
  if (object["apiVersion"].as_string() == to.resource.api_version()) return object;
  if (context.questions == nullptr) return waits();
  const base::Result<Json>* converted = context.questions->convert(to, object);
  return converted == nullptr ? waits() : *converted;
}

base::Result<Json> run_mutating_webhooks(const WebhookWrite& write, Json object) {
  MutatingWebhooks webhooks(write);
  TRY_VOID(webhooks.run(object));
  TRY_VOID(webhooks.run_again(object));
  return object;
}

Status run_validating_webhooks(const WebhookWrite& write, const Json& object) {
  const Context& at = write.context;
  if (at.webhooks == nullptr || at.questions == nullptr) return {};
  const auto all = at.webhooks->named_by(
      false, review_for(write.context, write.request, write.operation, Json(), Json()), other_versions(write.request));
  std::vector<std::pair<std::size_t, const Verdict*>> verdicts;
  bool complete = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    TRY(const Asked asked, ask(write, all[i], object));
    if (!asked.concerned) continue;
    complete = complete && asked.verdict != nullptr;
    verdicts.emplace_back(i, asked.verdict);
  }
  if (!complete) return waits();
  for (const auto& [i, verdict] : verdicts) TRY_VOID(heed(write, *all[i].webhook, *verdict, i));
  return {};
}

}  // namespace apiserver
