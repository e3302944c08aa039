// The keys of a one-machine cluster: a CA of its own, a server certificate, and the administrator's certificate and
// token. They lie in the data folder and are made once.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "rt/tls.h"

namespace volcano_main {

struct Credentials {
  std::string ca_pem;
  rt::KeyPair server;
  rt::KeyPair admin;
  std::string token;
};

// Reads `folder`, or makes what is missing there (mode 0600). `host_names` are added to the server certificate.
base::Result<Credentials> load_or_make_credentials(const std::string& folder, base::Time now);
// A kubeconfig for the administrator, with the keys inside.
std::string kubeconfig_text(const Credentials& credentials, const std::string& server_url);

}  // namespace volcano_main
