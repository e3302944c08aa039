// The key is read, used and forgotten.
#include "main/host/keys/request_signer.h"

#include "main/host/keys/credentials.h"

namespace volcano_main {

controllers::cluster::SignRequest request_signer(std::string keys_folder, std::string ca_pem) {
  return [folder = std::move(keys_folder), ca_pem = std::move(ca_pem)](
             const std::string& request, const rt::SigningTerms& terms, base::Time now) -> base::Result<std::string> {
    TRY(const rt::KeyPair authority, load_authority(folder, {{"the server that runs", ca_pem}}));
    return rt::sign_certificate_request(authority, request, terms, now);
  };
}

}  // namespace volcano_main
