// The signer of CertificateSigningRequests: the authority in the data folder.
#pragma once

#include <string>

#include "controllers/cluster/certificates.h"

namespace volcano_main {

// Reads the authority's key for each request: `volcano up` does not hold it otherwise. `ca_pem`: the certificate of the
// authority that this server uses; nothing is signed by another one.
controllers::cluster::SignRequest request_signer(std::string keys_folder, std::string ca_pem);

}  // namespace volcano_main
