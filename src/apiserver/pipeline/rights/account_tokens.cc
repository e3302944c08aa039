// Claims as Kubernetes writes them, in both directions.
#include "apiserver/pipeline/rights/account_tokens.h"

#include <algorithm>

#include "apiserver/pipeline/rights/secret_tokens.h"
#include "base/base64.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::make_error;
using base::Result;

namespace {

constexpr std::string_view kHeldIssuer = "kubernetes/serviceaccount";  // of tokens that Secrets hold
constexpr std::int64_t kSecondsDefault = 3600, kSecondsMin = 600, kSecondsMax = std::int64_t{1} << 32;
constexpr std::int64_t kSecondsGiven = 365 * 86400;  // the most that is given, whatever is asked
constexpr std::size_t kAudiencesMax = 64;

Result<std::int64_t> seconds_of(const Json& spec) {
  const Json& asked = spec["expirationSeconds"];
  const std::int64_t seconds = asked.is_null() ? kSecondsDefault : asked.as_int(-1);
  const char* why = seconds < kSecondsMin   ? "may not specify a duration less than 10 minutes"
                    : seconds > kSecondsMax ? "may not specify a duration larger than 2^32 seconds"
                                            : nullptr;
  if (why == nullptr) return std::min(seconds, kSecondsGiven);
  base::Error error = make_error(
      Code::kInvalid,
      base::format("TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: {}: {}",
                   asked.dump(), why));
  error.group = "authentication.k8s.io";
  error.kind = "TokenRequest";
  error.causes = {
      {"FieldValueInvalid", base::format("Invalid value: {}: {}", asked.dump(), why), "spec.expirationSeconds"}};
  return error;
}

// The object whose end is the token's end; null: nothing.
Result<Json> bound_to(const Lookups& objects, const Request& request, const Json& reference) {
  if (reference.is_null()) return Json();
  const std::string_view kind = reference["kind"].as_string(), name = reference["name"].as_string();
  if (kind != "Pod" && kind != "Secret")
    return bad_request(
        base::format("cannot bind token to object of type {} {}", reference["apiVersion"].as_string(), kind));
  const auto& id = kind == "Pod" ? api::resources::kPods : api::resources::kSecrets;
  auto found = objects.find(id, request.ns, name);
  if (!found) return not_found(*api::find_kind(id), name);
  if (kind == "Pod" && (*found)["spec"]["serviceAccountName"].as_string() != request.name)
    return bad_request(base::format(
        "cannot bind token for serviceaccount {:?} to pod running with different serviceaccount name.", request.name));
  const std::string_view uid = reference["uid"].as_string();
  if (!uid.empty() && uid != api::uid_of(*found))
    return conflict(*api::find_kind(id), name,
                    base::format("the UID in the bound object reference ({}) does not match the UID in record. The "
                                 "object might have been deleted and then recreated",
                                 uid));
  return Json::object({{"kind", kind}, {"name", name}, {"uid", api::uid_of(*found)}});
}

std::string user_name(std::string_view ns, std::string_view account) {
  return base::format("system:serviceaccount:{}:{}", ns, account);
}

std::string held_claim(std::string_view name) { return base::format("kubernetes.io/serviceaccount/{}", name); }

// The claims of a token that a Secret holds. Its own claims must agree.
Result<TokenClaims> read_held(const Json& json, std::string_view token) {
  TokenClaims claims{json[held_claim("namespace")].str(), json[held_claim("service-account.name")].str(),
                     json[held_claim("service-account.uid")].str()};
  claims.bound_kind = "Secret";
  claims.bound_name = json[held_claim("secret.name")].str();
  claims.held_text = token;
  claims.audiences = {std::string(kTokenIssuer)};
  for (const std::string* part : {&claims.ns, &claims.account, &claims.account_uid, &claims.bound_name})
    if (part->empty()) return make_error(Code::kUnauthorized, "the token lacks a claim");
  if (json["sub"].as_string() != user_name(claims.ns, claims.account))
    return make_error(Code::kUnauthorized, "the token's subject is not its account");
  return claims;
}

Json named(std::string_view name, std::string_view uid) { return Json::object({{"name", name}, {"uid", uid}}); }

}  // namespace

UserInfo TokenClaims::user() const {
  UserInfo user{user_name(ns, account),
                {"system:serviceaccounts", "system:serviceaccounts:" + ns, "system:authenticated"},
                account_uid};
  if (bound_kind == "Pod")
    user.extra = {{"authentication.kubernetes.io/pod-name", bound_name},
                  {"authentication.kubernetes.io/pod-uid", bound_uid}};
  return user;
}

Result<Json> AccountTokens::issue(const Lookups& objects, const Request& request, base::Time now) const {
  const auto account = objects.find(api::resources::kServiceAccounts, request.ns, request.name);
  if (!account) return not_found(*request.kind, request.name);
  const Json& spec = request.body["spec"];
  TRY(const std::int64_t seconds, seconds_of(spec));
  TRY(const Json bound, bound_to(objects, request, spec["boundObjectRef"]));
  Json audiences = Json::array();
  for (const Json& one : spec["audiences"].items())
    if (one.is_string() && audiences.size() < kAudiencesMax) audiences.push_back(one);
  if (audiences.empty()) audiences.push_back(kTokenIssuer);
  const std::int64_t at = now.ns / 1'000'000'000;
  Json about =
      Json::object({{"namespace", request.ns}, {"serviceaccount", named(request.name, api::uid_of(*account))}});
  if (!bound.is_null())
    about.set(bound["kind"].as_string() == "Pod" ? "pod" : "secret",
              named(bound["name"].as_string(), bound["uid"].as_string()));
  const Json payload = Json::object({{"aud", audiences},
                                     {"exp", at + seconds},
                                     {"iat", at},
                                     {"iss", kTokenIssuer},
                                     {"kubernetes.io", std::move(about)},
                                     {"nbf", at},
                                     {"sub", user_name(request.ns, request.name)}});
  TRY(const std::string token, key_->sign(payload.dump()));
  Json answer = Json::object({{"kind", "TokenRequest"}, {"apiVersion", "authentication.k8s.io/v1"}});
  answer.set("metadata", Json::object({{"name", request.name},
                                       {"namespace", request.ns},
                                       {"creationTimestamp", base::format_rfc3339({at * 1'000'000'000})}}));
  Json signed_spec = Json::object({{"audiences", audiences}, {"expirationSeconds", seconds}});
  signed_spec.set("boundObjectRef", spec["boundObjectRef"]);
  answer.set("spec", std::move(signed_spec));
  answer.set("status", Json::object({{"token", token},
                                     {"expirationTimestamp", base::format_rfc3339({(at + seconds) * 1'000'000'000})}}));
  return answer;
}

Result<std::string> AccountTokens::issue_held(std::string_view ns, std::string_view secret, std::string_view account,
                                              std::string_view account_uid) const {
  return key_->sign(Json::object({{"iss", kHeldIssuer},
                                  {held_claim("namespace"), ns},
                                  {held_claim("secret.name"), secret},
                                  {held_claim("service-account.name"), account},
                                  {held_claim("service-account.uid"), account_uid},
                                  {"sub", user_name(ns, account)}})
                        .dump());
}

Result<TokenClaims> AccountTokens::read(std::string_view token, base::Time now) const {
  TRY(const std::string payload, key_->verify(token));
  TRY(const Json json, api::parse_json(payload));
  if (json["iss"].as_string() == kHeldIssuer) return read_held(json, token);
  const std::int64_t at = now.ns / 1'000'000'000;
  if (json["iss"].as_string() != kTokenIssuer || json["exp"].as_int(0) <= at || json["nbf"].as_int(0) > at + 60)
    return make_error(Code::kUnauthorized, "the token has expired");
  const Json& about = json["kubernetes.io"];
  TokenClaims claims{about["namespace"].str(), about["serviceaccount"]["name"].str(),
                     about["serviceaccount"]["uid"].str()};
  for (const auto& [key, kind] : {std::pair{"pod", "Pod"}, {"secret", "Secret"}}) {
    if (!about.has(key)) continue;
    claims.bound_kind = kind;
    claims.bound_name = about[key]["name"].str();
    claims.bound_uid = about[key]["uid"].str();
  }
  for (const Json& one : json["aud"].items()) claims.audiences.push_back(one.str());
  return claims;
}

namespace {

constexpr base::Duration kDeletedLeeway = base::seconds(60);

// Whether the Secret that the token is from is still there, has it, and is of its account, which is still the same one.
// Such a token has no end of its own, so it ends at once with what is deleted.
bool is_held(const TokenClaims& claims, const Lookups& objects) {
  const auto account = objects.find(api::resources::kServiceAccounts, claims.ns, claims.account);
  if (!account || api::uid_of(*account) != claims.account_uid || api::is_deleting(*account)) return false;
  static const auto kSecrets =
      static_cast<std::uint32_t>(api::find_kind(api::resources::kSecrets) - api::all_kinds().data());
  const store::ObjectPtr stored = objects.stored(kSecrets, claims.ns, claims.bound_name);
  if (!stored || stored->bytes.size() > kTokenSecretBytesMax) return false;
  const Json secret = stored->json();
  return !api::is_deleting(secret) && secret["type"].as_string() == kTokenSecretType &&
         api::annotation_of(secret, kTokenSecretAccount) == claims.account &&
         secret["data"]["token"].as_string() == base::base64_encode(claims.held_text);
}

}  // namespace

bool holds(const TokenClaims& claims, const Lookups& objects, base::Time now) {
  if (!claims.held_text.empty()) return is_held(claims, objects);
  const auto is_same = [&](const api::ResourceId& id, const std::string& name, const std::string& uid) {
    const api::KindInfo* kind = api::find_kind(id);
    const auto index = static_cast<std::uint32_t>(kind - api::all_kinds().data());
    const store::ObjectPtr found = objects.stored(index, claims.ns, name);
    if (!found || found->uid != uid) return false;
    // A finalizer may keep what is deleted for as long as it likes.
    const auto deleted = base::parse_rfc3339(found->json()["metadata"]["deletionTimestamp"].as_string());
    return !deleted || now <= *deleted + kDeletedLeeway;
  };
  if (!is_same(api::resources::kServiceAccounts, claims.account, claims.account_uid)) return false;
  if (claims.bound_kind == "Pod") return is_same(api::resources::kPods, claims.bound_name, claims.bound_uid);
  if (claims.bound_kind == "Secret") return is_same(api::resources::kSecrets, claims.bound_name, claims.bound_uid);
  return true;
}

bool is_for_us(const TokenClaims& claims) { return is_for(claims, kTokenIssuer); }

bool is_for(const TokenClaims& claims, std::string_view audience) {
  return !audience.empty() && std::ranges::find(claims.audiences, audience) != claims.audiences.end();
}

}  // namespace apiserver
