// Which requests are signed, with which terms, and what is said of the others.
#include "controllers/cluster/certificates.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"

namespace controllers::cluster {
namespace {

using api::Json;

const api::ResourceId kRequests{"certificates.k8s.io", "v1", "certificatesigningrequests"};

// Made with: openssl req -new -subj SUBJECT [-addext subjectAltName=DNS:n]
constexpr std::string_view kPerson = R"(-----BEGIN CERTIFICATE REQUEST-----
MIHaMIGBAgEAMB8xDjAMBgNVBAoMBWZsb3dzMQ0wCwYDVQQDDARqYW5lMFkwEwYH
KoZIzj0CAQYIKoZIzj0DAQcDQgAEsi04o1ZMvnUn2647FIq3KaJzjCoAetMry2iV
VwLMsJAmmf0Daoe1Bd/vcSYhfz163SH8sfcrkbP3tGZCuhqUJqAAMAoGCCqGSM49
BAMCA0gAMEUCIDUzlD2XxGRchZsRCPG99rk7m0fKAhTb6NfsnjacLSQBAiEAkGLJ
EU6YtxGP3s2tgu0q6sqHug+vwB6P5zYqo1HQ9vw=
-----END CERTIFICATE REQUEST-----
)";
constexpr std::string_view kNode = R"(-----BEGIN CERTIFICATE REQUEST-----
MIHpMIGRAgEAMC8xFTATBgNVBAoMDHN5c3RlbTpub2RlczEWMBQGA1UEAwwNc3lz
dGVtOm5vZGU6bjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLItOKNWTL51J9uu
OxSKtymic4wqAHrTK8tolVcCzLCQJpn9A2qHtQXf73EmIX89et0h/LH3K5Gz97Rm
QroalCagADAKBggqhkjOPQQDAgNHADBEAiB1yQ4KGkHbFybnmmAMpummXvsW0Wq7
6SJTsbxdyjIa3wIgPh00LFu7+oqsUKEJzsP3AupTjIFu4St7yedfQpkwFQ4=
-----END CERTIFICATE REQUEST-----
)";
constexpr std::string_view kServing = R"(-----BEGIN CERTIFICATE REQUEST-----
MIIBCTCBsAIBADAvMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFjAUBgNVBAMMDXN5
c3RlbTpub2RlOm4wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASyLTijVky+dSfb
rjsUircponOMKgB60yvLaJVXAsywkCaZ/QNqh7UF3+9xJiF/PXrdIfyx9yuRs/e0
ZkK6GpQmoB8wHQYJKoZIhvcNAQkOMRAwDjAMBgNVHREEBTADggFuMAoGCCqGSM49
BAMCA0gAMEUCIQDtuvzJjJXiFA9QmNJYMz5MQVZR1oFXLEre5jyLgpqUmQIgaUt2
/9KdrIBqruDCLTBbT1vgbzMyu7sv1/SA8vMnWlU=
-----END CERTIFICATE REQUEST-----
)";

struct Case {
  std::string_view pem;
  std::string signer;
  const char* usages;
  const char* conditions = R"([{"type":"Approved","status":"True"}])";
};

// "signed USAGES SECONDS", "Failed: why", or "" where nothing is written.
std::string outcome(const Case& c) {
  std::string signed_with;
  const auto controller = make_certificate_controller(
      [&](const std::string& pem, const rt::SigningTerms& terms, base::Time) -> base::Result<std::string> {
        EXPECT_EQ(pem, c.pem);
        for (const auto* list : {&terms.key_usages, &terms.extended_usages})
          for (const std::string& one : *list) signed_with += one + " ";
        signed_with += std::to_string(terms.valid_for.ns / 1'000'000'000);
        return std::string("certificate");
      });
  TestWorld world;
  world.use_indexes_of(*controller);
  world.now = *base::parse_rfc3339("2026-03-01T12:00:00Z");
  world.put(
      kRequests,
      *api::parse_json(base::format(
          R"({{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{{"name":"r","uid":"u"}},
        "spec":{{"request":"{}","signerName":"{}","usages":{},"expirationSeconds":3600}},"status":{{"conditions":{}}}}})",
          base::base64_encode(std::string(c.pem)), c.signer, c.usages, c.conditions)));
  world.turn(*controller, "r");
  const Json& status = (*world.find(kRequests, "r"))["status"];
  if (!signed_with.empty()) {
    EXPECT_EQ(*base::base64_decode(status["certificate"].as_string()), "certificate");
    return "signed " + signed_with;
  }
  for (const Json& condition : status["conditions"].items())
    if (condition["type"].as_string() == "Failed") return "Failed: " + condition["message"].str();
  return "";
}

TEST(Certificates, are_signed_by_the_rules_of_their_signer) {
  const std::string kClient = "kubernetes.io/kube-apiserver-client", kKubelet = kClient + "-kubelet",
                    kServer = "kubernetes.io/kubelet-serving";
  const std::pair<Case, const char*> rows[] = {
      {{kPerson, kClient, R"(["client auth","digital signature"])"}, "signed digitalSignature clientAuth 3600"},
      {{kPerson, kClient, R"(["client auth"])", "[]"}, ""},
      {{kPerson, kClient, R"(["client auth"])", R"([{"type":"Denied","status":"True"}])"}, ""},
      {{kPerson, "example.com/own", R"(["client auth"])"}, ""},
      {{kPerson, kClient, R"(["digital signature"])"}, "Failed: usages did not match: it must contain client auth"},
      {{kPerson, kClient, R"(["client auth","cert sign"])"}, "Failed: usage \"cert sign\" is not permitted"},
      {{kPerson, kKubelet, R"(["client auth"])"}, "Failed: subject organization is not system:nodes"},
      {{kNode, kKubelet, R"(["client auth"])"}, "signed clientAuth 3600"},
      {{kNode, kServer, R"(["server auth"])"}, "Failed: DNS or IP subjectAltName is required"},
      {{kServing, kServer, R"(["server auth","key encipherment"])"}, "signed keyEncipherment serverAuth 3600"},
      {{kServing, kKubelet, R"(["client auth"])"}, "Failed: DNS and IP subjectAltNames are not allowed"},
      {{"nonsense", kClient, R"(["client auth"])"}, "Failed: it is not a certificate request in PEM form"},
  };
  for (const auto& [c, wanted] : rows) EXPECT_EQ(outcome(c), wanted) << c.signer << " " << c.usages;
}

// Whether the request is there so long after it was made; what was decided was decided an hour later.
bool is_kept(const char* status, base::Duration after) {
  const auto controller = make_certificate_cleaner();
  TestWorld world;
  world.use_indexes_of(*controller);
  world.now = *base::parse_rfc3339("2026-03-01T12:00:00Z") + after;
  world.put(kRequests, *api::parse_json(base::format(
                           R"({{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":
        {{"name":"r","uid":"u","creationTimestamp":"2026-03-01T12:00:00Z"}},"spec":{{}},"status":{}}})",
                           status)));
  world.turn(*controller, "r");
  return world.find(kRequests, "r") != nullptr;
}

TEST(Certificates, requests_that_are_settled_go_after_an_hour_others_after_a_day) {
  const std::string at = R"("status":"True","lastUpdateTime":"2026-03-01T13:00:00Z"}])";
  const std::string denied = R"({"conditions":[{"type":"Denied",)" + at + "}",
                    failed = R"({"conditions":[{"type":"Failed",)" + at + "}",
                    approved = R"({"conditions":[{"type":"Approved",)" + at + "}",
                    issued = R"({"certificate":"eA==","conditions":[{"type":"Approved",)" + at + "}";
  for (const std::string& settled : {denied, failed, issued}) {
    EXPECT_TRUE(is_kept(settled.c_str(), base::minutes(119))) << settled;
    EXPECT_FALSE(is_kept(settled.c_str(), base::minutes(120))) << settled;
  }
  EXPECT_TRUE(is_kept(approved.c_str(), base::hours(1000)));
  EXPECT_TRUE(is_kept("{}", base::minutes(24 * 60 - 1)));
  EXPECT_FALSE(is_kept("{}", base::hours(24)));
}

TEST(Certificates, of_the_authority_can_be_read_back) {
  const base::Time now = *base::parse_rfc3339("2026-03-01T12:00:00Z");
  const auto ca = rt::make_ca("ca", now, base::hours(24 * 30));
  ASSERT_TRUE(ca.ok());
  const auto pem = rt::sign_certificate_request(*ca, std::string(kServing),
                                                {{"digitalSignature"}, {"serverAuth"}, base::hours(24 * 365)}, now);
  ASSERT_TRUE(pem.ok()) << pem.error().message;
  EXPECT_TRUE(rt::check_signed_by(*pem, ca->certificate_pem).ok());
  const auto facts = rt::certificate_facts(*pem);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->common_name, "system:node:n");
  EXPECT_EQ(facts->organizations, std::vector<std::string>{"system:nodes"});
  EXPECT_EQ(facts->dns_names, std::vector<std::string>{"n"});
  EXPECT_FALSE(facts->ca);
  EXPECT_EQ(facts->not_after.ns, (now + base::hours(24 * 30)).ns);  // not longer than its authority
}

}  // namespace
}  // namespace controllers::cluster
