// Key pairs and folders for the actions of plans.
#include "controllers/framework/off_loop.h"

#include "api/meta/resource.h"
#include "base/base64.h"
#include "base/format.h"
#include "rt/files/files.h"
#include "rt/tls/tls.h"

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

base::Status is_taken_over(const Action& action, const Json& existing) {
  // COMPAT(plugin-objects): Volcano writes over whatever has the name.
  const Json &ours = api::controller_of(action.body), &theirs = api::controller_of(existing);
  if (ours["uid"] == theirs["uid"]) return {};
  // The Secret of an earlier object of the same name is about to be collected: the next try makes a new one.
  const bool earlier =
      !theirs.is_null() && ours["kind"] == theirs["kind"] && ours["name"].as_string() == theirs["name"].as_string();
  return base::make_error(earlier ? base::Code::kConflict : base::Code::kInvalid,
                          base::format("{} {}/{} exists and does not belong to {} {}; delete it, or give the {} "
                                       "another name",
                                       action.kind, action.ns, action.name, ours["kind"].as_string(),
                                       ours["name"].as_string(), ours["kind"].as_string()));
}

}  // namespace controllers
