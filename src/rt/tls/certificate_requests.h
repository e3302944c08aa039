// Requests for certificates (PKCS#10), as people and kubelets make them: what they ask for, and a certificate for them.
#pragma once

#include <string>
#include <vector>

#include "rt/tls/tls.h"

namespace rt {

// The facts of a certificate request (PKCS#10).
struct RequestFacts {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;  // as texts
  bool other_names = false;               // mail addresses, URIs and the like
};
// An error for what is not a request, or is not signed by its own key.
base::Result<RequestFacts> certificate_request_facts(const std::string& request_pem);
// A certificate (PEM) of the CA for the request's key, with its subject and its names. `usages` as OpenSSL names them:
// of the key ("digitalSignature"), and extended ones ("clientAuth").
struct SigningTerms {
  std::vector<std::string> key_usages;
  std::vector<std::string> extended_usages;
  base::Duration valid_for;
};
base::Result<std::string> sign_certificate_request(const KeyPair& ca, const std::string& request_pem,
                                                   const SigningTerms& terms, base::Time now);

}  // namespace rt
