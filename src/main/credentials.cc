// Files of the CA and of the certificates it signed.
#include "main/credentials.h"

#include "api/yaml.h"
#include "rt/files.h"

namespace volcano_main {
namespace {

using base::Result;

constexpr base::Duration kTenYears = base::hours(24 * 3650);

Result<rt::KeyPair> read_pair(const std::string& path) {
  TRY(std::string certificate, rt::read_file(path + ".crt"));
  TRY(std::string key, rt::read_file(path + ".key"));
  return rt::KeyPair{std::move(certificate), std::move(key)};
}

base::Status write_pair(const std::string& path, const rt::KeyPair& pair) {
  TRY_VOID(rt::write_file(path + ".key", pair.key_pem, 0600));
  return rt::write_file(path + ".crt", pair.certificate_pem, 0600);
}

template <class Make>
Result<rt::KeyPair> read_or_make(const std::string& path, Make make) {
  auto present = read_pair(path);
  if (present.ok() || present.error().code != base::Code::kNotFound) return present;
  TRY(rt::KeyPair made, make());
  TRY_VOID(write_pair(path, made));
  return made;
}

}  // namespace

Result<Credentials> load_or_make_credentials(const std::string& folder, base::Time now) {
  TRY_VOID(rt::make_folders(folder, 0700));
  TRY(const rt::KeyPair ca, read_or_make(folder + "/ca", [&] { return rt::make_ca("volcano-ca", now, kTenYears); }));
  Credentials credentials;
  credentials.ca_pem = ca.certificate_pem;
  TRY(credentials.server, read_or_make(folder + "/server", [&] {
        rt::CertificateSubject subject;
        subject.common_name = "volcano-apiserver";
        subject.dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"};
        subject.ip_addresses = {"127.0.0.1", "::1"};
        subject.server = true;
        return rt::issue_certificate(ca, subject, now, kTenYears);
      }));
  TRY(credentials.admin, read_or_make(folder + "/admin", [&] {
        rt::CertificateSubject subject;
        subject.common_name = "volcano-admin";
        subject.organizations = {"system:masters"};
        return rt::issue_certificate(ca, subject, now, kTenYears);
      }));
  auto token = rt::read_file(folder + "/token");
  if (!token.ok()) {
    credentials.token = rt::secure_token(32);
    TRY_VOID(rt::write_file(folder + "/token", credentials.token, 0600));
  } else {
    credentials.token = *std::move(token);
  }
  return credentials;
}

std::string kubeconfig_text(const Credentials& credentials, const std::string& server_url) {
  using api::Json;
  const auto data = [](const std::string& pem) { return Json(rt::base64_encode(pem)); };
  const Json config = Json::object(
      {{"apiVersion", "v1"},
       {"kind", "Config"},
       {"current-context", "volcano"},
       {"clusters", Json::array({Json::object(
                        {{"name", "volcano"},
                         {"cluster", Json::object({{"server", server_url},
                                                   {"certificate-authority-data", data(credentials.ca_pem)}})}})})},
       {"users", Json::array({Json::object(
                     {{"name", "volcano-admin"},
                      {"user", Json::object({{"client-certificate-data", data(credentials.admin.certificate_pem)},
                                             {"client-key-data", data(credentials.admin.key_pem)}})}})})},
       {"contexts",
        Json::array({Json::object(
            {{"name", "volcano"}, {"context", Json::object({{"cluster", "volcano"}, {"user", "volcano-admin"}})}})})}});
  return api::to_yaml(config);
}

}  // namespace volcano_main
