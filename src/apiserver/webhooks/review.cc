// Reviews as text; answers checked as a stock server checks them.
#include "apiserver/webhooks/review.h"

#include <algorithm>

#include "api/json/problems.h"
#include "base/base64.h"
#include "base/format.h"

namespace apiserver {

using api::AdmissionRequest;
using api::Json;
using api::policies::Webhook;

namespace {

constexpr std::size_t kWarningsMax = 64, kWarningBytesMax = 4096;
constexpr std::size_t kAuditAnnotationsMax = 64, kAuditAnnotationBytesMax = std::size_t{10} << 10;

std::string_view word(api::Operation operation) {
  switch (operation) {
    case api::Operation::kCreate: return "CREATE";
    case api::Operation::kUpdate: return "UPDATE";
    case api::Operation::kDelete: return "DELETE";
    case api::Operation::kConnect: return "CONNECT";
  }
  return "";
}

Json named(const api::ResourceId& id, const char* last) {
  return Json::object({{"group", id.group}, {"version", id.version}, {last, id.plural}});
}

Json user_json(const AdmissionRequest& request, const ReviewFacts& facts) {
  Json user = Json::object({{"username", request.user}});
  if (!facts.uid.empty()) user.set("uid", facts.uid);
  Json groups = Json::array();
  for (const std::string& group : request.groups) groups.push_back(group);
  if (!groups.empty()) user.set("groups", std::move(groups));
  Json extra = Json::object();
  for (const auto& [key, value] : facts.extra) {
    Json& values = extra.edit(key);
    if (!values.is_array()) values = Json::array();
    values.push_back(value);
  }
  if (!extra.empty()) user.set("extra", std::move(extra));
  return user;
}

std::string wanted_kind(const std::string& version) {
  return base::format("admission.k8s.io/{}, Kind=AdmissionReview", version);
}

// Empty: patch and its type fit together.
std::string patch_problem(const Webhook& webhook, const Json& response) {
  const bool has_patch = !response["patch"].as_string().empty();
  const Json& type = response["patchType"];
  if (!webhook.mutating) {
    if (has_patch) return "validating webhook may not return response.patch";
    return type.is_null() ? "" : "validating webhook may not return response.patchType";
  }
  if (has_patch && type.is_null()) return "webhook returned response.patch but not response.patchType";
  if (!has_patch && !type.is_null()) return "webhook returned response.patchType but not response.patch";
  if (!type.is_null() && type.as_string().empty())
    return base::format("webhook returned invalid response.patchType of {}", type.dump());
  return "";
}

// Empty: the answer is one to the review. v1beta1 was never looked at as closely.
std::string envelope_problem(const Webhook& webhook, const std::string& uid, const Json& review) {
  const Json& response = review["response"];
  if (!response.is_object()) return "webhook response was absent";
  if (webhook.review_version != "v1") return "";
  if (response["uid"].as_string() != uid)
    return base::format("expected response.uid={:?}, got {}", uid, api::shortened(Json(response["uid"].str()).dump()));
  const std::string kind = base::format("{}, Kind={}", review["apiVersion"].as_string(), review["kind"].as_string());
  if (kind != wanted_kind("v1"))
    return base::format("expected webhook response of {}, got {}", wanted_kind("v1"), api::shortened(kind));
  return patch_problem(webhook, response);
}

Verdict failed(std::string why) { return {.failure = std::move(why)}; }

// The types of what is read; another type anywhere is no AdmissionReview.
std::string type_problem(const Json& response) {
  const auto wrong = [&](const char* field, const char* type) {
    return base::format("json: cannot unmarshal {} into field response.{} of type {}",
                        api::shortened(response[field].dump()), field, type);
  };
  if (!response.is_object()) return "";
  if (const Json& v = response["allowed"]; !v.is_null() && !v.is_bool()) return wrong("allowed", "bool");
  for (const char* field : {"uid", "patch", "patchType"})
    if (const Json& v = response[field]; !v.is_null() && !v.is_string()) return wrong(field, "string");
  if (const Json& v = response["status"]; !v.is_null() && !v.is_object()) return wrong("status", "v1.Status");
  if (const Json& v = response["warnings"]; !v.is_null() && !v.is_array()) return wrong("warnings", "[]string");
  if (const Json& v = response["auditAnnotations"]; !v.is_null() && !v.is_object())
    return wrong("auditAnnotations", "map[string]string");
  return "";
}

void read_patch(const Webhook& webhook, const Json& response, Verdict& out) {
  const std::string_view text = response["patch"].as_string();
  if (!webhook.mutating || text.empty()) return;
  if (const std::string_view type = response["patchType"].as_string();
      webhook.review_version == "v1" && type != "JSONPatch") {
    out.failure = base::format("unsupported patch type {:?}", type);
    return;
  }
  const auto bytes = base::base64_decode(text);
  auto patch = bytes.ok() ? api::parse_json(*bytes) : base::Result<Json>(bytes.error());
  if (!patch.ok() || !(patch->is_array() || patch->is_null())) {
    out.failure = base::format("received invalid webhook response: the patch is not a list of operations{}{}",
                               patch.ok() ? "" : ": ", patch.ok() ? "" : patch.error().message);
    return;
  }
  if (!patch->empty()) out.patch = *std::move(patch);
}

}  // namespace

std::string review_tail(const AdmissionRequest& request, const ReviewFacts& facts) {
  Json out = Json::object();
  out.set("kind", named(facts.kind, "kind"));
  out.set("resource", named(request.resource, "resource"));
  if (!request.subresource.empty()) out.set("subResource", request.subresource);
  out.set("requestKind", named(facts.asked, "kind"));
  out.set("requestResource", named({request.resource.group, facts.asked_version, request.resource.plural}, "resource"));
  if (!request.subresource.empty()) out.set("requestSubResource", request.subresource);
  if (!request.name.empty()) out.set("name", request.name);
  if (!request.ns.empty()) out.set("namespace", request.ns);
  out.set("operation", word(request.operation));
  out.set("userInfo", user_json(request, facts));
  out.set("object", request.object);
  out.set("oldObject", request.old_object);
  out.set("dryRun", request.dry_run);
  out.set("options", facts.options);
  return out.dump().substr(1);
}

std::string review_text(const std::string& version, const std::string& uid, const std::string& tail) {
  std::string out = base::format(
      R"({{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/{}","request":{{"uid":"{}",)", version, uid);
  out.reserve(out.size() + tail.size() + 1);
  out += tail;
  out += '}';
  return out;
}

Verdict read_verdict(const Webhook& webhook, const std::string& uid, std::string_view answer) {
  auto review = api::parse_json(answer);
  if (!review.ok())
    return failed(base::format("failed to call webhook: couldn't get version/kind; json parse error: {}",
                               review.error().message));
  if (!review->is_object())
    return failed("failed to call webhook: couldn't get version/kind; json parse error: the answer is not an object");
  const Json& response = (*review)["response"];
  if (const std::string why = type_problem(response); !why.empty()) return failed("failed to call webhook: " + why);
  if (const std::string why = envelope_problem(webhook, uid, *review); !why.empty())
    return failed("received invalid webhook response: " + why);
  Verdict out;
  out.allowed = response["allowed"].as_bool();
  for (const Json& warning : response["warnings"].items())
    if (out.warnings.size() < kWarningsMax && !warning.as_string().empty())
      out.warnings.push_back(api::shortened(warning.as_string(), kWarningBytesMax));
  for (const Json::Member& audit_annotation : response["auditAnnotations"].members())
    if (out.audit_annotations.size() < kAuditAnnotationsMax)
      out.audit_annotations.emplace_back(webhook.name + "/" + api::shortened(audit_annotation.name()),
                                         api::shortened(audit_annotation.value.as_string(), kAuditAnnotationBytesMax));
  if (!out.allowed)
    out.status = refusal_status(webhook, response["status"]);
  else
    read_patch(webhook, response, out);
  return out;
}

Json refusal_status(const Webhook& webhook, const Json& given) {
  const std::string by = base::format("admission webhook {:?} denied the request", webhook.name);
  const std::int64_t code = given["code"].as_int();
  const std::string_view message = given["message"].as_string(), reason = given["reason"].as_string();
  Json out =
      Json::object({{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}, {"status", "Failure"}});
  out.set("message", api::shortened(!message.empty()  ? base::format("{}: {}", by, message)
                                    : !reason.empty() ? base::format("{}: {}", by, reason)
                                                      : base::format("{} without explanation", by),
                                    std::size_t{16} << 10));
  if (!reason.empty()) out.set("reason", reason);
  if (given["details"].is_object()) out.set("details", given["details"]);
  out.set("code", code >= 400 && code <= 599 ? code : 400);
  return out;
}

}  // namespace apiserver
