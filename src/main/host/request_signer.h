// Who signs CertificateSigningRequests: the authority in the data folder.
#pragma once

#include <string>

#include "controllers/cluster/certificates.h"

namespace volcano_main {

// Reads the authority's key for each request: `volcano up` does not hold it otherwise.
controllers::cluster::SignRequest request_signer(std::string keys_folder);

}  // namespace volcano_main
