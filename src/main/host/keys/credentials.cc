// Files of the CA and of the certificates it signed.
#include "main/host/keys/credentials.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "api/json/yaml.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/log.h"
#include "main/host/keys/key_files.h"
#include "rt/files/files.h"

namespace volcano_main {
namespace {

using base::Code;
using base::make_error;
using base::Result;

constexpr base::Duration kTenYears = base::hours(24 * 3650);
constexpr base::Duration kOneYear = base::hours(24 * 365);
constexpr base::Duration kNearEnd = base::hours(24 * 30);
constexpr std::string_view kNewKeysRequest = "new-keys";

// The facts of the certificate read from `path`.
Result<rt::CertificateFacts> facts_of(const std::string& certificate_pem, const std::string& path) {
  auto facts = rt::certificate_facts(certificate_pem);
  if (!facts.ok()) return base::within(facts.take_error(), path + ".crt");
  return facts;
}

// Nothing: there is no such pair.
Result<std::optional<rt::KeyPair>> read_pair(const std::string& path) {
  TRY(auto certificate, read_key_file(path + ".crt"));
  TRY(auto key, read_key_file(path + ".key"));
  if (!certificate && !key) return std::optional<rt::KeyPair>();
  if (!certificate || !key)
    return make_error(Code::kInvalid, base::format("{0}.{1} is missing, although {0}.{2} is there; put it back, or "
                                                   "remove the other one to have both made anew",
                                                   path, key ? "crt" : "key", key ? "key" : "crt"));
  rt::KeyPair pair{*std::move(certificate), *std::move(key)};
  if (base::Status fits = rt::check_pair(pair); !fits.ok())
    return base::within(fits.take_error(), base::format("{0}.crt and {0}.key", path));
  return std::optional(std::move(pair));
}

base::Status write_pair(const std::string& path, const rt::KeyPair& pair) {
  TRY_VOID(rt::write_file(path + ".key", pair.key_pem, 0600));
  return rt::write_file(path + ".crt", pair.certificate_pem, 0600);
}

base::Status write_renewed(const std::string& path, const rt::KeyPair& pair) {
  TRY(const rt::CertificateFacts facts, rt::certificate_facts(pair.certificate_pem));
  TRY_VOID(rt::write_file(path + ".crt", pair.certificate_pem, 0600));
  base::log_info("keys", base::format("{}.crt is renewed, until {}", path, base::format_rfc3339(facts.not_after)));
  return {};
}

bool near_end(const rt::CertificateFacts& facts, base::Time now) {
  return now < facts.not_before || facts.not_after - now < kNearEnd;
}

Result<rt::KeyPair> load_ca(const std::string& path, base::Time now, Occasion occasion) {
  TRY(auto present, read_pair(path));
  if (!present) {
    TRY(rt::KeyPair made, rt::make_ca("volcano-ca", now, kTenYears));
    TRY_VOID(write_pair(path, made));
    return made;
  }
  TRY(const rt::CertificateFacts facts, facts_of(present->certificate_pem, path));
  if (!facts.ca) return make_error(Code::kInvalid, path + ".crt is not the certificate of a CA");
  if (occasion == Occasion::kRunning || !near_end(facts, now)) return *std::move(present);
  TRY(rt::KeyPair renewed, rt::make_ca("volcano-ca", now, kTenYears, present->key_pem));
  TRY_VOID(write_renewed(path, renewed));
  return renewed;
}

bool is_part(const std::vector<std::string>& wanted, const std::vector<std::string>& present) {
  return std::ranges::all_of(
      wanted, [&present](const std::string& one) { return std::ranges::find(present, one) != present.end(); });
}

bool covers(const rt::CertificateFacts& facts, const rt::CertificateSubject& subject) {
  return is_part(subject.dns_names, facts.dns_names) && is_part(subject.ip_addresses, facts.ip_addresses);
}

// Whom a client's certificate lets in is its subject. Somebody else's is neither used nor renewed: its key is in other
// hands, and it may be the only copy.
base::Status check_whose(const rt::CertificateFacts& facts, const rt::CertificateSubject& subject,
                         const std::string& path) {
  if (subject.server ||
      (facts.common_name == subject.common_name && is_part(subject.organizations, facts.organizations)))
    return {};
  const auto listed = [](const std::vector<std::string>& groups) {
    std::string out;
    for (const std::string& group : groups) out += base::format("{}{:?}", out.empty() ? "" : ", ", group);
    return out.empty() ? std::string("no group") : out;
  };
  return make_error(
      Code::kInvalid,
      base::format("{0}.crt is the certificate of {1:?} in {2}, not that of {3:?} in {4}; put the right one back, or "
                   "remove {0}.crt and {0}.key to have both made anew",
                   path, facts.common_name, listed(facts.organizations), subject.common_name,
                   listed(subject.organizations)));
}

// A certificate that the CA has signed for `subject`.
Result<rt::KeyPair> load_issued(const std::string& path, const rt::KeyPair& ca, const rt::CertificateSubject& subject,
                                base::Time now, base::Duration valid_for) {
  TRY(auto present, read_pair(path));
  if (!present) {
    TRY(rt::KeyPair made, rt::issue_certificate(ca, subject, now, valid_for));
    TRY_VOID(write_pair(path, made));
    return made;
  }
  if (base::Status fits = rt::check_signed_by(present->certificate_pem, ca.certificate_pem); !fits.ok())
    return base::within(fits.take_error(), path + ".crt");
  TRY(const rt::CertificateFacts facts, facts_of(present->certificate_pem, path));
  TRY_VOID(check_whose(facts, subject, path));
  auto key_pem = rt::traditional_key_pem(present->key_pem);
  if (!key_pem.ok()) return base::within(key_pem.take_error(), path + ".key");
  present->key_pem = *std::move(key_pem);
  if (!near_end(facts, now) && covers(facts, subject)) return *std::move(present);
  TRY(rt::KeyPair renewed, rt::issue_certificate(ca, subject, now, valid_for, present->key_pem));
  TRY(const rt::CertificateFacts better, rt::certificate_facts(renewed.certificate_pem));
  // Near the end of its CA a certificate cannot be made to last longer.
  if (covers(facts, subject) && facts.not_before <= now && better.not_after <= facts.not_after)
    return *std::move(present);
  TRY_VOID(write_renewed(path, renewed));
  return renewed;
}

Result<std::string> load_token(const std::string& path, Occasion occasion) {
  TRY(auto present, read_key_file(path));
  if (!present && occasion == Occasion::kRunning) return std::string();  // of use to the next start
  if (!present) {
    if (occasion == Occasion::kStart)
      base::log_warning("keys", base::format("{} was missing and is made anew: whoever signs in with the old "
                                             "administrator's token is refused from now on",
                                             path));
    std::string made = rt::secure_token(32);
    TRY_VOID(rt::write_file(path, made, 0600));
    return made;
  }
  std::string token = *std::move(present);
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  for (const char c : token)
    if (c <= ' ' || c > '~')
      return make_error(Code::kInvalid, path + ": a token is one word of printable ASCII characters");
  return token;
}

// Whether a CA may be made, or is there already.
base::Status check_authority(const std::string& folder, Occasion occasion) {
  TRY(const auto ca, read_pair(folder + "/ca"));
  if (ca) {
    if (occasion == Occasion::kNewKeys)
      base::log_warning(
          "keys", base::format("{} has its CA, which stays although a file {} is there", folder, kNewKeysRequest));
    return {};
  }
  const std::string missing = base::format("{0}/ca.crt and {0}/ca.key are missing", folder);
  if (occasion == Occasion::kRunning)
    return make_error(Code::kNotFound, missing + "; put them back: this server goes on with the certificates it has");
  if (occasion == Occasion::kStart)
    return make_error(
        Code::kNotFound,
        base::format("{}, although there are objects: under a new CA every certificate and kubeconfig of this "
                     "cluster's users would be refused; nothing was changed. Put the keys back (a backup made with "
                     "--keys has them). To have new ones made all the same, create the empty file {} and start again",
                     missing, (std::filesystem::path(folder).parent_path() / kNewKeysRequest).string()));
  for (const char* issued : {"server", "admin"}) {
    TRY(const auto present, read_pair(folder + "/" + issued));
    if (present)
      return make_error(Code::kInvalid,
                        base::format("{0}, although {1}/{2}.crt is there; put them back, or remove {1}/{2}.crt and "
                                     "{1}/{2}.key, too, to have all made anew",
                                     missing, folder, issued));
  }
  if (occasion == Occasion::kNewKeys)
    base::log_warning("keys", base::format("a new CA is made, as the file {} wishes: certificates and kubeconfigs from "
                                           "before are refused from now on",
                                           kNewKeysRequest));
  return {};
}

// All of it, in a folder that may be partly there.
Result<Credentials> load(const std::string& folder, base::Time now, const ServerNames& names, Occasion occasion) {
  TRY_VOID(check_authority(folder, occasion));
  for (const char* issued : {"server", "admin"}) TRY_VOID(read_pair(folder + "/" + issued));
  TRY(const rt::KeyPair ca, load_ca(folder + "/ca", now, occasion));
  Credentials credentials;
  credentials.ca_pem = ca.certificate_pem;
  rt::CertificateSubject server;
  server.common_name = "volcano-apiserver";
  server.dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                      "kubernetes.default.svc.cluster.local"};
  server.dns_names.insert(server.dns_names.end(), names.dns_names.begin(), names.dns_names.end());
  server.ip_addresses = {"127.0.0.1", "::1"};
  for (const std::string& address : names.ip_addresses)
    if (const auto usual = rt::usual_ip(address)) server.ip_addresses.push_back(*usual);
  server.server = true;
  TRY(credentials.server, load_issued(folder + "/server", ca, server, now, kOneYear));
  rt::CertificateSubject admin;
  admin.common_name = "volcano-admin";
  admin.organizations = {"system:masters"};
  TRY(credentials.admin, load_issued(folder + "/admin", ca, admin, now, kTenYears));
  TRY(credentials.token, load_token(folder + "/token", occasion));
  return credentials;
}

}  // namespace

Result<Occasion> occasion_of_start(const rt::KvStore& objects, const std::string& data) {
  bool has_objects = false;
  TRY_VOID(objects.scan("o", "p", [&has_objects](std::string_view, std::string_view) {
    has_objects = true;
    return false;
  }));
  if (!has_objects) return Occasion::kFirstStart;
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(data) / kNewKeysRequest, ignored) ? Occasion::kNewKeys
                                                                                         : Occasion::kStart;
}

base::Status request_for_new_keys(const std::string& data) {
  return rt::write_file((std::filesystem::path(data) / kNewKeysRequest).string(), "", 0600);
}

base::Status forget_request_for_new_keys(const std::string& data) {
  const std::filesystem::path request = std::filesystem::path(data) / kNewKeysRequest;
  std::error_code error;
  std::filesystem::remove(request, error);
  if (!error) return {};
  return make_error(Code::kUnavailable, base::format("cannot remove {}: {}", request.string(), error.message()));
}

Result<Credentials> load_or_make_credentials(const std::string& folder, base::Time now, const ServerNames& names,
                                             Occasion occasion) {
  std::error_code error;
  const bool there = std::filesystem::exists(folder, error) && !std::filesystem::is_empty(folder, error);
  if (error) return make_error(Code::kUnavailable, base::format("cannot look into {}: {}", folder, error.message()));
  const bool may_make_all = occasion == Occasion::kFirstStart || occasion == Occasion::kNewKeys;
  if (there || !may_make_all) return load(folder, now, names, occasion);
  // The first set appears as a whole: a start that is killed leaves no half of it.
  const std::string stage = folder + ".new";
  TRY_VOID(rt::remove_tree(stage));
  TRY_VOID(rt::make_folders(stage, 0700));
  TRY(Credentials made, load(stage, now, names, occasion));
  std::filesystem::rename(stage, folder, error);
  if (error) return make_error(Code::kUnavailable, base::format("cannot make {}: {}", folder, error.message()));
  return made;
}

Result<rt::KeyPair> load_authority(const std::string& folder, const std::vector<Witness>& witnesses) {
  TRY(auto pair, read_pair(folder + "/ca"));
  if (!pair) return make_error(Code::kNotFound, base::format("{0}/ca.crt and {0}/ca.key are not there", folder));
  for (const Witness& witness : witnesses)
    if (base::Status fits = rt::check_signed_by(witness.certificate_pem, pair->certificate_pem); !fits.ok())
      return make_error(Code::kInvalid,
                        base::format("{0}/ca.crt is not the CA of {1} ({2}): it was exchanged, and what it signs would "
                                     "be refused by a server that runs. Put {0}/ca.crt and {0}/ca.key back, or, if the "
                                     "new keys are meant, start volcano up again",
                                     folder, witness.whose, fits.error().message));
  return *std::move(pair);
}

std::string kubeconfig_text(const KubeconfigFacts& facts) {
  using api::Json;
  const auto data = [](const std::string& pem) { return Json(base::base64_encode(pem)); };
  Json context = Json::object({{"cluster", "volcano"}, {"user", facts.user}});
  if (!facts.ns.empty()) context.set("namespace", facts.ns);
  const Json config = Json::object(
      {{"apiVersion", "v1"},
       {"kind", "Config"},
       {"current-context", "volcano"},
       {"clusters",
        Json::array({Json::object({{"name", "volcano"},
                                   {"cluster", Json::object({{"server", facts.server},
                                                             {"certificate-authority-data", data(facts.ca_pem)}})}})})},
       {"users",
        Json::array({Json::object({{"name", facts.user},
                                   {"user", Json::object({{"client-certificate-data", data(facts.keys.certificate_pem)},
                                                          {"client-key-data", data(facts.keys.key_pem)}})}})})},
       {"contexts", Json::array({Json::object({{"name", "volcano"}, {"context", std::move(context)}})})}});
  return api::to_yaml(config);
}

Result<std::shared_ptr<const apiserver::AccountTokens>> load_or_make_account_tokens(const std::string& folder,
                                                                                    Occasion occasion) {
  const std::string path = folder + "/sa.key";
  TRY(auto pem, read_key_file(path));
  if (!pem) {
    if (occasion != Occasion::kFirstStart)
      base::log_warning("keys", base::format("{} was missing and is made anew: tokens of service accounts from before, "
                                             "also those of running pods, are refused from now on",
                                             path));
    TRY(pem, rt::TokenKey::new_pem());
    TRY_VOID(rt::write_file(path, *pem, 0600));
  }
  auto key = rt::TokenKey::load(*pem);
  if (!key.ok()) return base::within(key.take_error(), path);
  return std::make_shared<const apiserver::AccountTokens>(*std::move(key));
}

std::string kubeconfig_text(const Credentials& credentials, const std::string& server_url) {
  return kubeconfig_text({"volcano-admin", credentials.admin, credentials.ca_pem, server_url});
}

base::Status check_replaceable(const std::string& present, const std::string& path) {
  const auto config = api::parse_yaml(present);
  if (!config.ok()) return {};  // nobody can use it
  for (const char* list : {"clusters", "contexts"})
    for (const api::Json& one : (*config)[list].items())
      if (one["name"].as_string() != "volcano")
        return base::make_error(
            base::Code::kInvalid,
            base::format("{} is left as it is, since it holds other clusters ({}): name another file with --kubeconfig",
                         path, one["name"].as_string()));
  return {};
}

KeyRenewal::KeyRenewal(rt::Env& env, std::function<base::Status()> renew)
    : env_(env), renew_(std::move(renew)), steps_(env, [this] { try_it(); }) {
  tomorrow();
}

void KeyRenewal::try_it() {
  if (const base::Status renewed = renew_(); !renewed.ok())
    base::log_error("keys", base::format("the keys cannot be renewed: {}", renewed.error().message));
}

void KeyRenewal::tomorrow() {
  timer_ = env_.loop().after(base::hours(24), [this] {
    try_it();
    tomorrow();
  });
}

}  // namespace volcano_main
