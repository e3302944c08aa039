// Rules of certificates.k8s.io/v1.
#include "apiserver/kinds/signing_requests.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "api/json/problems.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "apiserver/kinds/cause_limit.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/rows.h"
#include "base/base64.h"
#include "base/format.h"
#include "rt/tls/certificate_requests.h"

namespace apiserver {

using api::Json;
using base::Cause;

namespace {

constexpr std::int64_t kExpirationSecondsMin = 600;
constexpr std::string_view kUsages[] = {"signing",
                                        "digital signature",
                                        "content commitment",
                                        "key encipherment",
                                        "key agreement",
                                        "data encipherment",
                                        "cert sign",
                                        "crl sign",
                                        "encipher only",
                                        "decipher only",
                                        "any",
                                        "server auth",
                                        "client auth",
                                        "code signing",
                                        "email protection",
                                        "s/mime",
                                        "ipsec end system",
                                        "ipsec tunnel",
                                        "ipsec user",
                                        "timestamping",
                                        "ocsp signing",
                                        "microsoft sgc",
                                        "netscape sgc"};

bool is_decision(const Json& condition) {
  const std::string_view type = condition["type"].as_string();
  return type == "Approved" || type == "Denied";
}

// The conditions of the one that `from_new` chooses, else those of the old one, in the new one's order first.
void merge_conditions(const Json& old_object, Json& object, bool decisions_are_new) {
  Json merged = Json::array();
  for (const Json& one : object["status"]["conditions"].items())
    if (is_decision(one) == decisions_are_new) merged.push_back(one);
  for (const Json& one : old_object["status"]["conditions"].items())
    if (is_decision(one) != decisions_are_new) merged.push_back(one);
  if (merged.empty() && object["status"].is_null()) return;
  if (!object["status"].is_object()) object.set("status", Json::object());
  if (merged.empty())
    object.edit("status").erase("conditions");
  else
    object.edit("status").set("conditions", std::move(merged));
}

bool has_type(const Json& object, std::string_view type) {
  return std::ranges::any_of(object["status"]["conditions"].items(),
                             [&](const Json& one) { return one["type"].as_string() == type; });
}

void check_spec(const Json& spec, api::FieldErrors& errors) {
  const auto pem = base::base64_decode(spec["request"].as_string());
  const auto facts = pem.ok() ? rt::certificate_request_facts(*pem) : base::Result<rt::RequestFacts>(pem.error());
  if (!facts.ok()) errors.invalid("spec.request", spec["request"], facts.error().message);
  const Json& usages = spec["usages"];
  if (usages.empty()) errors.add({"FieldValueRequired", "Required value: usages", "spec.usages"});
  std::size_t at = 0;
  for (const Json& usage : usages.items()) {
    if (errors.is_full()) break;
    const std::string path = base::format("spec.usages[{}]", at++);
    if (std::ranges::find(kUsages, usage.as_string()) == std::end(kUsages))
      errors.add({"FieldValueNotSupported", base::format("Unsupported value: {}", api::shown(usage)), path});
  }
  const std::string_view signer = spec["signerName"].as_string();
  const std::size_t slash = signer.find('/');
  if (signer == "kubernetes.io/legacy-unknown")
    errors.invalid("spec.signerName", spec["signerName"], "the legacy signerName is not allowed via this API version");
  else if (slash == std::string_view::npos || api::check_dns_subdomain(signer.substr(0, slash)).size() > 0 ||
           api::check_dns_subdomain(signer.substr(slash + 1)).size() > 0)
    errors.invalid("spec.signerName", spec["signerName"],
                   "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  if (const Json* seconds = spec.find("expirationSeconds"); seconds && seconds->as_int() < kExpirationSecondsMin)
    errors.invalid("spec.expirationSeconds", *seconds, "may not specify a duration less than 600 seconds (10 minutes)");
}

void check_conditions(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  std::size_t at = 0;
  for (const Json& one : object["status"]["conditions"].items()) {
    const std::string path = base::format("status.conditions[{}]", at++);
    const std::string_view type = one["type"].as_string(), status = one["status"].as_string();
    if (type.empty()) errors.add({"FieldValueRequired", "Required value", path + ".type"});
    if (status.empty()) errors.add({"FieldValueRequired", "Required value", path + ".status"});
    if ((is_decision(one) || type == "Failed") && !status.empty() && status != "True")
      errors.add({"FieldValueNotSupported",
                  base::format("Unsupported value: \"{}\": supported values: \"True\"", status), path + ".status"});
  }
  if (has_type(object, "Approved") && has_type(object, "Denied"))
    errors.invalid("status.conditions", "Denied", "Approved and Denied conditions are mutually exclusive");
  for (const char* type : {"Approved", "Denied", "Failed"})
    if (has_type(old_object, type) && !has_type(object, type))
      errors.add({"FieldValueForbidden",
                  base::format("Forbidden: updates may not remove a condition of type \"{}\"", type),
                  "status.conditions"});
  const Json& before = old_object["status"]["certificate"];
  const Json& now = object["status"]["certificate"];
  if (!before.is_null() && !(before == now))
    errors.add({"FieldValueForbidden", "Forbidden: updates may not set certificate content to a different value",
                "status.certificate"});
  if (before.is_null() && !now.is_null()) {
    const auto pem = base::base64_decode(now.as_string());
    const auto facts = pem.ok() ? rt::certificate_facts(*pem) : base::Result<rt::CertificateFacts>(pem.error());
    if (!facts.ok()) errors.invalid("status.certificate", "<certificate data>", facts.error().message);
  }
}

}  // namespace

bool is_signing_request(const api::KindInfo& kind) { return kind.resource.group == "certificates.k8s.io"; }

void fill_signing_request(const Requestor& user, Json& object) {
  object.erase("status");
  if (!object["spec"].is_object()) return;
  Json& spec = object.edit("spec");
  for (const char* name : {"username", "uid", "groups", "extra"}) spec.erase(name);
  spec.set("username", user.name);
  if (!user.uid.empty()) spec.set("uid", user.uid);
  Json groups = Json::array();
  for (const std::string& group : user.groups) groups.push_back(group);
  if (!groups.empty()) spec.set("groups", std::move(groups));
  Json extra = Json::object();
  for (const auto& [key, value] : user.extra) {
    if (extra[key].is_null()) extra.set(key, Json::array());
    extra.edit(key).push_back(value);
  }
  if (!extra.empty()) spec.set("extra", std::move(extra));
}

void separate_approval(std::string_view subresource, const Json& old_object, Json& object) {
  if (subresource.empty()) {
    if (const Json* status = old_object.find("status"))
      object.set("status", *status);
    else
      object.erase("status");
    if (const Json* spec = old_object.find("spec")) object.set("spec", *spec);
    return;
  }
  const bool approves = subresource == "approval";
  if (!object["status"].is_null() && !object["status"].is_object()) return;  // validation names it
  if (!object["status"]["conditions"].is_null() && !object["status"]["conditions"].is_array()) return;
  const Json given = object["status"];
  const Json metadata = object["metadata"];
  object = old_object;
  object.set("metadata", metadata);
  if (approves) {
    Json status = old_object["status"].is_object() ? old_object["status"] : Json::object();
    if (const Json* conditions = given.find("conditions"))
      status.set("conditions", *conditions);
    else
      status.erase("conditions");
    object.set("status", std::move(status));
  } else if (!given.is_null()) {
    object.set("status", given);
  }
  merge_conditions(old_object, object, approves);
}

void check_signing_request(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  if (old_object.is_null()) return check_spec(object["spec"], errors);
  check_conditions(old_object, object, errors);
}

std::optional<std::string> refused_subject(const Json& object) {
  if (object["spec"]["signerName"].as_string() != "kubernetes.io/kube-apiserver-client") return {};
  const auto pem = base::base64_decode(object["spec"]["request"].as_string());
  if (!pem.ok()) return {};
  const auto facts = rt::certificate_request_facts(*pem);
  if (!facts.ok() || std::ranges::find(facts->organizations, "system:masters") == facts->organizations.end()) return {};
  return "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed";
}

std::optional<SignerAction> signer_action(std::string_view subresource, const Json& old_object, const Json& object) {
  const std::string signer = object["spec"]["signerName"].str();
  if (subresource == "approval") return SignerAction{"approve", signer};
  const bool signs =
      subresource == "status" && !(old_object["status"]["certificate"] == object["status"]["certificate"]);
  if (signs) return SignerAction{"sign", signer};
  return {};
}

namespace {

std::vector<Json> signing_request_cells(const Json& request, base::Time now) {
  const Json& spec = request["spec"];
  std::string state;
  for (const char* type : {"Approved", "Denied", "Failed"})
    for (const Json& condition : request["status"]["conditions"].items())
      if (condition["type"].as_string() == type) state += (state.empty() ? "" : ",") + std::string(type);
  if (state.empty()) state = "Pending";
  if (!request["status"]["certificate"].is_null()) state += ",Issued";
  const Json* seconds = spec.find("expirationSeconds");
  const std::string duration = seconds ? base::format_human_duration(base::seconds(seconds->as_int())) : "<none>";
  return {age_of(request, now), spec["signerName"], spec["username"], Json(duration), Json(state)};
}
constexpr api::Column kColumnsOfSigningRequest[] = {
    {"Age", ""}, {"SignerName", ""}, {"Requestor", ""}, {"RequestedDuration", ""}, {"Condition", ""}};
constexpr std::string_view kSelectableOfSigningRequest[] = {"spec.signerName"};

}  // namespace

const KindRules kCertificateSigningRequest = {
    .kind = "CertificateSigningRequest",
    .judges_subresources = true,
    .check_create = [](const Json& object, api::FieldErrors& errors) { check_signing_request(Json(), object, errors); },
    .check_update = check_signing_request,
    .table = {kColumnsOfSigningRequest, signing_request_cells},
    .selectable = kSelectableOfSigningRequest};

}  // namespace apiserver
