// Tokens of service accounts: who asks for one, what it says, and whether it still holds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "apiserver/kinds/live_objects.h"
#include "apiserver/pipeline/request/request.h"
#include "base/time.h"
#include "rt/tls/signing.h"

namespace apiserver {

inline constexpr std::string_view kTokenIssuer = "https://kubernetes.default.svc.cluster.local";

// The claims of a token whose signature and time are right.
struct TokenClaims {
  std::string ns;
  std::string account;
  std::string account_uid;
  std::string bound_kind;  // Pod or Secret; empty: it holds as long as its account
  std::string bound_name;
  std::string bound_uid;
  // The token itself, where the Secret that it is bound to holds it: for as long as it does.
  std::string held_text;
  std::vector<std::string> audiences;

  UserInfo user() const;
};

// Any thread.
class AccountTokens {
 public:
  explicit AccountTokens(std::shared_ptr<const rt::TokenKey> key) : key_(std::move(key)) {}

  // Answers a TokenRequest for the account that the request names.
  base::Result<api::Json> issue(const Lookups& objects, const Request& request, base::Time now) const;
  // A token without an end, for the Secret to hold.
  base::Result<std::string> issue_held(std::string_view ns, std::string_view secret, std::string_view account,
                                       std::string_view account_uid) const;
  // kUnauthorized unless it is one of ours and its time has not passed.
  base::Result<TokenClaims> read(std::string_view token, base::Time now) const;

 private:
  std::shared_ptr<const rt::TokenKey> key_;
};

// Whether the account, and what the token is bound to, are still the same objects.
bool holds(const TokenClaims& claims, const Lookups& objects, base::Time now);
// Whether the API server itself is meant.
bool is_for_us(const TokenClaims& claims);
// Whether this audience is among those that are meant; never for an empty one.
bool is_for(const TokenClaims& claims, std::string_view audience);

}  // namespace apiserver
