// Certificates for people: who may have one, and which were made. The authority lies in the data folder's keys; a copy
// of each certificate (without its key) stays beside it in `users`, so that they can be listed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "rt/tls/tls.h"

namespace volcano_main {

struct UserRequest {
  std::string name;
  std::vector<std::string> groups;
  base::Duration lifetime = base::hours(24 * 365);
  bool force = false;  // groups of the system may be given, which may do everything
};

// Errors name the flag or the name, and say what may be given.
base::Status check_user(const UserRequest& request);

struct UserKeys {
  rt::KeyPair keys;
  std::string ca_pem;
  base::Time until;  // the authority's own end at the latest
};
// `folder`: DATA/keys. `ca_in_use`: as the kubeconfig beside it has it, which a server writes when it starts; may be
// empty. An authority of which that and the server's certificate are not makes nothing.
base::Result<UserKeys> make_user_keys(const std::string& folder, const UserRequest& request, base::Time now,
                                      const std::string& ca_in_use = {});

struct KnownUser {
  std::string name;
  std::vector<std::string> groups;
  std::string serial;
  base::Time until;
};
// The certificates that were made in this folder, by name, then by end. Any of them lets in until then.
base::Result<std::vector<KnownUser>> known_users(const std::string& folder);

}  // namespace volcano_main
