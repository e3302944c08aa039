// Secrets that hold tokens of service accounts: they are filled a moment after they are made, and go with the account.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "apiserver/pipeline/request/request.h"
#include "apiserver/pipeline/rights/account_tokens.h"
#include "rt/env.h"
#include "store/store.h"

namespace apiserver {

inline constexpr std::string_view kTokenSecretType = "kubernetes.io/service-account-token";
// The annotation that names the account.
inline constexpr std::string_view kTokenSecretAccount = "kubernetes.io/service-account.name";
// A longer Secret holds no token: with each request that has the token, the loop reads it.
inline constexpr std::size_t kTokenSecretBytesMax = std::size_t{64} << 10;

// Loop thread only.
class SecretTokens {
 public:
  // Decides and stores.
  using Write = std::function<void(Request, OnAnswer)>;

  SecretTokens(rt::Env& env, store::Store& store);
  ~SecretTokens();

  // Looks at what is there, and from now on at what changes.
  // `root_ca` is PEM: what clients know the server by.
  void begin(std::shared_ptr<const AccountTokens> tokens, std::string_view root_ca, Write write);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace apiserver
