// Which keys does the webhook server use: those of its Secret, or new ones? Pure.
//
// The Secret has what Volcano's script puts there: tls.crt, tls.key, ca.crt, and no key of the CA. So whoever makes a
// new certificate makes a new CA for it, and puts it before the CAs that were there: servers that still have the
// certificate before go on being trusted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "rt/tls/tls.h"

namespace admission {

struct ServerKeys {
  std::string ca_pem;  // one or more certificates, newest first: what goes into the webhook configurations
  rt::KeyPair pair;
  bool operator==(const ServerKeys& other) const {
    return ca_pem == other.ca_pem && pair.certificate_pem == other.pair.certificate_pem &&
           pair.key_pem == other.pair.key_pem;
  }
};

// The service by which the API server calls.
struct ServiceName {
  std::string ns;
  std::string name;
  // "name", "name.ns", "name.ns.svc".
  std::vector<std::string> dns_names() const;
};

// The keys of a Secret.
struct FoundKeys {
  std::optional<ServerKeys> keys;  // that can be used now
  std::string trouble;             // why new ones are needed, with the name of the key; empty: they are not
  base::Time next_look;            // when to ask again, if nothing changes before
};

// `data` is that of a Secret, base64 text by key.
FoundKeys look_at_keys(const api::Json& data, const ServiceName& service, base::Time now);
// The same of PEM texts, as they are in files.
FoundKeys look_at_keys(const ServerKeys& keys, const ServiceName& service, base::Time now);

// New ones for `service`, for ten years. The CAs in `before` that still count stay, two at most.
base::Result<ServerKeys> make_server_keys(const ServiceName& service, base::Time now, const std::string& ca_before);
// The certificates of a PEM text, in order.
std::vector<std::string> certificates_of(const std::string& pem);

// `ca_pem` and after it those certificates of `before` that it lacks, two at most, so that whoever still serves by
// those stays trusted.
std::string bundle_with(const std::string& ca_pem, const std::string& before);

struct SecretName {
  std::string ns;
  std::string name;
};
// Writes new keys into the Secret as it was seen, null: there was none. A faster writer makes it a conflict; what else
// the Secret holds stays. The CAs of `ca_in_use` stay trusted, too.
base::Result<client::Request> renewal_request(const SecretName& secret, const api::Json& before,
                                              const ServiceName& service, base::Time now,
                                              const std::string& ca_in_use = {});
// Why a Secret is not to be written to: it is of another type, or immutable; empty: it may be.
std::string why_not_ours(const api::Json& secret);

}  // namespace admission
