// Admission webhooks of strangers, read: ValidatingWebhookConfiguration and MutatingWebhookConfiguration
// (admissionregistration.k8s.io/v1). A configuration that was read is immutable and may be used by several threads at
// once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/policies/judge.h"
#include "api/policies/policy.h"

namespace api::policies {

inline const ResourceId kValidatingWebhooks{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations"};
inline const ResourceId kMutatingWebhooks{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations"};
// One of the two.
bool is_webhook_kind(const ResourceId& resource);

// The address of a webhook: a URL, or a Service of the cluster. Admission and conversion name it alike.
struct WebhookAddress {
  std::string url;  // https; empty: the service
  std::string service_ns, service_name;
  std::string path;  // of the service; empty or from the first slash
  std::uint16_t port = 443;
  std::string ca_pem;  // empty: the system's roots

  auto operator<=>(const WebhookAddress&) const = default;
  // The address as messages name it: "https://name.namespace.svc:443/path".
  std::string text() const;
};
// Reads a `clientConfig`. Empty unless it makes sense.
std::optional<WebhookAddress> read_webhook_address(const Json& config);
// The faults of a `clientConfig` at `path`.
void check_webhook_address(const Json& config, const std::string& path, std::vector<base::Cause>& causes);
// The same of the versions of reviews that a webhook understands.
void check_webhook_review_versions(const Json& list, const std::string& path, std::vector<base::Cause>& causes);

struct Webhook {
  std::string name;           // "x.example.com"
  std::string configuration;  // the object it is in
  bool mutating = false;
  bool exact = false;  // matchPolicy: only the versions that the rules name
  Match match;
  Policy guard;  // its match conditions
  bool ignores_failures = false;
  bool reinvoked = false;
  bool has_side_effects = true;  // a dry run must not reach it
  int timeout_seconds = 10;      // 1 to 30
  std::string review_version;    // of AdmissionReview: "v1" or "v1beta1"
  WebhookAddress address;
};
using WebhookPtr = std::shared_ptr<const Webhook>;

// Fills what the author left out.
void apply_webhook_defaults(Json& object);
// The faults of a configuration; `before` (null: it is new) was stored once and is not judged by newer rules.
void check_webhooks(const Json& object, const Json& before, std::vector<base::Cause>& causes);
// The webhooks of a stored configuration, in its order. Entries that make no sense are left out.
std::vector<WebhookPtr> read_webhooks(const Json& object);

// A webhook whose rules name a request, and the version of the resource in which they name it.
struct NamedWebhook {
  WebhookPtr webhook;
  std::string version;
};

// All that are in force: by the names of their configurations, and in the order of each.
class WebhookSet {
 public:
  explicit WebhookSet(std::vector<WebhookPtr> all);

  bool empty() const { return all_.empty(); }
  // Whether rules name the operation of the resource in some group: quick, and no more than a hint.
  bool may_concern(Operation operation, std::string_view plural, std::string_view subresource) const;
  // The webhooks whose rules name the request; selectors and conditions are asked by concerns(). `versions`: others in
  // which the resource is served, for those that take what is equivalent.
  std::vector<NamedWebhook> named_by(bool mutating, const AdmissionRequest& request,
                                     const std::vector<std::string>& versions) const;

 private:
  struct Hint {
    std::string subresource;  // "*": any
    unsigned operations = 0;  // a bit for each
  };
  std::vector<WebhookPtr> all_;
  std::map<std::string, std::vector<Hint>, std::less<>> hints_;  // by plural, or "*"
};

// Whether selectors and conditions let the request through to the webhook. An error refuses the request.
base::Result<bool> concerns(const Webhook& webhook, const AdmissionRequest& request, const ObjectReader& objects,
                            Budget& budget);

}  // namespace api::policies
