// The Secret of the webhook server's keys, kept while the server runs: made, mended, and renewed before its end.
//
//   read -- keys that can be used --> `use`;   missing, useless or near its end --> written anew, read again
//
// Several servers keep one Secret: the first write counts, the others meet a conflict and take what is there.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "admission/server/server_keys.h"
#include "client/client.h"
#include "rt/env.h"

namespace admission {

struct ServerSecretOptions {
  SecretName secret;
  ServiceName service;
};

// On the loop of `env`; client and environment outlive it.
class ServerSecret {
 public:
  // `use` comes with the first keys that can be used and each time they are others. `trouble` says why the Secret
  // cannot be kept, each time that this changes; it is tried again by itself.
  ServerSecret(rt::Env& env, client::Client& client, ServerSecretOptions options, std::function<void(ServerKeys)> use,
               std::function<void(const std::string&)> trouble);
  ~ServerSecret();
  ServerSecret(const ServerSecret&) = delete;
  ServerSecret& operator=(const ServerSecret&) = delete;
  void start();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace admission
