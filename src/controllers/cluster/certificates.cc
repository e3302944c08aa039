// The demands of each signer, and the certificate that is written.
#include "controllers/cluster/certificates.h"

#include <algorithm>
#include <array>
#include <optional>

#include "api/meta/resource.h"
#include "base/base64.h"
#include "base/format.h"

namespace controllers::cluster {

using api::Json;
using base::Result;

namespace {

const api::ResourceId kRequests{"certificates.k8s.io", "v1", "certificatesigningrequests"};
constexpr base::Duration kLifetimeMax = base::hours(24 * 365);

struct Usage {
  std::string_view name;     // in Kubernetes
  std::string_view openssl;  // as rt::SigningTerms has it
  bool extended;
};
constexpr std::array kUsages = {
    Usage{"digital signature", "digitalSignature", false},
    Usage{"key encipherment", "keyEncipherment", false},
    Usage{"client auth", "clientAuth", true},
    Usage{"server auth", "serverAuth", true},
};

bool asks_for(const Json& request, std::string_view usage) {
  return std::ranges::any_of(request["spec"]["usages"].items(),
                             [&](const Json& one) { return one.as_string() == usage; });
}

bool has_condition(const Json& request, std::string_view type) {
  return std::ranges::any_of(request["status"]["conditions"].items(), [&](const Json& one) {
    return one["type"].as_string() == type && one["status"].as_string() == "True";
  });
}

// Why the signer does not sign it; nothing where it does. `purpose` is the extended usage that the signer is for.
std::optional<std::string> refusal(std::string_view signer, const Json& request, const rt::RequestFacts& facts) {
  const bool serving = signer == "kubernetes.io/kubelet-serving";
  const std::string_view purpose = serving ? "server auth" : "client auth";
  for (const Json& usage : request["spec"]["usages"].items())
    if (const std::string_view name = usage.as_string();
        name != purpose && name != "digital signature" && name != "key encipherment")
      return base::format("usage {:?} is not permitted", name);
  if (!asks_for(request, purpose)) return base::format("usages did not match: it must contain {}", purpose);
  if (signer == "kubernetes.io/kube-apiserver-client") return {};
  if (facts.organizations != std::vector<std::string>{"system:nodes"})
    return "subject organization is not system:nodes";
  if (!facts.common_name.starts_with("system:node:")) return "subject common name does not begin with system:node:";
  const bool has_names = !facts.dns_names.empty() || !facts.ip_addresses.empty();
  if (facts.other_names) return "email and URI subjectAltNames are not allowed";
  if (serving && !has_names) return "DNS or IP subjectAltName is required";
  if (!serving && has_names) return "DNS and IP subjectAltNames are not allowed";
  return {};
}

bool is_ours(std::string_view signer) {
  return signer == "kubernetes.io/kube-apiserver-client" || signer == "kubernetes.io/kube-apiserver-client-kubelet" ||
         signer == "kubernetes.io/kubelet-serving";
}

rt::SigningTerms terms_for(const Json& request) {
  rt::SigningTerms terms;
  for (const Usage& usage : kUsages)
    if (asks_for(request, usage.name))
      (usage.extended ? terms.extended_usages : terms.key_usages).emplace_back(usage.openssl);
  const Json* seconds = request["spec"].find("expirationSeconds");
  terms.valid_for = seconds ? std::min(base::seconds(seconds->as_int()), kLifetimeMax) : kLifetimeMax;
  return terms;
}

class CertificateController final : public Controller {
 public:
  explicit CertificateController(SignRequest sign) : sign_(std::move(sign)) {}
  std::string_view name() const override { return "certificatesigningrequest-signing-controller"; }
  std::vector<Write> writes() const override { return {{kRequests, "update", "status"}}; }
  std::vector<Wake> wakes_on() const override {
    return {{kRequests, [](const View&, const Json& request) { return Keys{std::string(api::name_of(request))}; }}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const Json* request = view.find(kRequests, key);
    if (!sign_ || !request || api::is_deleting(*request) || !is_ours((*request)["spec"]["signerName"].as_string()) ||
        !has_condition(*request, "Approved") || has_condition(*request, "Denied") ||
        has_condition(*request, "Failed") || !(*request)["status"]["certificate"].is_null())
      return plan;
    const auto certificate = certificate_for(*request, turn.now);
    Json changed = *request;
    if (!changed["status"].is_object()) changed.set("status", Json::object());
    if (certificate.ok()) {
      changed.edit("status").set("certificate", base::base64_encode(*certificate));
    } else {
      const std::string now = base::format_rfc3339(turn.now);
      Json conditions = changed["status"]["conditions"].is_array() ? changed["status"]["conditions"] : Json::array();
      conditions.push_back(Json::object({{"type", "Failed"},
                                         {"status", "True"},
                                         {"reason", "SignerValidationFailure"},
                                         {"message", certificate.error().message},
                                         {"lastUpdateTime", now},
                                         {"lastTransitionTime", now}}));
      changed.edit("status").set("conditions", std::move(conditions));
    }
    plan.set_status(kRequests, std::move(changed));
    return plan;
  }

 private:
  Result<std::string> certificate_for(const Json& request, base::Time now) const {
    TRY(const std::string pem, base::base64_decode(request["spec"]["request"].as_string()));
    TRY(const rt::RequestFacts facts, rt::certificate_request_facts(pem));
    if (auto why = refusal(request["spec"]["signerName"].as_string(), request, facts))
      return base::make_error(base::Code::kInvalid, *std::move(why));
    return sign_(pem, terms_for(request), now);
  }

  SignRequest sign_;
};

constexpr base::Duration kSettledKept = base::hours(1), kPendingKept = base::hours(24);

base::Time time_at(const Json& object, const char* field, base::Time otherwise) {
  const auto time = base::parse_rfc3339(object[field].as_string());
  return time ? *time : otherwise;
}

// When the request goes; nothing: an approved one whose signer has not answered stays.
std::optional<base::Time> end_of(const Json& request) {
  const base::Time made = time_at(request["metadata"], "creationTimestamp", {});
  const Json& conditions = request["status"]["conditions"];
  std::optional<base::Time> end;
  for (const Json& one : conditions.items()) {
    const std::string_view type = one["type"].as_string();
    const bool settled =
        type == "Denied" || type == "Failed" || (type == "Approved" && !request["status"]["certificate"].is_null());
    const base::Time due = time_at(one, "lastUpdateTime", made) + kSettledKept;
    if (settled && (!end || due < *end)) end = due;
  }
  if (conditions.empty()) end = made + kPendingKept;
  return end;
}

class CertificateCleaner final : public Controller {
 public:
  std::string_view name() const override { return "certificatesigningrequest-cleaner-controller"; }
  std::vector<Write> writes() const override { return {{kRequests, "delete"}}; }
  std::vector<Wake> wakes_on() const override {
    return {{kRequests, [](const View&, const Json& request) { return Keys{std::string(api::name_of(request))}; }}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const Json* request = view.find(kRequests, key);
    if (!request || api::is_deleting(*request)) return plan;
    const auto end = end_of(*request);
    if (!end) return plan;
    if (turn.now < *end)
      plan.requeue_after(*end - turn.now);
    else
      plan.remove(kRequests, *request);
    return plan;
  }
};

}  // namespace

std::unique_ptr<Controller> make_certificate_cleaner() { return std::make_unique<CertificateCleaner>(); }

std::unique_ptr<Controller> make_certificate_controller(SignRequest sign) {
  return std::make_unique<CertificateController>(std::move(sign));
}

}  // namespace controllers::cluster
