// Key pairs and folders for the actions of plans.
#include "controllers/framework/off_loop.h"

#include "base/base64.h"
#include "rt/files.h"
#include "rt/tls.h"

namespace controllers {

using api::Json;

namespace {

constexpr int kSshKeyBits = 2048;

base::Result<Json> with_key_pair(Json secret) {
  TRY(const rt::SshKeyPair pair, rt::make_rsa_ssh_key(kSshKeyBits));
  Json& data = secret.edit("data");
  data.set("id_rsa", base::base64_encode(pair.private_pem));
  data.set("id_rsa.pub", base::base64_encode(pair.public_line));
  data.set("authorized_keys", base::base64_encode(pair.public_line));
  return secret;
}

base::Result<Json> with_auth_pair(Json secret, std::string_view chance) {
  TRY(const rt::SshKeyPair pair, rt::make_p521_ssh_key(chance));
  Json& data = secret.edit("data");
  data.set("ssh-privatekey", base::base64_encode(pair.private_pem));
  data.set("ssh-publickey", base::base64_encode(pair.public_line));
  return secret;
}

}  // namespace

bool is_off_loop(const Action& action) {
  return action.verb == Action::Verb::kRemoveTree || action.addition != Addition::kNone;
}

base::Result<Json> do_off_loop(const Action& action, std::string_view chance) {
  if (action.verb == Action::Verb::kRemoveTree) {
    TRY_VOID(rt::remove_tree(action.name));
    return Json();
  }
  if (action.addition == Addition::kSshKeyPair) return with_key_pair(action.body);
  if (action.addition == Addition::kSshAuthPair) return with_auth_pair(action.body, chance);
  return action.body;
}

bool is_right(const Action& action, const Json& existing) {
  return !action.existing_has || existing["data"][action.existing_has->key].as_string() == action.existing_has->value;
}

}  // namespace controllers
