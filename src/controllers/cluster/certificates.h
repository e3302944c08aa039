// Certificates for CertificateSigningRequests that somebody approved, by the signers that Kubernetes names.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "controllers/framework/controller.h"
#include "rt/tls/certificate_requests.h"

namespace controllers::cluster {

// Signs a request (PEM) with the cluster's authority. Loop thread of the controllers; errors become the request's
// condition Failed.
using SignRequest = std::function<base::Result<std::string>(const std::string& request_pem,
                                                            const rt::SigningTerms& terms, base::Time now)>;

// `sign` unset: nothing is signed here.
std::unique_ptr<Controller> make_certificate_controller(SignRequest sign);

// Takes away requests that are settled (issued, denied, failed) for an hour, or wait for a decision for a day.
std::unique_ptr<Controller> make_certificate_cleaner();

}  // namespace controllers::cluster
