// Which keys does the webhook server use?
#include "admission/server/server_keys.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/base64.h"
#include "base/format.h"

namespace admission {
namespace {

using api::Json;

constexpr base::Duration kValidity = base::hours(24 * 3650);
constexpr base::Duration kNearEnd = base::hours(24 * 30);
constexpr base::Duration kLookAtLeast = base::hours(24);
constexpr std::size_t kOldCasMax = 2;
constexpr std::size_t kCommonNameMax = 64;  // of X.509
constexpr std::size_t kPemBytesMax = 1 << 20;

// A month before the end; of short lives the last fifth, so that whoever renews those has had time to.
base::Time renewal_due(const rt::CertificateFacts& facts) {
  const base::Duration life = facts.not_after - facts.not_before;
  return facts.not_after - std::min(kNearEnd, base::Duration{life.ns / 5});
}

base::Result<rt::CertificateFacts> facts_of(const std::string& certificate, std::string_view key) {
  auto facts = rt::certificate_facts(certificate);
  if (!facts.ok()) return base::within(facts.take_error(), key);
  return facts;
}

bool signed_by_one_of(const std::string& certificate, const std::vector<std::string>& others) {
  return std::ranges::any_of(others,
                             [&](const std::string& other) { return rt::check_signed_by(certificate, other).ok(); });
}

// An error: they cannot be used. Otherwise when they have to be renewed, with the reason if that is now.
struct Judgement {
  base::Time due;
  std::string why;
};
base::Result<Judgement> judge(const ServerKeys& keys, const ServiceName& service, base::Time now) {
  const auto wrong = [](std::string text) { return base::make_error(base::Code::kInvalid, std::move(text)); };
  const std::vector<std::string> chain = certificates_of(keys.pair.certificate_pem);
  std::vector<std::string> authorities = certificates_of(keys.ca_pem);
  if (chain.empty()) return wrong("tls.crt holds no certificate");
  if (authorities.empty()) return wrong("ca.crt holds no certificate");
  TRY(const rt::CertificateFacts facts, facts_of(chain.front(), "tls.crt"));
  base::Time authority_ends = facts.not_before;
  for (const std::string& authority : authorities) {
    TRY(const rt::CertificateFacts of_ca, facts_of(authority, "ca.crt"));
    if (signed_by_one_of(chain.back(), {authority}) || authority == chain.back())
      authority_ends = std::max(authority_ends, of_ca.not_after);
  }
  if (base::Status fits = rt::check_pair({chain.front(), keys.pair.key_pem}); !fits.ok())
    return base::within(fits.take_error(), "tls.crt and tls.key");
  if (authority_ends == facts.not_before) return wrong("tls.crt is not signed by a certificate of ca.crt");
  const std::string wanted = service.dns_names().back();
  if (std::ranges::find(facts.dns_names, wanted) == facts.dns_names.end())
    return wrong(base::format("tls.crt is not for {}", wanted));
  const base::Time ends = std::min(facts.not_after, authority_ends);
  if (now < facts.not_before)
    return wrong(base::format("tls.crt counts from {} on only", base::format_rfc3339(facts.not_before)));
  if (ends <= now) return wrong(base::format("tls.crt has ended at {}", base::format_rfc3339(ends)));
  const base::Time due = std::min(renewal_due(facts), ends);
  if (due <= now) return Judgement{due, base::format("tls.crt ends at {}", base::format_rfc3339(ends))};
  return Judgement{due, ""};
}

base::Result<std::string> decoded(const Json& data, std::string_view key) {
  const Json& value = data[key];
  if (!value.is_string() || value.as_string().empty())
    return base::make_error(base::Code::kInvalid, base::format("{} is missing", key));
  if (value.as_string().size() > kPemBytesMax)
    return base::make_error(base::Code::kInvalid, base::format("{} has {} bytes", key, value.as_string().size()));
  auto text = base::base64_decode(value.as_string());
  if (!text.ok()) return base::make_error(base::Code::kInvalid, base::format("{} is not base64", key));
  return *std::move(text);
}

base::Result<ServerKeys> read_keys(const Json& data) {
  ServerKeys keys;
  TRY(keys.ca_pem, decoded(data, "ca.crt"));
  TRY(keys.pair.certificate_pem, decoded(data, "tls.crt"));
  TRY(keys.pair.key_pem, decoded(data, "tls.key"));
  return keys;
}

}  // namespace

std::vector<std::string> ServiceName::dns_names() const {
  return {name, base::format("{}.{}", name, ns), base::format("{}.{}.svc", name, ns)};
}

std::vector<std::string> certificates_of(const std::string& pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----", kEnd = "-----END CERTIFICATE-----";
  std::vector<std::string> out;
  for (std::size_t at = pem.find(kBegin); at != std::string::npos; at = pem.find(kBegin, at + 1)) {
    const std::size_t end = pem.find(kEnd, at);
    if (end == std::string::npos) break;
    out.push_back(pem.substr(at, end + kEnd.size() - at) + "\n");
  }
  return out;
}

std::string bundle_with(const std::string& ca_pem, const std::string& before) {
  std::string bundle = ca_pem;
  if (!bundle.ends_with('\n')) bundle += '\n';
  std::size_t kept = 0;
  for (const std::string& old : certificates_of(before))
    if (kept < kOldCasMax && bundle.find(old) == std::string::npos && rt::certificate_facts(old).ok()) {
      bundle += old;
      ++kept;
    }
  return bundle;
}

FoundKeys look_at_keys(const ServerKeys& keys, const ServiceName& service, base::Time now) {
  auto judged = judge(keys, service, now);
  if (!judged.ok()) return {std::nullopt, judged.error().message, now + kLookAtLeast};
  return {keys, judged->why, std::min(std::max(judged->due, now), now + kLookAtLeast)};
}

FoundKeys look_at_keys(const Json& data, const ServiceName& service, base::Time now) {
  auto keys = read_keys(data);
  if (!keys.ok()) return {std::nullopt, keys.error().message, now + kLookAtLeast};
  return look_at_keys(*keys, service, now);
}

base::Result<ServerKeys> make_server_keys(const ServiceName& service, base::Time now, const std::string& ca_before) {
  const std::vector<std::string> names = service.dns_names();
  const std::string common_name = names.back().substr(0, kCommonNameMax);
  // Not the name of the certificate itself, which would then look as if it had signed itself.
  constexpr std::string_view kSuffix = " CA";
  const std::string ca_name = names.back().substr(0, kCommonNameMax - kSuffix.size()) + std::string(kSuffix);
  TRY(const rt::KeyPair ca, rt::make_ca(ca_name, now, kValidity));
  rt::CertificateSubject subject;
  subject.common_name = common_name;
  subject.dns_names = names;
  subject.server = true;
  ServerKeys keys;
  TRY(keys.pair, rt::issue_certificate(ca, subject, now, kValidity));
  keys.ca_pem = ca.certificate_pem;
  std::size_t kept = 0;
  for (const std::string& old : certificates_of(ca_before)) {
    const auto facts = rt::certificate_facts(old);
    if (keys.ca_pem.find(old) != std::string::npos) continue;
    if (!facts.ok() || facts->not_after <= now || kept++ >= kOldCasMax) continue;
    keys.ca_pem += old;
  }
  return keys;
}

namespace {

Json data_of(const ServerKeys& keys) {
  return Json::object({{"ca.crt", base::base64_encode(keys.ca_pem)},
                       {"tls.crt", base::base64_encode(keys.pair.certificate_pem)},
                       {"tls.key", base::base64_encode(keys.pair.key_pem)}});
}

client::Request write_request(const SecretName& secret, const Json& before, const ServerKeys& keys) {
  client::Request request{.verb = client::Verb::kCreate, .resource = api::resources::kSecrets, .ns = secret.ns};
  if (before.is_null()) {
    request.body = Json::object({{"apiVersion", "v1"},
                                 {"kind", "Secret"},
                                 {"metadata", Json::object({{"name", secret.name}, {"namespace", secret.ns}})},
                                 {"type", "Opaque"},
                                 {"data", data_of(keys)}});
    return request;
  }
  request.verb = client::Verb::kPatch;
  request.name = secret.name;
  request.body = Json::object(
      {{"metadata", Json::object({{"resourceVersion", api::resource_version_of(before)}})}, {"data", data_of(keys)}});
  return request;
}

}  // namespace

base::Result<client::Request> renewal_request(const SecretName& secret, const Json& before, const ServiceName& service,
                                              base::Time now, const std::string& ca_in_use) {
  const auto ca_before = base::base64_decode(before["data"]["ca.crt"].as_string());
  TRY(const ServerKeys keys, make_server_keys(service, now, ca_in_use + (ca_before.ok() ? *ca_before : "")));
  return write_request(secret, before, keys);
}

std::string why_not_ours(const Json& secret) {
  const std::string_view type = secret["type"].as_string();
  if (!type.empty() && type != "Opaque" && type != "kubernetes.io/tls")
    return base::format("is of type {}, and certificates are not put there; name another Secret, or delete this one",
                        type);
  if (secret["immutable"].as_bool()) return "is immutable; delete it, and it is made anew";
  return "";
}

}  // namespace admission
